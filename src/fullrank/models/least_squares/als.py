"""Alternating least squares over all pairs, observed or missing: the one solver of AllRank, IALS and their fold-in.

    sum over all pairs of W (T - p_u q_i')^2  +  sum_u ridge_u |p_u|^2  +  sum_i ridge_i |q_i|^2

W and T are those of an observed pair, or `missing` and 0. Nothing of users x items is ever formed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fullrank.arrays import Array, Csr, Floats, frozen, owned
from fullrank.models.least_squares.rotation import Rotated, spectrum, turn
from fullrank.runtime.threads import in_parallel, one_blas_thread

Solver: TypeAlias = Literal["exact", "cg"]

STEPS = 3  # of conjugate gradients in a sweep
PART = 1 << 15  # observed pairs in a part of the work


class Terms(NamedTuple):
    """What an observed pair of value v and own weight g (or 1) adds: d = w - w_m = d0 + g (d1 + d2 v), c = w t =
    g (c0 + c1 v); `missing` is w_m.
    """

    missing: float
    d0: float = 0.0
    d1: float = 0.0
    d2: float = 0.0
    c0: float = 0.0
    c1: float = 0.0


class Side(NamedTuple):
    """The observed pairs by row, the ridge of every row, and perhaps a weight of every pair."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: Floats
    ridge: Array
    weight: Floats  # empty where there is none


def side(matrix: Csr, ridge: Array, weight: Floats | None = None, dtype: DTypeLike = np.float32) -> Side:
    """Rows of a CSR matrix, as the kernels take them: read-only, without copies where possible."""
    return Side(
        owned(matrix.indptr, np.int64),
        owned(matrix.indices, np.int32),
        owned(matrix.data, np.float32),
        owned(np.asarray(ridge), dtype),
        frozen(np.zeros(0, dtype=np.float32)) if weight is None else owned(weight, np.float32),
    )


def half_sweep(rows: Side, terms: Terms, other: Array, out: Array, solver: Solver) -> float:
    """Improve `out` (the rows) for a fixed `other`, both rotated into the eigenbasis of other'other in place.

    Gives sum over rows of x'Ax - 2 b'x: with the constants of the objective, its value.
    """
    eigen, basis = spectrum(other)
    turn(other, basis)
    if solver == "cg":
        turn(out, basis)
    return _improve(rows, terms, Rotated(other, eigen, basis), out, solver)


def solve(rows: Side, terms: Terms, fixed: Rotated) -> Array:
    """Exact rows, in the coordinates that the fixed side had before it was rotated: fold-in."""
    out = np.zeros((len(rows.start) - 1, fixed.vectors.shape[1]), dtype=fixed.vectors.dtype)
    _improve(rows, terms, fixed, out, "exact")
    with one_blas_thread():
        return np.asarray(out @ fixed.basis.T)


def _improve(rows: Side, terms: Terms, fixed: Rotated, out: Array, solver: Solver) -> float:
    from fullrank.kernels.als import solve_rows
    from fullrank.kernels.als_cg import step_rows

    loss = np.empty(len(out))
    given = (
        rows.start, rows.column, rows.value, rows.weight, np.array(terms, dtype=out.dtype),
        fixed.eigen, rows.ridge, fixed.vectors, out, loss,
    )  # fmt: skip

    def work(part: tuple[int, int]) -> None:
        if solver == "cg":
            step_rows(*given, *part, STEPS)
        else:
            solve_rows(*given, *part)

    with one_blas_thread():
        in_parallel(work, parts(rows.start))
    return float(np.sum(loss))


def parts(start: Array) -> list[tuple[int, int]]:
    """Runs of rows with about as many pairs each; the same for any number of threads."""
    targets = np.arange(PART, max(int(start[-1]), 1), PART)
    edges = np.unique(np.concatenate([[0], np.searchsorted(start, targets), [len(start) - 1]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def sweep(
    by_user: Side, by_item: Side, terms: Terms, users: Array, items: Array, solver: Solver, constant: float = 0.0
) -> float:
    """Items, then users, in place (Steck 2010, Eq. 15, 16); the objective reached."""
    half_sweep(by_item, terms, users, items, solver)
    loss = half_sweep(by_user, terms, items, users, solver)
    shrunk = float(np.dot(by_item.ridge.astype(np.float64), np.square(items, dtype=np.float64).sum(axis=1)))
    return constant + loss + shrunk
