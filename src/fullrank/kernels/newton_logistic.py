"""Rows of one factor matrix for a fixed other one: weighted logistic likelihood over all pairs (Steck 2010, Eq. 10).

Legend: s scores of the row over all columns, y 1 where observed, else 0, W 1 or w_m, x the row, q the fixed rows;
the row minimises  sum_j W (log(1 + exp s_j) - y s_j) + ridge |x|^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.cholesky import solve_definite
from fullrank.runtime.compiling import summing_kernel, summing_part

Array = NDArray[Any]


@summing_part
def _row_loss(s: Array, index: Array, missing: float, ridge: float, x: Array) -> float:
    """Of missing pairs all at first, then observed ones exchanged."""
    total = 0.0
    for j in range(s.shape[0]):
        total += max(s[j], 0) + np.log1p(np.exp(-abs(s[j])))
    total *= missing
    for k in range(index.shape[0]):
        t = s[index[k]]
        total += (1 - missing) * (max(t, 0) + np.log1p(np.exp(-abs(t)))) - t
    for a in range(x.shape[0]):
        total += ridge * x[a] * x[a]
    return total


@summing_kernel
def newton_rows(
    start: Array, index: Array, missing: float, ridge: Array, other: Array, out: Array, loss: Array,
    low: int, high: int,
) -> None:  # fmt: skip
    """A Newton step for rows low .. high-1, halved until the row's loss does not rise; the loss reached."""
    n, f = other.shape
    g, scaled = np.empty(n, dtype=other.dtype), np.empty((n, f), dtype=other.dtype)
    matrix, step = np.empty((f, f), dtype=other.dtype), np.empty(f, dtype=other.dtype)
    trial = np.empty(f, dtype=other.dtype)
    for i in range(low, high):
        x, seen = out[i], index[start[i] : start[i + 1]]
        s = np.dot(other, x)
        now = _row_loss(s, seen, missing, ridge[i], x)
        for j in range(n):
            p = 1 / (1 + np.exp(-s[j]))
            g[j] = missing * p
            h = missing * p * (1 - p)
            for a in range(f):
                scaled[j, a] = h * other[j, a]
        for k in range(seen.shape[0]):
            j = seen[k]
            p = 1 / (1 + np.exp(-s[j]))
            g[j] = p - 1
            h = p * (1 - p)
            for a in range(f):
                scaled[j, a] = h * other[j, a]
        np.dot(other.T, scaled, matrix)
        np.dot(g, other, step)
        for a in range(f):
            matrix[a, a] += 2 * ridge[i] + other.dtype.type(1e-9)
            step[a] += 2 * ridge[i] * x[a]
        solve_definite(matrix, step)
        along = np.dot(other, step)
        size = other.dtype.type(1)
        for _ in range(12):
            for a in range(f):
                trial[a] = x[a] - size * step[a]
            for j in range(n):
                g[j] = s[j] - size * along[j]
            reached = _row_loss(g, seen, missing, ridge[i], trial)
            if reached <= now:
                x[:] = trial
                now = reached
                break
            size /= 2
        loss[i] = now
