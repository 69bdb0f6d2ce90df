"""One epoch of ours and of a peer's as contestants that take turns."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

import fullrank
from benchmarks.peer_scripts.drawing import PAIRS, dots, drawn
from benchmarks.peers import Worker
from benchmarks.training_turns import THREADS
from benchmarks.turns import Once, timed

FACTORS, TRAINED = 64, 5
QUEUED = 4  # epochs of buffalo's at once
ROWS, STEPS = 5_000, 1_000_000  # of each thread that shares nothing


class Ours(NamedTuple):
    """A recipe of ours on some data, the parameters it has after some epochs, and an epoch by number of threads."""

    name: str
    recipe: Any
    data: fullrank.Interactions
    warm: Mapping[str, Any]
    epochs: dict[str, Once]


def ours_of(name: str, data: fullrank.Interactions) -> Ours:
    """An epoch with one thread and with two, always from the same parameters, copied before the clock runs."""
    recipe = getattr(fullrank, name)(factors=FACTORS)
    fullrank.threads(THREADS)
    rounds = recipe.prepare(data, 0)
    warm = rounds.start()
    for number in range(TRAINED):
        rounds.run(warm, number)
    return Ours(name, recipe, data, warm, {str(n): _with(n, recipe, data, warm) for n in (1, THREADS)})


def _with(threads: int, recipe: Any, data: fullrank.Interactions, warm: Mapping[str, Any]) -> Once:
    fullrank.threads(threads)
    rounds, number = recipe.prepare(data, 0), count(TRAINED)

    def given() -> tuple[Any, ...]:
        fullrank.threads(threads)
        return {name: np.copy(array) for name, array in warm.items()}, next(number)

    return timed(rounds.run, given)


def draws_of(ours: Ours) -> dict[str, float]:
    """Draws of a step of MFADG's, and the share of steps that find a violator; any user, any of their items."""
    data, rng = ours.data, np.random.default_rng(0)
    user = rng.choice(np.flatnonzero(np.diff(data.starts)), PAIRS)
    positive = data.item[(data.starts[user] + rng.random(PAIRS) * np.diff(data.starts)[user]).astype(np.int64)]
    most = max(1, int((data.n_items - 1) / ours.recipe.gamma))
    return drawn(dots(*(ours.warm[part] for part in ("users", "items", "bias"))), user, positive, data.n_items, most)


def sharing_nothing() -> dict[str, Once]:
    """Steps on rows of one's own, with one thread and with two: what the machine gives at best."""
    rng, pool = np.random.default_rng(0), ThreadPoolExecutor(THREADS)
    rows = [rng.random((ROWS, FACTORS), dtype=np.float32) for _ in range(THREADS)]
    pairs = rng.integers(ROWS, size=(STEPS, 2))

    def alone() -> None:
        for own in rows:
            steps(own, pairs)

    return {"alone": timed(alone), "together": timed(lambda: list(pool.map(steps, rows, [pairs] * THREADS)))}


@numba.njit(nogil=True, fastmath=True, error_model="numpy")
def steps(rows: NDArray[np.float32], pairs: NDArray[np.int64]) -> None:
    """Read two rows and move one of them, as a step of descent does."""
    for n in range(pairs.shape[0]):
        a, b = pairs[n]
        total = np.float32(0)
        for k in range(rows.shape[1]):
            total += rows[a, k] * rows[b, k]
        for k in range(rows.shape[1]):
            rows[a, k] = np.float32(0.999) * rows[a, k] + np.float32(1e-5) * total * rows[b, k]


def ways_of(worker: Worker, path: Path) -> dict[str, Once]:
    """A peer's epoch with each of its options."""
    given: dict[str, Any] = {"data": str(path), "factors": FACTORS, "threads": THREADS, "trained": TRAINED}
    if worker.peer.name == "buffalo":
        given |= {"folder": str(path.parent), "count": QUEUED}
    told = {", ".join([str(worker.peer), *(f"{k} {v}" for k, v in way.items())]): way for way in worker.peer.options}
    return {name: _epoch_of(worker, **given, **options) for name, options in told.items()}


def _epoch_of(worker: Worker, **request: Any) -> Once:
    """Where it runs several at once, their mean."""

    def once() -> tuple[float, float]:
        wall, cpu = worker.seconds(**request)
        epochs = (worker.answer.get("metrics") or {}).get("epochs", 1)
        return wall / epochs, cpu / epochs

    return once


def less(whole: Once, part: Once) -> Once:
    """What the whole takes longer than a part of it."""

    def once() -> tuple[float, float]:
        (wall, cpu), (less_wall, less_cpu) = whole(), part()
        return (wall - less_wall, cpu - less_cpu) if less_wall < wall else (wall, cpu)

    return once
