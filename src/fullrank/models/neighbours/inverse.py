"""The inverse of a large matrix, with the same bits for any number of threads."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Array, Doubles
from fullrank.errors import DataError
from fullrank.runtime.threads import in_parallel, one_blas_thread

TILE = 256  # rows and columns
SINGULAR = "EASE: X'X + reg I is singular to working precision; use a larger 'reg'."


def sweep_all(a: Doubles) -> Doubles:
    """-(a^-1) in place of a symmetric positive definite a, in its lower tiles: each diagonal tile k in turn is swept.

        a_ij <- a_ij - a_ik a_kk^-1 a_kj      a_ik <- a_ik a_kk^-1      a_kk <- -(a_kk^-1)

    LAPACK's inverse has other bits with other numbers of threads; the order of these products is always the same.
    """
    tiles = tiles_of(len(a))
    with one_blas_thread():
        for k in tiles:
            inverse = _inverse(a[k, k])
            before = np.concatenate([a[i, k] if i.start >= k.start else a[k, i].T for i in tiles])
            after = before @ inverse
            others = [i for i in tiles if i != k]
            in_parallel(lambda i: _sweep(a, i, others, after, before), others[::-1])  # noqa: B023 (done before it changes)
            for i in others:
                if i.start > k.start:
                    a[i, k] = after[i]
                else:
                    a[k, i] = after[i].T
            a[k, k] = -inverse
    return a


def _sweep(a: Array, i: slice, others: list[slice], after: Array, before: Array) -> None:
    for j in others:
        if j.start <= i.start:
            a[i, j] -= after[i] @ before[j].T


def _inverse(tile: Doubles) -> Doubles:
    """The inverse of a diagonal tile; rounding must not have made it singular."""
    try:
        inverse: Array = np.linalg.inv(tile)
        np.linalg.cholesky(inverse)
    except np.linalg.LinAlgError:
        raise DataError(SINGULAR) from None
    return np.asarray((inverse + inverse.T) / 2)


def tiles_of(n: int) -> list[slice]:
    """The rows, or columns, of every tile."""
    return [slice(first, min(first + TILE, n)) for first in range(0, n, TILE)]
