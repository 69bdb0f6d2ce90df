"""The order in which a pass by Ackerman 2012 takes preferences, listed; how fast NumPy reads its items in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import row_blocks
from fullrank.kernels.random import shuffle, stream
from fullrank.models.preferences.comparisons import Comparisons
from fullrank.models.preferences.features import BATCH, PARTS
from fullrank.models.stochastic.passes import user_batches
from fullrank.runtime.threads import in_parallel

Array = NDArray[Any]


def gathering(parts: Comparisons) -> Callable[[], object]:
    """Read the values of both items of every preference, by as many threads as a pass has."""
    better, worse = order_of(parts, seed=0, number=0)
    values = np.ones(len(parts.by_item.start) - 1, dtype=np.float32)

    def gather(some: slice) -> None:
        for items in (better, worse):
            np.take(values, items[some], mode="clip")  # all are inside, and looking whether would take time

    return lambda: in_parallel(gather, row_blocks(len(better)))


def order_of(parts: Comparisons, seed: int, number: int) -> tuple[Array, Array]:
    """The better and the worse item of every preference, as pass `number` comes to them."""
    better, worse = np.empty(parts.pairs, dtype=np.int64), np.empty(parts.pairs, dtype=np.int64)
    active, found = np.flatnonzero(np.diff(parts.by_user.start)).astype(np.int32), 0
    for part in range(PARTS):
        for batch in user_batches(active, BATCH, seed, number * PARTS + part):
            given = (batch, parts.by_user.other, *parts.nest, seed, number, part, PARTS)
            found += _list(*given, better[found:], worse[found:])
    if found != parts.pairs:
        raise RuntimeError(
            f"{found} of {parts.pairs} preferences found; the order is another than `descend_preferences` has."
        )
    return better, worse


@numba.njit
def _list(
    batch: Array, item: Array, user_case: Array, case_run: Array, run_row: Array, row_entry: Array,
    seed: int, number: int, part: int, parts: int, better: Array, worse: Array,
) -> int:  # fmt: skip
    """As `descend_preferences` goes, writing down instead of learning."""
    found = 0
    for u in batch:
        for case in range(user_case[u], user_case[u + 1]):
            begin, n = run_row[case_run[case]], run_row[case_run[case + 1]] - run_row[case_run[case]]
            circle, place = np.arange(n), np.empty(n, dtype=np.int64)
            for run in range(case_run[case], case_run[case + 1]):
                place[run_row[run] - begin : run_row[run + 1] - begin] = run
            shuffle(stream(seed, number, case), circle)
            for d in range(1 + part, n // 2 + 1, parts):
                for k in range(n if 2 * d < n else d):
                    one, other = circle[k], circle[k + d if k + d < n else k + d - n]
                    if place[one] != place[other]:
                        first, last = (one, other) if place[one] < place[other] else (other, one)
                        better[found], worse[found] = item[row_entry[begin + first]], item[row_entry[begin + last]]
                        found += 1
    return found
