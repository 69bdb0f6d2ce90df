"""Sums over the people who took an item, with weights of pairs of people: EASE where people are fewer than items.

Legend: (start, person, value) are the lists of items, each of its people in rising order. All sums are in float64 and
in the order of the list; products of float32 numbers are exact in it, so that nothing depends on how they are fused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel

Array = NDArray[Any]


@kernel
def self_products(
    first: int, start: Array, person: Array, value: Array, lower: Array, out: Array
) -> None:  # fmt: skip
    """out[i] = x_i' A x_i for items first, first + 1, ...; of the symmetric A only the lower triangle is read."""
    for i in range(out.shape[0]):
        total = 0.0
        for e in range(start[first + i], start[first + i + 1]):
            p, inner = person[e], 0.0
            for f in range(start[first + i], e):
                inner += np.float64(value[f]) * lower[p, person[f]]
            mine = np.float64(value[e])
            total += mine * (2 * inner + mine * lower[p, p])
        out[i] = total


@kernel
def sum_people(
    row: Array, weight: Array, start: Array, person: Array, value: Array, over: Array, out: Array
) -> None:  # fmt: skip
    """out[n, i] = -(sum over the people v of item i of weight[row[n], v] value) / over[i], four rows at a time."""
    last = row.shape[0] - 1
    for n in range(0, row.shape[0], 4):
        p, q, r, s = row[n], row[min(n + 1, last)], row[min(n + 2, last)], row[min(n + 3, last)]
        for i in range(out.shape[1]):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for e in range(start[i], start[i + 1]):
                v, x = person[e], np.float64(value[e])
                a += x * np.float64(weight[p, v])
                b += x * np.float64(weight[q, v])
                c += x * np.float64(weight[r, v])
                d += x * np.float64(weight[s, v])
            y = np.float64(over[i])
            out[n, i] = 0 - a / y
            if n + 1 <= last:
                out[n + 1, i] = 0 - b / y
            if n + 2 <= last:
                out[n + 2, i] = 0 - c / y
            if n + 3 <= last:
                out[n + 3, i] = 0 - d / y
