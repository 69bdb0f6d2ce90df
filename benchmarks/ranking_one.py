"""A list of 10 for one user among 200,000 items, 64 factors: beside implicit, by the median of many calls in turn."""

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

USERS, ITEMS, FACTORS, SEEN = 1000, 200_000, 64, 50
CALLS = 300
PEER = Peer("implicit", "0.7.3", "recommend_implicit.py")
AT_MOST = 1.0


def lists(folder: Path, threads: int) -> dict[str, Any]:
    """Our median over that of implicit with its faster number of BLAS threads, and whether the lists agree."""
    row = {"setting": f"one user, {ITEMS:,} items", "measure": f"recommend / {PEER}", "target": f"<= {AT_MOST:g}"}
    path, model = _made(folder)
    try:
        with ExitStack() as stack:
            workers = [Worker(PEER, count, folder) for count in range(1, threads + 1)]
            for worker in workers:
                stack.callback(worker.close)
            return {**row, **_measured(model, workers, path)}
    except (PeerError, OSError) as error:
        return {**row, "not measured": str(error)}


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


def _measured(model: Any, workers: list[Worker], path: Path) -> dict[str, Any]:
    ours: list[float] = []
    theirs: dict[int, list[float]] = {worker.blas_threads: [] for worker in workers}
    others = [busy(0.5)]
    alike = 0
    for call, user in enumerate(np.random.default_rng(1).integers(0, USERS, CALLS + 20).tolist()):
        start = time.perf_counter()
        found = fullrank.recommend(model, user, n=10)
        ours.append(time.perf_counter() - start)
        for worker in workers:
            theirs[worker.blas_threads].append(worker.seconds(data=str(path), user=user)[0])
            if worker.failure:
                raise PeerError(worker.failure)
        alike += found.items == workers[0].answer["metrics"]["items"]
        if call % 100 == 99:
            others.append(busy(0.2))
    middle = {count: statistics.median(seconds[20:]) for count, seconds in theirs.items()}
    best = min(middle, key=lambda count: middle[count])
    ratio = statistics.median(ours[20:]) / middle[best]
    return {
        "ratio": ratio,
        "seconds": statistics.median(ours[20:]),
        "other_seconds": middle[best],
        "how": f"BLAS threads {best}",
        "same lists": alike / len(ours),
        "others": max(others),
        "met": ratio <= AT_MOST,
    }
