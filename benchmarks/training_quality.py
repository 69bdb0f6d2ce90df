"""Time to quality on ML-1M: how long each peer trains for its own final nDCG@10, and how long we do for the same.

Everybody has 64 factors, its default solver and default number of sweeps, and the parameters that won a grid of
its own: `python -m benchmarks.training_quality` runs the grids, on a fifth of the train part held out once more.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from benchmarks.peers import Peer, Worker
from benchmarks.training_data import movielens, write
from benchmarks.training_turns import PEERS, THREADS, Row, against, started, taking_turns
from benchmarks.turns import Once
from fullrank import metrics
from fullrank.models.least_squares.ials import IALS

FACTORS, MOST = 64, 15
SWEEPS = {"irspack": 16, "implicit": 15, "cmfrec": 10, "fullrank": 10}  # the defaults
GRID: dict[str, dict[str, tuple[float, ...]]] = {
    "irspack": {"alpha0": (0.1, 0.2, 0.3, 0.5, 1.0), "reg": (0.001, 0.003, 0.005, 0.01, 0.015, 0.03)},
    "implicit": {"alpha": (1.0, 3.0, 10.0, 20.0), "regularization": (0.01, 10.0, 30.0, 60.0, 100.0, 200.0)},
    "cmfrec": {"alpha": (1.0, 3.0, 10.0, 20.0), "lambda_": (1.0, 10.0, 30.0, 60.0, 100.0, 200.0)},
    "fullrank": {
        "missing_weight": (0.1, 0.2, 0.3, 0.5, 1.0),
        "reg": (0.001, 0.003, 0.005, 0.01, 0.015, 0.03),
        "frequency": (1.0,),
    },
}
CHOSEN: dict[str, dict[str, float]] = {
    "irspack": {"alpha0": 0.2, "reg": 0.01},
    "implicit": {"alpha": 10.0, "regularization": 100.0},
    "cmfrec": {"alpha": 10.0, "lambda_": 100.0},
    "fullrank": {"missing_weight": 0.2, "reg": 0.01, "frequency": 1.0},
}
SHARE = 0.5  # of a peer's time

Split = fullrank.Split[fullrank.Interactions]
Course = list[tuple[float, float]]  # seconds until the end of a sweep, nDCG@10 then


def quality(model: Any, split: Split) -> float:
    return fullrank.evaluate(fullrank.rank(model, split), [metrics.ndcg @ 10]).mean()["ndcg@10"]


def run(workers: Mapping[Peer, Worker | str], folder: Path) -> list[Row]:
    """A row for every peer, and the courses of all."""
    split = fullrank.holdout(movielens()[0], 0.2, seed=0)
    path = write(folder / "quality.npz", split.train)
    present = {peer: worker for peer, worker in workers.items() if isinstance(worker, Worker)}
    courses = {peer: theirs(worker, path, split, folder) for peer, worker in present.items()}
    own = ours(split, MOST)
    final = {peer: course[SWEEPS[peer.name] - 1][1] for peer, course in courses.items() if course}
    needed = {peer: next((n + 1 for n, (_, found) in enumerate(own) if found >= final[peer]), 0) for peer in final}
    ways: dict[str, Once] = {str(peer): fit_of(present[peer], path) for peer in final}
    ways |= {f"fullrank, {n} sweeps": once(split.train, n) for n in set(needed.values()) if n}
    times, others = taking_turns(ways, seconds=25)
    rows: list[Row] = []
    for peer, worker in workers.items():
        row = {"setting": f"ml-1m, {FACTORS} factors, time to quality", "measure": f"fullrank / {peer}"}
        if peer not in final:
            rows.append({**row, "not measured": worker if isinstance(worker, str) else worker.failure})
            continue
        row |= {"ndcg@10": final[peer], "sweeps": SWEEPS[peer.name], "our_sweeps": needed[peer]}
        first = next(n + 1 for n, (_, found) in enumerate(courses[peer]) if found >= final[peer])
        row |= {"first_there": first, "parameters": CHOSEN[peer.name], "course": told(courses[peer])}
        if needed[peer]:
            row |= against(times[f"fullrank, {needed[peer]} sweeps"], times[str(peer)], f"<= {SHARE:g}", others)
        else:
            row["not measured"] = f"ours has {max(found for _, found in own):.4f} at best in {MOST} sweeps"
        rows.append(row)
    parameters = CHOSEN["fullrank"]
    return [*rows, {"setting": "ml-1m, course of fullrank", "parameters": parameters, "course": told(own)}]


def told(course: Course) -> str:
    return " ".join(f"{seconds:.3f}s:{found:.4f}" for seconds, found in course)


def theirs(worker: Worker, path: Path, split: Split, folder: Path) -> Course:
    """A peer's course; nothing where it failed."""
    name = worker.peer.name
    sweeps = max(SWEEPS[name], MOST)
    given = {"data": str(path), "task": "fit", "factors": FACTORS, "threads": THREADS, **CHOSEN[name]}
    worker.seconds(**given, sweeps=2)  # libraries loaded, threads started
    worker.seconds(**given, sweeps=sweeps, out=str(folder / name))
    if worker.failure:
        return []
    course = []
    for sweep, seconds in enumerate(worker.answer["metrics"]):
        with np.load(folder / f"{name}-{sweep}.npz") as file:
            course.append((seconds, quality((file["left"], file["right"]), split)))
    return course


