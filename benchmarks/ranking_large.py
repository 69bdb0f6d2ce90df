"""Ranking and lists for 4,000 of 200,000 users among 950,000 items, 64 factors: beside the product alone.

The floor multiplies the same tiles of users and items by BLAS, in two threads like everybody here, and looks at none of
the products. Vectors are normal numbers and everybody has seen 50 items. All take turns, and the best of many runs
counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullrank
from benchmarks.ranking import verdict
from benchmarks.ranking_floor import THREADS
from benchmarks.turns import in_turn, ratios, seconds, timed
from fullrank.evaluation.blocks import block_size
from fullrank.evaluation.scoring import TILE
from fullrank.runtime.threads import in_parallel, one_blas_thread

USERS, DRAWN, ITEMS, FACTORS, SEEN = 200_000, 4_000, 950_000, 64, 50
AT_MOST = 1.5  # times the floor
ROUNDS = 3

Row = dict[str, Any]
Vectors = NDArray[np.float32]


def run() -> list[Row]:
    fullrank.threads(THREADS)
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((n, FACTORS), dtype=np.float32) for n in (USERS, ITEMS))
    who = np.sort(rng.choice(USERS, DRAWN, replace=False)).astype(np.int32)
    splits = {held: _split(who, held, rng) for held in (1, 5)}
    cases = {held: fullrank.cases_of(split) for held, split in splits.items()}
    ways = {
        "rank, one held out": lambda: fullrank.rank((left, right), cases[1]),
        "rank, five held out": lambda: fullrank.rank((left, right), cases[5]),
        "lists of 10": lambda: fullrank.top((left, right), splits[1], 10, users=who),
        "ranks and lists, five held out": lambda: fullrank.rank_and_top((left, right), cases[5], 10),
    }
    floor = timed(multiply(left, right, who))
    times, others = in_turn({"floor": floor, **{name: timed(way) for name, way in ways.items()}}, rounds=ROUNDS)
    rows = [
        {
            "setting": f"{DRAWN:,} of {USERS:,} users, {ITEMS:,} items", "measure": f"{name} / floor",
            **ratios(times[name], times["floor"]), "target": f"<= {AT_MOST:g}", **seconds(times[name], times["floor"]),
            "floor_gflops": 2e-9 * DRAWN * ITEMS * FACTORS / min(times["floor"].wall),
        }
        for name in ways
    ]  # fmt: skip
    return [{**row, **verdict(row, others)} for row in rows]


def multiply(left: Vectors, right: Vectors, who: NDArray[np.int32]) -> Callable[[], None]:
    """The products of all tiles, each over the one before it."""
    rows, own = block_size(TILE), threading.local()

    def one(first: int) -> None:
        if not hasattr(own, "memory"):
            own.memory = np.empty(rows * TILE, dtype=np.float32)
        people = left[who[first : first + rows]]
        for begin in range(0, len(right), TILE):
            items = right[begin : begin + TILE]
            room = own.memory[: len(people) * len(items)].reshape(len(people), len(items))
            np.matmul(people, items.T, out=room)

    def run() -> None:
        with one_blas_thread():
            in_parallel(one, range(0, len(who), rows))

    return run


def _split(who: NDArray[np.int32], held: int, rng: np.random.Generator) -> fullrank.Split[fullrank.Interactions]:
    """Of everybody drawn so many items held out, and others in train."""
    ids = fullrank.Ids.numbered(USERS), fullrank.Ids.numbered(ITEMS)
    item = np.stack([np.sort(rng.choice(ITEMS, SEEN + held, replace=False)) for _ in who]).astype(np.int32)
    user = np.broadcast_to(who[:, None], item.shape)
    out = rng.permuted(np.broadcast_to(np.arange(SEEN + held) < held, item.shape), axis=1)
    train, kept = (fullrank.Interactions(user[some], item[some], None, None, *ids) for some in (~out, out))
    return fullrank.Split(train, kept)
