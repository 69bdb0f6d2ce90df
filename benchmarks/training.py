"""Implicit alternating least squares beside irspack, implicit and cmfrec; recommending and neighbours beside implicit.

A sweep is one improvement of all items and all users from given factors, without any set-up. Everybody has two
threads. Ratios are our time over a peer's, from turns in the same minutes; long runs have few of them.
cmfrec does not tell the time of a sweep: it is half of what a fit of three takes longer than one of one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from benchmarks import training_quality
from benchmarks.peers import Peer, PeerError, Worker
from benchmarks.ranking import Rival
from benchmarks.training_alone import alone, compilation
from benchmarks.training_data import movielens, some, synthetic, write
from benchmarks.training_turns import PEERS, THREADS, Row, against, started, taking_turns, verdict
from benchmarks.turns import Once, Times, fastest, timed
from fullrank.arrays import Floats
from fullrank.models.least_squares.als import Solver, small_normal, sweep
from fullrank.models.least_squares.ials import IALS

SIZES = {"ml-1m": (16, 64, 128, 256), "10m": (64, 128)}
SECONDS = {"ml-1m": 10.0, "10m": 25.0}  # of turns at one size
EXACT = {"irspack": 1.1, "implicit": 0.75}  # of a peer's time
STEPS = {64: 0.65, 128: 0.8, 256: 1.0}  # of the faster peer's
LEISURELY = {"exact": (16, 64), "cg": (16, 64, 128, 256)}  # factors at which cmfrec is not too slow to wait for
COLD, MEMORY, SLOPE, LISTS, NEIGHBOURS = 5.0, 64.0, 1.1, 0.5, 1.0
SHARES = (1 / 8, 1 / 4, 1 / 2, 1)

Workers = Mapping[Peer, Worker | str]


def run() -> list[Row]:
    fullrank.threads(THREADS)
    data, source = movielens()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        workers = {peer: started(peer, folder, stack) for peer in PEERS}
        many = synthetic()
        files = {"ml-1m": write(folder / "ml-1m.npz", data), "10m": write(folder / "10m.npz", many)}
        rows = [*recommending(data, folder), *neighbours(data, files["ml-1m"], workers)]
        rows += training_quality.run(workers, folder)
        rows += [*sweeps("ml-1m", data, files["ml-1m"], workers), *linear("ml-1m", data)]
        rows += [*sweeps("10m", many, files["10m"], workers), *linear("10m", many)]
        del many
        rows += [cold(solver) for solver in ("cg", "exact")]
        rows += [memory(files["10m"], solver) for solver in ("cg", "exact")]
    return [{**row, "data": "synthetic" if row["setting"].startswith("10m") else source} for row in rows]


def sweep_of(data: fullrank.Interactions, factors: int) -> Callable[[Solver], Once]:
    """One sweep of ours, always from the same factors, copied before the clock runs as the peers' are."""
    problem = IALS(factors, missing_weight=0.1, reg=0.003, frequency=1).problem(data)
    given = problem.by_user, problem.by_item, problem.terms
    first = {"users": small_normal(data.n_users, factors, 0, 0), "items": small_normal(data.n_items, factors, 0, 1)}
    for _ in range(2):
        sweep(*given, first["users"], first["items"], "cg", problem.constant)

    def once(solver: Solver) -> Once:
        def one(users: Floats, items: Floats) -> None:
            sweep(*given, users, items, solver, problem.constant)

        return timed(one, lambda: (first["users"].copy(), first["items"].copy()))

    return once


def sweeps(name: str, data: fullrank.Interactions, path: Path, workers: Workers) -> list[Row]:
    """One sweep at every size, exact and by conjugate gradients."""
    rows = []
    for factors in SIZES[name]:
        once = sweep_of(data, factors)
        solvers: tuple[Solver, ...] = ("exact", "cg")
        for solver in solvers:
            asked = partial(_asked, path=path, factors=factors, exact=solver == "exact")
            found = _beside(once(solver), asked, workers, SECONDS[name], factors if solver == "cg" else None)
            if name == "ml-1m":
                found += _beside_cmfrec(once(solver), asked, workers, factors in LEISURELY[solver])
            rows += [{"setting": f"{name}, {factors} factors, one sweep, {solver}", **row} for row in found]
    return rows


def _asked(worker: Worker, path: Path, factors: int, exact: bool, **more: int) -> Once:
    return partial(worker.seconds, data=str(path), task="sweep", factors=factors, exact=exact, threads=THREADS, **more)


def _beside(ours: Once, asked: Callable[..., Once], workers: Workers, seconds: float, steps: int | None) -> list[Row]:
    """Ours over irspack's and implicit's; with conjugate gradients the faster of them decides."""
    fast = {peer: worker for peer, worker in workers.items() if peer.name in EXACT}
    there = {peer: worker for peer, worker in fast.items() if isinstance(worker, Worker) and not worker.failure}
    times, others = taking_turns({"fullrank": ours, **{str(peer): asked(there[peer]) for peer in there}}, seconds)
    rows: list[Row] = []
    for peer, worker in fast.items():
        row = {"measure": f"fullrank / {peer}"}
        why = worker if isinstance(worker, str) else worker.failure
        target = "" if steps is not None else f"<= {EXACT[peer.name]:g}"
        row |= {"not measured": why} if why else against(times["fullrank"], times[str(peer)], target, others)
        rows.append(row)
    well = [str(peer) for peer, worker in there.items() if not worker.failure]
    if steps in STEPS and well:
        quicker = fastest(times, well)
        row = {"measure": "fullrank / the faster of them"}
        row |= against(times["fullrank"], times[quicker], f"<= {STEPS[steps]:g}", others)
        rows.append({**row, "how": quicker})
    return rows


