"""EASE: the linear model of items on items that has a closed form (Steck 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.neighbours.cooccurrence import Columns
from fullrank.models.positives import Relevant, check_relevant, positives
from fullrank.models.protocols import Recipe, need_feedback
from fullrank.runtime.memory import check_fits
from fullrank.runtime.threads import in_parallel, one_blas_thread

TILE = 256  # rows and columns


@dataclass(frozen=True)
class EASE(Recipe[Interactions, ItemItem]):
    """Every item regressed on all other items: weights B with a diagonal of 0 (Steck 2019).

        minimise |X - X B|^2 + reg |B|^2  where diag(B) = 0:    B = I - P diag(1 / diag(P)),  P = (X'X + reg I)^-1

    X is 1 where somebody took an item (`binary`), or holds the values; a score is x_u B. Solving takes
    12 bytes and n / 2 multiplications for each of the n^2 pairs of items, however many users there are.
    """

    #: Strength of regularisation, > 0: some hundreds; more where there is little feedback for many items.
    reg: float = 500.0
    #: Whether whatever counts is 1; False: values count, as in feedback where more is better.
    binary: bool = True
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None

    def __post_init__(self) -> None:
        check("reg", self.reg, is_number(self.reg) and 0 < self.reg < np.inf, "a number > 0")
        check("binary", self.binary, isinstance(self.binary, bool), "True or False")
        check_relevant(self)

    def fit(self, train: Interactions, seed: int = 0) -> ItemItem:
        """Solve for B in float64; there is no chance in it: `seed` changes nothing."""
        need_feedback(self, train)
        n = train.n_items
        check_fits(12.2 * n * n, f"EASE: weights of {n:,} x {n:,} items")
        matrix = Columns.of(positives(self, train), self.binary).gram()
        matrix[np.diag_indices(n)] += self.reg
        return ItemItem(_weights(_sweep_all(matrix)), train, self, binary=self.binary)


def _sweep_all(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """-(a^-1) in place of a symmetric positive definite a, in its lower tiles: each diagonal tile k in turn is swept.

        a_ij <- a_ij - a_ik a_kk^-1 a_kj      a_ik <- a_ik a_kk^-1      a_kk <- -(a_kk^-1)

    LAPACK's inverse has other bits with other numbers of threads; the order of these products is always the same.
    """
    tiles = _tiles(len(a))
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


def _inverse(tile: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of a diagonal tile; rounding must not have made it singular."""
    try:
        inverse: Array = np.linalg.inv(tile)
        np.linalg.cholesky(inverse)
    except np.linalg.LinAlgError:
        raise DataError("EASE: X'X + reg I is singular to working precision; use a larger 'reg'.") from None
    return np.asarray((inverse + inverse.T) / 2)


def _weights(swept: NDArray[np.float64]) -> Floats:
    """B from the lower tiles of -P: the j-th column of P over -P_jj."""
    out, scale = np.empty(swept.shape, dtype=np.float32), 1 / -np.diag(swept)

    def fill(pair: tuple[slice, slice]) -> None:
        i, j = pair
        out[i, j] = swept[i, j] * scale[j]
        if i != j:
            out[j, i] = swept[i, j].T * scale[i]

    tiles = _tiles(len(swept))
    in_parallel(fill, ((i, j) for i, j in product(tiles, tiles) if j.start <= i.start))
    np.fill_diagonal(out, 0)
    return out


def _tiles(n: int) -> list[slice]:
    return [slice(first, min(first + TILE, n)) for first in range(0, n, TILE)]