def fit_of(worker: Worker, path: Path) -> Once:
    """A peer's whole fit, as it is by default."""
    name = worker.peer.name
    given = {"factors": FACTORS, "sweeps": SWEEPS[name], "threads": THREADS, **CHOSEN[name]}
    return partial(worker.seconds, data=str(path), task="fit", **given)


def once(train: fullrank.Interactions, sweeps: int) -> Once:
    """Our fit, from columns of users and items alone."""
    recipe = IALS(FACTORS, sweeps=sweeps, **CHOSEN["fullrank"])

    def measured() -> tuple[float, float]:
        fresh = replace(train)  # without the matrices it remembers
        cpu, start = time.process_time(), time.perf_counter()
        recipe.fit(fresh)
        return time.perf_counter() - start, time.process_time() - cpu

    return measured


def ours(split: Split, sweeps: int, **given: float) -> Course:
    """The course of our fit, with its start in the first sweep."""
    recipe = IALS(FACTORS, sweeps=sweeps, **(given or CHOSEN["fullrank"]))
    recipe.fit(split.train)  # compiled
    course: Course = []
    fresh, spent = replace(split.train), 0.0
    last = time.perf_counter()

    def judge(model: Any) -> float:
        nonlocal last, spent
        spent += time.perf_counter() - last
        course.append((spent, quality(model, split)))
        last = time.perf_counter()
        return course[-1][1]

    recipe.fit(fresh, judge=judge, patience=sweeps)
    return course


def grids() -> None:
    """Print nDCG@10 of every point, after the default number of sweeps, on a part of the train part."""
    split = fullrank.holdout(fullrank.holdout(movielens()[0], 0.2, seed=0).train, 0.2, seed=1)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        path = write(folder / "grid.npz", split.train)
        workers = {peer.name: started(peer, folder, stack) for peer in PEERS}
        for who, axes in GRID.items():
            found = {}
            for point in product(*axes.values()):
                given = dict(zip(axes, point, strict=True))
                if who == "fullrank":
                    found[point] = ours(split, SWEEPS[who], **given)[-1][1]
                    continue
                worker, out = workers[who], str(folder / who)
                if isinstance(worker, str) or worker.failure:
                    continue
                common = {"data": str(path), "factors": FACTORS, "sweeps": SWEEPS[who], "threads": THREADS}
                worker.seconds(task="fit", out=out, **common, **given)
                with np.load(f"{out}-{SWEEPS[who] - 1}.npz") as file:
                    found[point] = quality((file["left"], file["right"]), split)
            print(who, *axes, {point: round(value, 4) for point, value in found.items()}, flush=True)
            print("  best", max(found, key=found.__getitem__, default=None), flush=True)


if __name__ == "__main__":
    grids()