def _beside_cmfrec(ours: Once, asked: Callable[..., Once], workers: Workers, measured: bool) -> list[Row]:
    peer, worker = next((peer, worker) for peer, worker in workers.items() if peer.name == "cmfrec")
    row: Row = {"measure": f"fullrank / {peer}"}
    why = worker if isinstance(worker, str) else worker.failure
    if why or not measured or isinstance(worker, str):
        return [{**row, "not measured": why or "a sweep of it takes many seconds, and there is no target"}]
    times, others = taking_turns({"ours": ours, "1": asked(worker, sweeps=1), "3": asked(worker, sweeps=3)}, 3)
    if worker.failure:
        return [{**row, "not measured": worker.failure}]
    parts = zip(times["3"], times["1"], strict=True)
    sweep = Times(*([max(min(three) - min(one), 1e-9) / 2] * len(three) for three, one in parts))
    return [{**row, **against(times["ours"], sweep, "", others)}]


def linear(name: str, data: fullrank.Interactions) -> list[Row]:
    """How the time of a sweep grows with the pairs of the same users and items."""
    parts = {share: some(data, share) for share in SHARES}
    once = {share: sweep_of(part, 64) for share, part in parts.items()}
    rows, solvers = [], ("exact", "cg")
    for solver in solvers:
        times, others = taking_turns({str(share): once[share](solver) for share in SHARES}, SECONDS[name] / 2)  # type: ignore[arg-type]
        taken = [min(times[str(share)].wall) for share in SHARES]
        spent = [min(times[str(share)].cpu) for share in SHARES]
        pairs = np.log([len(part) for part in parts.values()])
        slope, of_cpu = (float(np.polyfit(pairs, np.log(some), 1)[0]) for some in (taken, spent))
        row = {"setting": f"{name}, 64 factors, {solver}", "measure": "slope of log time on log pairs"}
        row |= {"ratio": slope, "cpu_ratio": of_cpu, "target": f"<= {SLOPE:g}", "seconds": taken}
        rows.append({**row, **verdict(row, others)})
    return rows


def recommending(data: fullrank.Interactions, folder: Path) -> list[Row]:
    """Lists of 10 for all users, without what they have seen; the peer in its fastest configuration."""
    split = fullrank.holdout(data, 0.2, seed=0)
    model = IALS(64).fit(split.train)
    path = write(folder / "lists.npz", split.train, model)
    peer = Peer("implicit", "0.7.3", "train_implicit.py", ({"task": "recommend", "batch": data.n_users},))
    row: Row = {"setting": "ml-1m, 10 items for all users", "measure": f"fullrank / {peer}"}
    with ExitStack() as stack:
        workers = [started(peer, folder, stack, threads) for threads in range(1, THREADS + 1)]
        able = [worker for worker in workers if isinstance(worker, Worker)]
        if len(able) < len(workers):
            return [{**row, "not measured": next(worker for worker in workers if isinstance(worker, str))}]
        rival = Rival(able, path)
        times, others = taking_turns({"top": timed(lambda: fullrank.top(model, split, 10)), **rival.ways}, 8)
        how = fastest(times, rival.ways)
        worker = rival.worker[how]
        if worker.failure:
            return [{**row, "not measured": worker.failure}]
        lists = np.array(worker.answer["metrics"])
        same = float((fullrank.top(model, split, 10).item[: len(lists)] == lists).mean())
        row |= against(times["top"], times[how], f"<= {LISTS:g}", others)
        return [{**row, "how": how, "same_items": same}]


def neighbours(data: fullrank.Interactions, path: Path, workers: Workers) -> list[Row]:
    """The 100 most similar items of every item, by the cosine."""
    row: Row = {"setting": "ml-1m, 100 neighbours", "measure": "ItemCF.fit / implicit's CosineRecommender.fit"}
    worker = next(worker for peer, worker in workers.items() if peer.name == "implicit")
    try:
        from fullrank.models.neighbours.itemcf import ItemCF

        if isinstance(worker, str):
            raise PeerError(worker)
        ours: Any = timed(ItemCF(neighbours=100).fit, lambda: (data,))
        theirs = partial(worker.seconds, data=str(path), task="neighbours", count=100, threads=THREADS)
        times, others = taking_turns({"ours": ours, "theirs": theirs}, 10)
        if worker.failure:
            raise PeerError(worker.failure)
    except (ImportError, PeerError) as error:
        return [{**row, "not measured": str(error)}]
    return [{**row, **against(times["ours"], times["theirs"], f"<= {NEIGHBOURS:g}", others)}]


def cold(solver: str) -> Row:
    """The first fit of a process that finds nothing compiled."""
    row = {"setting": f"first fit, nothing compiled, {solver}"}
    try:
        found = compilation(solver, THREADS)
    except RuntimeError as error:
        return {**row, "not measured": str(error)}
    return {**row, **found, "target": f"< {COLD:g}", "met": found["seconds"] < COLD}


def memory(path: Path, solver: str) -> Row:
    """Peak memory above the factors and the pairs by user and by item."""
    row = {"setting": f"10m, 64 factors, peak memory, {solver}"}
    try:
        found = alone("peak_memory", str(path), "64", solver, FULLRANK_THREADS=str(THREADS))
    except RuntimeError as error:
        return {**row, "not measured": str(error)}
    return {**row, **found, "target": f"<= {MEMORY:g}", "met": found["above_mib"] <= MEMORY}
