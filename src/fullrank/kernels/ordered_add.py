"""Gradients of a batch of users, added to the rows of items they touch in a fixed order."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fullrank.runtime.compiling import summing_kernel

Array = NDArray[Any]


@summing_kernel
def add_to_rows(
    item: Array, slot: Array, weight: Array, shrink: Array, vectors: Array, rate: float, rows: Array,
    low: int, high: int,
) -> None:  # fmt: skip
    """rows[i] += rate (weight vectors[slot] - shrink rows[i]) for all entries with low <= i < high, in their order.

    Whoever takes the other rows does not change what these become.
    """
    f = rows.shape[1]
    for e in range(item.shape[0]):
        i = item[e]
        if low <= i < high:
            a, b = rate * weight[e], rows.dtype.type(1) - rate * shrink[e]
            s = slot[e]
            for k in range(f):
                rows[i, k] = b * rows[i, k] + a * vectors[s, k]
