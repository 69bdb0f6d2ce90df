"""Item-based collaborative filtering: items are similar when the same people took them (S1's Y and Z)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.data.memory import check_fits
from fullrank.errors import check, check_integer, is_number
from fullrank.kernels.threads import in_parallel
from fullrank.models.columns import Columns, check_feedback
from fullrank.models.model import Floats, ItemItem


@dataclass(frozen=True)
class ItemCF:
    """Cosine similarity of items over users, to a power; a score is its sum over the user's items (S1 Eq. 29, 30).

        s_ij = max(0, <x_i, x_j> / (|x_i| |x_j|))^power        score(u, i) = sum over u's items j of s_ij

    x_i is 1 for everybody who took item i (`binary`; the cosine is n_ij / sqrt(n_i n_j) then), or holds their values,
    which then weigh the sum too. In this order:

    - `keep_self`: s_ii = 1 stays; it takes one of the k places below and counts in the scaling.
    - `neighbours`: of every item j of a history only the k most similar items i profit (columns of s);
      `voters`: every item i listens only to the k most similar items j (rows of s); given both, both must hold.
      None is no limit. `ties` at the k-th place "share" what is left of the k places equally, so that nothing
      depends on the order of items; or the "first" by code get them, and no item has more than k.
    - `scale`: rows of s are divided by their Euclidean length ("unit", S1 Eq. 29), by their "sum" (S1 Eq. 30,
      which undoes any scaling before it), or not (None).

    `S1_Y` and `S1_Z` are S1's recommenders, with the choices that give its published numbers.
    """

    power: float = 1.0  # q
    neighbours: int | None = 50
    voters: int | None = None
    keep_self: bool = False
    scale: Literal["unit", "sum"] | None = "unit"
    ties: Literal["share", "first"] = "share"
    binary: bool = True

    def __post_init__(self) -> None:
        check("power", self.power, is_number(self.power) and 0 < self.power < np.inf, "a number > 0")
        for name in ("neighbours", "voters"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)
        check("scale", self.scale, self.scale in ("unit", "sum", None), "'unit', 'sum' or None")
        check("ties", self.ties, self.ties in ("share", "first"), "'share' or 'first'")
        for name in ("keep_self", "binary"):
            check(name, getattr(self, name), isinstance(getattr(self, name), bool), "True or False")

    def fit(self, train: Interactions, seed: int = 0) -> ItemItem:
        """Similarities of all items, or of near ones only; there is no chance in them: `seed` changes nothing."""
        check_feedback(self, train)
        columns = Columns.of(train, self.binary)
        limited = self.neighbours is not None or self.voters is not None
        similar = self._near(columns) if limited else self._all(columns)
        return ItemItem(similar, train, self, binary=self.binary)

    def _near(self, columns: Columns) -> Any:
        """Sparse, row j and column i; s is symmetric until it is cut and scaled."""
        if self.voters is None:
            similar = self._nearest(columns, self.neighbours)
        elif self.neighbours is None:
            similar = self._nearest(columns, self.voters).T.tocsr()
        else:
            heard = self._nearest(columns, self.voters, chances=True).T
            similar = self._nearest(columns, self.neighbours).multiply(heard).tocsr()
        if self.scale is not None:
            total = np.bincount(similar.indices, self._weight(similar.data), minlength=len(columns))
            similar.data *= self._factor(total)[similar.indices]
        return similar

    def _nearest(self, columns: Columns, k: Any, chances: bool = False) -> Any:
        """The k nearest of every item: s times its chance to be among them, or that chance alone."""
        from scipy.sparse import csr_array

        def work(part: tuple[int, int]) -> list[tuple[Any, ...]]:
            found = columns.nearest(*part, min(k, len(columns)), keep_self=self.keep_self, share=self.ties == "share")
            return [
                (sizes, which.copy(), chance.copy() if chances else self._raised(cosine2) * chance)
                for sizes, which, cosine2, chance in found
            ]

        found = [some for several in in_parallel(work, columns.parts()) for some in several]
        sizes, which, value = (np.concatenate(column) for column in zip(*found, strict=True))
        start = np.append(0, np.cumsum(sizes)).astype(np.int32 if len(which) < 2**31 else np.int64)
        return csr_array((value, which, start), shape=(len(columns), len(columns)))

    def _all(self, columns: Columns) -> Floats:
        """Dense, row j and column i."""
        n = len(columns)
        check_fits(4 * n * n, f"ItemCF: similarities among all {n:,} items (instead of some neighbours of each)")
        similar = np.empty((n, n), dtype=np.float32)

        def work(rows: slice) -> NDArray[np.float64]:
            dot = np.maximum(columns.dots(rows), 0)
            cosine2 = dot * dot / (columns.length2[rows, None] * columns.length2)
            if not self.keep_self:
                cosine2[np.arange(len(dot)), np.arange(rows.start, rows.stop)] = 0
            similar[rows] = self._raised(cosine2)
            weights: NDArray[np.float64] = self._weight(similar[rows]).sum(axis=1)  # of the column too: still symmetric
            return weights

        total = np.concatenate(in_parallel(work, columns.rows()))
        if self.scale is not None:
            factor = self._factor(total)
            in_parallel(lambda rows: np.multiply(similar[rows], factor, out=similar[rows]), columns.rows())
        return similar

    def _raised(self, cosine2: NDArray[np.float64]) -> Floats:
        return (cosine2 ** (self.power / 2)).astype(np.float32)

    def _weight(self, values: Floats) -> NDArray[np.float64]:
        wide = values.astype(np.float64)
        return wide * wide if self.scale == "unit" else wide

    def _factor(self, total: NDArray[Any]) -> Floats:
        """What the row of every item i is multiplied by."""
        length = np.sqrt(total) if self.scale == "unit" else total
        return (1 / np.where(length > 0, length, 1)).astype(np.float32)


S1_Y = ItemCF(power=3, neighbours=None, keep_self=True)
S1_Z = ItemCF(neighbours=10)
