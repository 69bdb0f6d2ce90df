"""A list of 10 for one user among 200,000 items, 64 factors: beside implicit, by the median of many calls in turn.

Ours for somebody known, for somebody unknown, who gets what is popular, and for a history of 20 items; theirs always
for somebody known, with each number of BLAS threads. Ours has as many as the process was started with.
"""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from benchmarks.peers import Peer, PeerError, Worker
from benchmarks.turns import busy
from fullrank.models.kinds.factors import Factors

USERS, ITEMS, FACTORS, SEEN, HISTORY = 1000, 200_000, 64, 50, 20
CALLS = 300
PEER = Peer("implicit", "0.7.3", "recommend_implicit.py")
AT_MOST = 1.2


Row = dict[str, Any]


def lists(folder: Path, threads: int) -> list[Row]:
    """Our medians over those of implicit with each number of BLAS threads, and whether the lists agree."""
    setting = {"setting": f"one user, {ITEMS:,} items", "target": f"<= {AT_MOST:g}"}
    path, model = _made(folder)
    try:
        with ExitStack() as stack:
            workers = [Worker(PEER, count, folder) for count in range(1, threads + 1)]
            for worker in workers:
                stack.callback(worker.close)
            return [{**setting, **row} for row in _measured(model, workers, path)]
    except (PeerError, OSError) as error:
        return [{**setting, "measure": f"recommend / {PEER}", "not measured": str(error)}]


def _made(folder: Path) -> tuple[Path, Any]:
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((n, FACTORS), dtype=np.float32) for n in (USERS, ITEMS))
    user = np.repeat(np.arange(USERS, dtype=np.int32), SEEN)
    item = np.concatenate([np.sort(rng.choice(ITEMS, SEEN, replace=False)) for _ in range(USERS)]).astype(np.int32)
    nothing = np.zeros(0, dtype=np.int32)
    path = folder / "one.npz"
    parts = {"train_user": user, "train_item": item, "held_user": nothing, "held_item": nothing}
    np.savez(path, left=left, right=right, **parts)
    ids = fullrank.Ids.numbered(USERS), fullrank.Ids.numbered(ITEMS)
    return path, Factors(
        left, right, fullrank.Interactions(user, item, None, None, *ids), fullrank.IALS(factors=FACTORS)
    )


def _measured(model: Any, workers: list[Worker], path: Path) -> list[Row]:
    ours: dict[str, list[float]] = {}
    theirs: dict[int, list[float]] = {worker.blas_threads: [] for worker in workers}
    rng, others, alike = np.random.default_rng(1), [busy(0.5)], 0
    for call, user in enumerate(rng.integers(0, USERS, CALLS + 20).tolist()):
        asked = {
            "known": {"user": user},
            "unknown": {"user": USERS + user},
            "history": {"history": rng.choice(ITEMS, HISTORY, replace=False).tolist()},
        }
        found = {}
        for who, given in asked.items():
            start = time.perf_counter()
            found[who] = fullrank.recommend(model, n=10, **given)
            ours.setdefault(who, []).append(time.perf_counter() - start)
        for worker in workers:
            theirs[worker.blas_threads].append(worker.seconds(data=str(path), user=user)[0])
            if worker.failure:
                raise PeerError(worker.failure)
        alike += found["known"].items == workers[0].answer["metrics"]["items"]
        if call % 100 == 99:
            others.append(busy(0.2))
    noise = {"same lists": alike / len(ours["known"]), "others": max(others)}
    return [
        {**_ratio(who, mine, count, other), **noise} for who, mine in ours.items() for count, other in theirs.items()
    ]


def _ratio(who: str, ours: list[float], blas_threads: int, theirs: list[float]) -> Row:
    mine, other = (statistics.median(seconds[20:]) for seconds in (ours, theirs))
    return {
        "measure": f"recommend, {who} / {PEER}, BLAS threads {blas_threads}", "ratio": mine / other, "seconds": mine,
        "other_seconds": other, "met": mine <= AT_MOST * other,
    }  # fmt: skip
