"""Ranking and evaluating 6040 users among 3706 items, 64 factors: against a floor, irspack and implicit.

The floor is the product of the factors and one pass over the scores, in two threads like everybody here.
Ours ranks every held-out item and computes every metric of ranks; the peers compute a few, at 10.
All take turns in the same minutes, one process working at a time, and the best of many runs counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from benchmarks.peers import Peer, PeerError, Worker
from benchmarks.ranking_alone import alone, compilation
from benchmarks.ranking_data import METRICS, load, write
from benchmarks.ranking_direct import direct
from benchmarks.ranking_floor import THREADS, floors
from benchmarks.ranking_one import lists
from benchmarks.turns import Times, fastest, in_turn, ratios, seconds, timed

QUIET = 0.1  # of the machine taken by others: above it the ratios show, but decide nothing
PEERS = (
    Peer("irspack", "0.5.2", "rank_irspack.py", tuple({"mb_size": size} for size in (64, 128, 256, 512, 1024))),
    Peer("implicit", "0.7.3", "rank_implicit.py"),
)
POOLED = "hits@10 / possible hits, over all users"
COMPARED = {  # their names, ours
    "irspack": {"recall": "recall@10", "ndcg": "ndcg@10", "hit": "hit_rate@10", "precision": "precision@10"},
    "implicit": {"precision": POOLED, "ndcg": "ndcg@10", "map": "ap@10"},
}
AT_MOST = {"one held out": 1.3, "20% held out": 3.5}  # times the floor
AT_LEAST = {"one held out": {"irspack": 4.0, "implicit": 7.0}, "20% held out": {"irspack": 1.4, "implicit": 3.0}}
EXACT = 1.1  # times as long as counting products as they come
COLD, MEMORY = 5.0, 64.0  # seconds, MiB

Row = dict[str, Any]


def run() -> list[Row]:
    fullrank.threads(THREADS)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        files, source = write(folder)
        workers = {peer: _workers(peer, folder, stack) for peer in PEERS}
        rows = [row for setting, path in files.items() for row in speed(setting, path, workers)]
        rows += lists(folder, THREADS)
        for setting, path in files.items():
            rows += [cold(setting, path), *(memory(setting, path, copies) for copies in (1, 10))]
    return [{**row, "data": source} for row in rows]


def _workers(peer: Peer, folder: Path, stack: ExitStack) -> list[Worker] | str:
    """A worker for each number of BLAS threads, or why there is none."""
    found: list[Worker] = []
    try:
        for threads in range(1, THREADS + 1):
            found.append(Worker(peer, threads, folder))
            stack.callback(found[-1].close)
    except (PeerError, OSError) as error:
        return str(error)
    return found


def speed(setting: str, path: Path, workers: Mapping[Peer, list[Worker] | str]) -> list[Row]:
    """Everybody's seconds, and their ratios to ours."""
    model, split = load(path)
    cases = fullrank.cases_of(split)
    ranks = fullrank.rank(model, cases)
    floor = {name: timed(way) for name, way in floors(*model, ranks.item[ranks.start[:-1]]).items()}
    rivals = {peer: found if isinstance(found, str) else Rival(found, path) for peer, found in workers.items()}
    ours = {
        "counted directly": timed(direct(*model, cases)),
        "rank": timed(lambda: fullrank.rank(model, cases)),
        "rank, evaluate": timed(lambda: fullrank.evaluate(fullrank.rank(model, cases), METRICS)),
        "evaluate": timed(lambda some: fullrank.evaluate(some, METRICS), lambda: (replace(ranks),)),
        "cases_of": timed(fullrank.cases_of, lambda: (load(path)[1],)),
    }
    theirs = {name: once for rival in rivals.values() if isinstance(rival, Rival) for name, once in rival.ways.items()}
    times, others = in_turn({**floor, **ours, **theirs})
    rows = [_against_floor(setting, what, times, fastest(times, floor)) for what in ("rank", "rank, evaluate")]
    rows.append(_exactness(setting, times))
    rows += [_against_peer(setting, peer, rival, times, ranks) for peer, rival in rivals.items()]
    rows += [
        {"setting": setting, "measure": what, "seconds": min(times[what].wall)} for what in ("evaluate", "cases_of")
    ]
    return [{**row, **verdict(row, others)} for row in rows]


