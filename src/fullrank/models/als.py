"""Alternating least squares over all pairs, observed or missing: the one solver of AllRank, IALS and their fold-in.

    sum over all pairs of W (T - p_u q_i')^2  +  sum_u ridge_u |p_u|^2  +  sum_i ridge_i |q_i|^2

W and T are those of an observed pair, or `missing` and 0. Nothing of users x items is ever formed.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import frozen, owned, row_blocks
from fullrank.kernels.threads import in_parallel, one_blas_thread
from fullrank.models.state import State, Watch

Floats: TypeAlias = NDArray[np.float32]
Solver: TypeAlias = Literal["exact", "cg"]

STEPS = 3  # of conjugate gradients in a sweep
PART = 1 << 15  # observed pairs in a part of the work
BLOCK = 1 << 14  # rows whose Gram matrix is summed in float32


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
    ridge: NDArray[Any]
    weight: Floats  # empty where there is none


def side(matrix: Any, ridge: NDArray[Any], weight: Floats | None = None, dtype: Any = np.float32) -> Side:
    """Rows of a CSR matrix, as the kernels take them: read-only, without copies where possible."""
    return Side(
        owned(matrix.indptr, np.int64),
        owned(matrix.indices, np.int32),
        owned(matrix.data, np.float32),
        owned(np.asarray(ridge), dtype),
        frozen(np.zeros(0, dtype=np.float32)) if weight is None else owned(weight, np.float32),
    )


class Frame(NamedTuple):
    """The fixed side, turned into the eigenbasis of its own Gram matrix."""

    turned: NDArray[Any]
    eigen: NDArray[Any]
    basis: NDArray[Any]


def frame(other: NDArray[Any]) -> Frame:
    """A turned copy of the fixed side."""
    eigen, basis = _spectrum(other)
    turned = other.copy()
    _turn(turned, basis)
    return Frame(turned, eigen, basis)


def half_sweep(rows: Side, terms: Terms, other: NDArray[Any], out: NDArray[Any], solver: Solver) -> float:
    """Improve `out` (the rows) for a fixed `other`, both turned into the eigenbasis of other'other in place.

    Gives sum over rows of x'Ax - 2 b'x: with the constants of the objective, its value.
    """
    eigen, basis = _spectrum(other)
    _turn(other, basis)
    if solver == "cg":
        _turn(out, basis)
    return _improve(rows, terms, Frame(other, eigen, basis), out, solver)


def solved(rows: Side, terms: Terms, fixed: Frame) -> NDArray[Any]:
    """Exact rows, in the coordinates that the fixed side had before it was turned: fold-in."""
    out = np.zeros((len(rows.start) - 1, fixed.turned.shape[1]), dtype=fixed.turned.dtype)
    _improve(rows, terms, fixed, out, "exact")
    with one_blas_thread():
        return np.asarray(out @ fixed.basis.T)


def _improve(rows: Side, terms: Terms, fixed: Frame, out: NDArray[Any], solver: Solver) -> float:
    from fullrank.kernels.als import solve_rows, step_rows

    loss = np.empty(len(out))
    given = (
        rows.start, rows.column, rows.value, rows.weight, np.array(terms, dtype=out.dtype),
        fixed.eigen, rows.ridge, fixed.turned, out, loss,
    )  # fmt: skip

    def work(part: tuple[int, int]) -> None:
        if solver == "cg":
            step_rows(*given, *part, STEPS)
        else:
            solve_rows(*given, *part)

    with one_blas_thread():
        in_parallel(work, parts(rows.start))
    return float(np.sum(loss))


def parts(start: NDArray[Any]) -> list[tuple[int, int]]:
    """Runs of rows with about as many pairs each; the same for any number of threads."""
    wanted = np.arange(PART, max(int(start[-1]), 1), PART)
    edges = np.unique(np.concatenate([[0], np.searchsorted(start, wanted), [len(start) - 1]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def gram(factors: NDArray[Any]) -> NDArray[np.float64]:
    """factors' factors, in blocks of rows added up in float64 and in order."""
    with one_blas_thread():
        blocks = in_parallel(lambda some: factors[some].T @ factors[some], row_blocks(len(factors), BLOCK))
    total = np.zeros((factors.shape[1], factors.shape[1]))
    for block in blocks:
        total += block
    return total


def _spectrum(other: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues of other'other, none below 0, and its eigenvectors."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(gram(other))
    return np.maximum(values, 0).astype(other.dtype), vectors.astype(other.dtype)


def _turn(factors: NDArray[Any], basis: NDArray[Any]) -> None:
    """factors @ basis in place, a block of rows at a time."""

    def work(some: slice) -> None:
        factors[some] = factors[some] @ basis

    with one_blas_thread():
        in_parallel(work, row_blocks(len(factors), BLOCK))


def alternate(by_user: Side, by_item: Side, terms: Terms, begin: State, sweeps: int, solver: Solver,
              constant: float = 0.0, watch: Watch | None = None) -> State:  # fmt: skip
    """Items, then users, `sweeps` times in all (S0 Eq. 15, 16); the arrays of `begin` are changed."""
    state = begin
    users, items = state.parameters["users"], state.parameters["items"]
    for sweep in range(begin.done, sweeps):
        half_sweep(by_item, terms, users, items, solver)
        loss = half_sweep(by_user, terms, items, users, solver)
        shrunk = float(np.dot(by_item.ridge.astype(np.float64), np.square(items, dtype=np.float64).sum(axis=1)))
        state = state._replace(done=sweep + 1, objective=constant + loss + shrunk)
        if watch is not None and watch(state):
            break
    return state


def seeded(rows: int, factors: int, seed: int, stream: int, dtype: Any = np.float32) -> NDArray[Any]:
    """Small normal numbers to start from."""
    rng = np.random.default_rng([seed, stream])
    return (rng.standard_normal((rows, factors), dtype=np.float32) * np.float32(0.1 / np.sqrt(factors))).astype(dtype)
