"""Rows of a rating predictor by ridge regression on what the other side has: fold-in."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Bools, Csr, Doubles, Floats
from fullrank.models.least_squares.als import Side, Terms, side, solve
from fullrank.models.least_squares.fold_parts import solved_parts
from fullrank.models.least_squares.rotation import Rotated

TERMS = Terms(0.0, d1=1.0, c1=1.0)
LEAST = 1e-6  # of a ridge, so that a row without ratings has a solution


def ridge_rows(other: Floats, pairs: Csr, reg: float, bias: int | None = None, offset: float = 0.0) -> Floats:
    """The rows x that minimise  sum over their pairs of (value - offset - <x, o>)^2 + reg |x|^2.

    With `bias`, a column of the other side, x has a 1 there which is not sought and costs nothing.
    """
    rows, fixed = _problem(other, pairs, reg, bias, offset)
    vectors = np.ones((pairs.shape[0], other.shape[1]), dtype=np.float32)
    vectors[:, _free(other, bias)] = solve(rows, TERMS, fixed)
    return vectors


def ridge_parts(
    other: Floats, pairs: Csr, reg: float, target: int, bias: int | None = None, offset: float = 0.0
) -> Doubles:
    """What each of the pairs of one row adds to <x, other[target]>, without the column of the bias."""
    row, fixed = _problem(other, pairs, reg, bias, offset)
    return solved_parts(row, TERMS, fixed, other[target][_free(other, bias)])


def _problem(other: Floats, pairs: Csr, reg: float, bias: int | None, offset: float) -> tuple[Side, Rotated]:
    """What is left of the values, and the columns that are sought of the other side's rows that are met."""
    from scipy.sparse import csr_array

    used, column = np.unique(pairs.indices, return_inverse=True)
    rows = other[used]
    known = rows[:, bias] if bias is not None else np.zeros(len(used), dtype=np.float32)
    left = pairs.data - known[column] - np.float32(offset)
    residuals = csr_array((left, column, pairs.indptr), shape=(pairs.shape[0], len(used)))
    free = np.ascontiguousarray(rows[:, _free(other, bias)])
    f = free.shape[1]
    fixed = Rotated(free, np.zeros(f, dtype=np.float32), np.eye(f, dtype=np.float32))
    return side(residuals, np.maximum(reg * np.diff(pairs.indptr), LEAST)), fixed


def _free(other: Floats, bias: int | None) -> Bools:
    """The columns that are sought."""
    return np.asarray(np.arange(other.shape[1]) != (-1 if bias is None else bias % other.shape[1]))
