"""Scores that are the same on every machine: inner products summed in float64 and in one order.

BLAS adds up in an order of its own, which depends on processor, block and threads. The score that ranks and lists are
defined by, the *canonical* one, is

    ((p_0 q_0 + p_1 q_1) + p_2 q_2) + ...,  then + offset,

with every number as float64. Of float32 vectors each product is exact (24 + 24 <= 53 bits), so that a fused step has
the same bits as two; of float64 ones nothing is fused, because these kernels are compiled without fast math.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.near import Near
from fullrank.runtime.compiling import kernel, summing_kernel

Array = NDArray[Any]


@kernel
def exact_dot(vectors: Array, row: int, items: Array, item: int) -> float:
    """The canonical inner product of a vector and an item."""
    total = 0.0
    for k in range(vectors.shape[1]):
        total += np.float64(vectors[row, k]) * np.float64(items[item, k])
    return total


@kernel
def canonical(near: Near, row: int, item: int) -> Any:
    """The canonical score of an item for a row of a block; of a vector of zeros, which has no feedback, at once."""
    if near.tau[row] == 0 or near.reach[item] == 0:
        return near.offset[row]
    return exact_dot(near.vectors, row, near.items, item) + near.offset[row]


@kernel
def exact_pairs(vectors: Array, row: Array, items: Array, item: Array, out: Array) -> None:
    """Those of vectors[row[n]] and items[item[n]]."""
    for n in range(out.shape[0]):
        out[n] = exact_dot(vectors, row[n], items, item[n])


@kernel
def exact_rows(vectors: Array, across: Array, offset: Array, out: Array) -> None:
    """out[row] = vectors[row] @ across + offset[row]: the sums of all items side by side, each in its order."""
    for row in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[row, j] = 0
        for k in range(across.shape[0]):
            x = np.float64(vectors[row, k])
            if x != 0:  # adding zeros changes nothing
                for j in range(out.shape[1]):
                    out[row, j] += x * np.float64(across[k, j])
        for j in range(out.shape[1]):
            out[row, j] += offset[row]


@summing_kernel
def bound_norms(rows: Array, margin: float, out: Array) -> None:
    """out[n] >= |rows[n]|, by no more than the margin or so; 0 for zeros only, infinite or NaN where the rows are."""
    for n in range(rows.shape[0]):
        total = 0.0
        for k in range(rows.shape[1]):
            total += np.float64(rows[n, k]) * np.float64(rows[n, k])
        if total < 1e-200 or total > 1e200:  # squares of float64 numbers may leave the range
            largest = 0.0
            for k in range(rows.shape[1]):
                largest = max(largest, abs(np.float64(rows[n, k])))
            total = np.float64(rows.shape[1]) * largest * largest if largest > 1e-100 else 1e-200 * (largest > 0)
        out[n] = margin * np.sqrt(total)


@kernel
def held_dots(vectors: Array, start: Array, items: Array, item: Array, out: Array) -> None:
    """Canonical products of vectors[row] and items[item[n]], n from start[row] to start[row + 1] - 1.

    Products first, then four sums side by side, none of which waits for its last addition.
    """
    f, row, many = vectors.shape[1], 0, item.shape[0]
    pq = np.zeros(4 * f)
    for n in range(0, many, 4):
        for m in range(min(4, many - n)):
            while start[row + 1] <= n + m:
                row += 1
            i = item[n + m]
            for k in range(f):
                pq[m * f + k] = np.float64(vectors[row, k]) * np.float64(items[i, k])
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(f):
            a += pq[k]
            b += pq[f + k]
            c += pq[2 * f + k]
            d += pq[3 * f + k]
        out[n] = a
        if n + 3 < many:
            out[n + 1], out[n + 2], out[n + 3] = b, c, d
        elif n + 1 < many:
            out[n + 1] = b
            if n + 2 < many:
                out[n + 2] = c
