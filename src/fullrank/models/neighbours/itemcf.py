"""Item-based collaborative filtering: items are similar when the same people took them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Doubles, Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import check, check_integer, is_number
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.neighbours.cooccurrence import Columns, check_near, joined
from fullrank.models.positives import Relevant, check_relevant, positives
from fullrank.models.protocols import Recipe, need_feedback
from fullrank.runtime.memory import check_fits
from fullrank.runtime.threads import in_parallel


@dataclass(frozen=True)
class ItemCF(Recipe[Interactions, ItemItem]):
    """Cosine similarity of items over users, to a power, summed over a user's (Krichene and Rendle 2020, Eq. 29, 30).

        s_ij = max(0, <x_i, x_j> / (|x_i| |x_j| + shrink))^power        score(u, i) = sum over u's items j of s_ij

    <x_i, x_j> is the sum over users u of n_u^-user_weight x_ui x_uj; n_u is how many positives u has. x_i is 1 for
    everybody who took item i (`binary`; without the two, the cosine is n_ij / sqrt(n_i n_j) then), or holds their
    values, which then weigh the sum too. `keep_self`, `neighbours` and `voters`, `scale` act on s in this order.
    `KRICHENE_Y` and `KRICHENE_Z` are recommenders Y and Z of that paper, with the choices that give its numbers.
    """

    #: The power of the cosine, > 0: above 1, near items count more.
    power: float = 1.0
    #: Of every item j of a history only so many most similar items i profit (columns of s), from 1; None: all.
    neighbours: int | None = None
    #: Every item i listens only to so many most similar items j (rows of s), from 1; None: to all. Given both, both
    #: hold.
    voters: int | None = 200
    #: Whether s_ii = 1 stays; it takes one of the places among neighbours or voters, and counts in `scale`.
    keep_self: bool = False
    #: Rows of s are divided by their Euclidean length ("unit", Eq. 29), by their "sum" (Eq. 30, which undoes any
    #: scaling before it), or not (None).
    scale: Literal["unit", "sum"] | None = None
    #: At the last place, ties "share" what is left of the places equally, so that nothing depends on the order of
    #: items; or the "first" by code get them, and no item has more than so many.
    ties: Literal["share", "first"] = "share"
    #: Whether whatever counts is 1; False: values count, as in feedback where more is better.
    binary: bool = True
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: Added to the product of the lengths, from 0: pairs that few people took lose; `scale` would undo it.
    shrink: float = 20.0
    #: A user with n positives counts n^-user_weight in the products, from 0 (everybody alike): with 0.5, those who took
    #: nearly everything say less about each pair. The lengths stay as they are.
    user_weight: float = 0.5

    def __post_init__(self) -> None:
        check("power", self.power, is_number(self.power) and 0 < self.power < np.inf, "a number > 0")
        for name in ("neighbours", "voters"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)
        check("scale", self.scale, self.scale in ("unit", "sum", None), "'unit', 'sum' or None")
        check("ties", self.ties, self.ties in ("share", "first"), "'share' or 'first'")
        for name in ("keep_self", "binary"):
            check(name, getattr(self, name), isinstance(getattr(self, name), bool), "True or False")
        for name in ("shrink", "user_weight"):
            given = getattr(self, name)
            check(name, given, is_number(given) and 0 <= given < np.inf, "a number >= 0")
        check_relevant(self)

    def fit(self, train: Interactions, seed: int = 0) -> ItemItem:
        """Similarities of all items, or of near ones only; there is no chance in them: `seed` changes nothing."""
        need_feedback(self, train)
        columns = Columns.of(positives(self, train), self.binary, self.user_weight)
        limited = self.neighbours is not None or self.voters is not None
        similar = self._near(columns) if limited else self._all(columns)
        return ItemItem(similar, train, self, binary=self.binary)

    def _near(self, columns: Columns) -> Any:
        """Sparse, row j and column i; s is symmetric until it is cut and scaled."""
        check_near("ItemCF", columns.steps, len(columns.by_item[1]), self.voters, self.neighbours)
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

        def work(part: tuple[int, int]) -> list[tuple[Array, ...]]:
            kept = {"keep_self": self.keep_self, "share": self.ties == "share"}
            nearest = columns.nearest(*part, min(k, len(columns)), **kept, shrink=float(self.shrink))
            return [
                (sizes, which.copy(), chance.copy() if chances else self._raise(cosine2) * chance)
                for sizes, which, cosine2, chance in nearest
            ]

        return joined(in_parallel(work, columns.parts()), len(columns))

    def _all(self, columns: Columns) -> Floats:
        """Dense, row j and column i."""
        n = len(columns)
        check_fits(4 * n * n, f"ItemCF: similarities among all {n:,} items (instead of some neighbours of each)")
        similar = np.empty((n, n), dtype=np.float32)

        def work(rows: slice) -> NDArray[np.float64]:
            dot = np.maximum(columns.dots(rows), 0)
            cosine2 = self._square(dot, columns.length2[rows, None] * columns.length2)
            if not self.keep_self:
                cosine2[np.arange(len(dot)), np.arange(rows.start, rows.stop)] = 0
            similar[rows] = self._raise(cosine2)
            weights: NDArray[np.float64] = self._weight(similar[rows]).sum(axis=1)  # of the column too: still symmetric
            return weights

        total = np.concatenate(in_parallel(work, columns.rows()))
        if self.scale is not None:
            factor = self._factor(total)
            in_parallel(lambda rows: np.multiply(similar[rows], factor, out=similar[rows]), columns.rows())
        return similar

    def _square(self, dot: Doubles, lengths2: Doubles) -> Doubles:
        """The squared cosine, shrunk; without a shrink in as few steps as there may be."""
        if self.shrink == 0:
            return dot * dot / lengths2
        return np.square(dot / (np.sqrt(lengths2) + self.shrink))

    def _raise(self, cosine2: NDArray[np.float64]) -> Floats:
        return (cosine2 ** (self.power / 2)).astype(np.float32)

    def _weight(self, values: Floats) -> NDArray[np.float64]:
        wide = values.astype(np.float64)
        return wide * wide if self.scale == "unit" else wide

    def _factor(self, total: Array) -> Floats:
        """What the row of every item i is multiplied by."""
        length = np.sqrt(total) if self.scale == "unit" else total
        return (1 / np.where(length > 0, length, 1)).astype(np.float32)


_AS_PRINTED = ItemCF(voters=None, scale="unit", shrink=0, user_weight=0)
KRICHENE_Y = replace(_AS_PRINTED, power=3, keep_self=True)
KRICHENE_Z = replace(_AS_PRINTED, neighbours=10)