class Rival:
    """A peer in its two fastest configurations."""

    def __init__(self, workers: list[Worker], path: Path) -> None:
        self.worker: dict[str, Worker] = {}
        ways = {}
        for worker in workers:
            for options in worker.peer.options:
                told = [f"{worker.peer}: BLAS threads {worker.blas_threads}", *(f"{k} {v}" for k, v in options.items())]
                name = ", ".join(told)
                self.worker[name] = worker
                ways[name] = partial(worker.seconds, data=str(path), threads=THREADS, **options)
        times, _ = in_turn(ways, rounds=5)
        finalists = sorted(ways, key=lambda name: min(times[name].wall))[:2]
        self.ways = {name: ways[name] for name in finalists}


def verdict(row: Row, others: float) -> Row:
    """Whether the target is met, as far as the machine was quiet enough to tell."""
    told: Row = {"others": others}
    if "target" not in row:
        return told
    sign, limit = row["target"].split()
    if row["measure"].endswith("/ floor") and row["ratio"] < 1:
        return {**told, "met": "wrong: nothing that includes the floor is faster than it"}
    if others > QUIET:
        return {**told, "met": f"unclear: others took {others:.0%} of the machine"}
    return {**told, "met": row["ratio"] <= float(limit) if sign == "<=" else row["ratio"] >= float(limit)}


def _against_floor(setting: str, what: str, times: dict[str, Times], floor: str) -> Row:
    return {
        "setting": setting,
        "measure": f"{what} / floor",
        **ratios(times[what], times[floor]),
        "target": f"<= {AT_MOST[setting]:g}",
        **seconds(times[what], times[floor]),
        "how": floor,
    }


def _exactness(setting: str, times: dict[str, Times]) -> Row:
    """What it costs that ranks are the same on every machine: beside counting the products as they are."""
    pair = times["rank"], times["counted directly"]
    return {
        "setting": setting, "measure": "rank / products counted directly", **ratios(*pair), "target": f"<= {EXACT:g}",
        **seconds(*pair),
    }  # fmt: skip


def _against_peer(setting: str, peer: Peer, rival: Rival | str, times: dict[str, Times], ranks: fullrank.Ranks) -> Row:
    row = {"setting": setting, "measure": f"{peer} / rank, evaluate"}
    if isinstance(rival, str):
        return {**row, "not measured": rival}
    how = fastest(times, rival.ways)
    worker = rival.worker[how]
    if worker.failure:
        return {**row, "not measured": worker.failure}
    return {
        **row,
        **ratios(times[how], times["rank, evaluate"]),
        "target": f">= {AT_LEAST[setting][peer.name]:g}",
        **seconds(times["rank, evaluate"], times[how]),
        "how": how,
        **_agreement(peer, worker.answer["metrics"], ranks),
    }


def _agreement(peer: Peer, theirs: dict[str, float], ranks: fullrank.Ranks) -> Row:
    """The largest difference of metrics whose definitions agree."""
    result = fullrank.evaluate(ranks, METRICS)
    possible = np.minimum(ranks.sizes, 10)
    ours = {**result.mean(), POOLED: (result.of("capped_recall@10") * possible).sum() / possible.sum()}
    apart = max(abs(theirs[name] - ours[own]) for name, own in COMPARED[peer.name].items())
    return {"apart": apart, "agrees": bool(apart < 1e-5), "compared": list(COMPARED[peer.name].values())}


def cold(setting: str, path: Path) -> Row:
    """The first call of a process that finds nothing compiled."""
    row = {"setting": setting, "measure": "first call, nothing compiled"}
    try:
        found = compilation(path, THREADS)
    except RuntimeError as error:
        return {**row, "not measured": str(error)}
    return {**row, **found, "target": f"< {COLD:g}", "met": found["seconds"] < COLD}


def memory(setting: str, path: Path, copies: int) -> Row:
    """Peak memory above model and data, and the ranks and values that are part of it."""
    row = {"setting": setting, "measure": "peak memory"}
    try:
        found = alone("peak_memory", str(path), str(copies), FULLRANK_THREADS=str(THREADS))
    except RuntimeError as error:
        return {**row, "not measured": str(error)}
    return {**row, **found, "target": f"< {MEMORY:g}", "met": found["peak_mib"] < MEMORY}
