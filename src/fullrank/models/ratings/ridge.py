"""Rows of a rating predictor by ridge regression on what the other side has: fold-in."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Csr, Floats
from fullrank.models.least_squares.als import Terms, side, solve
from fullrank.models.least_squares.rotation import Rotated

LEAST = 1e-6  # of a ridge, so that a row without ratings has a solution


def ridge_rows(other: Floats, pairs: Csr, reg: float, bias: int | None = None, offset: float = 0.0) -> Floats:
    """The rows x that minimise  sum over their pairs of (value - offset - <x, o>)^2 + reg |x|^2.

    With `bias`, a column of the other side, x has a 1 there which is not sought and costs nothing.
    """
    from scipy.sparse import csr_array

    used, column = np.unique(pairs.indices, return_inverse=True)
    rows = other[used]
    known = rows[:, bias] if bias is not None else np.zeros(len(used), dtype=np.float32)
    free = np.arange(other.shape[1]) != (-1 if bias is None else bias % other.shape[1])
    left = pairs.data - known[column] - np.float32(offset)
    residuals = csr_array((left, column, pairs.indptr), shape=(pairs.shape[0], len(used)))
    ridge = np.maximum(reg * np.diff(pairs.indptr), LEAST)
    rows, f = np.ascontiguousarray(rows[:, free]), int(free.sum())
    fixed = Rotated(rows, np.zeros(f, dtype=np.float32), np.eye(f, dtype=np.float32))
    vectors = np.ones((pairs.shape[0], other.shape[1]), dtype=np.float32)
    vectors[:, free] = solve(side(residuals, ridge), Terms(0.0, d1=1.0, c1=1.0), fixed)
    return vectors
