"""EASE: the linear model of items on items that has a closed form (Steck 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from fullrank.arrays import Doubles, Floats, Lists, frozen, lists, row_blocks
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.models.kinds.dual_item_item import DualItemItem, people_of_items
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.neighbours.cooccurrence import Columns
from fullrank.models.neighbours.inverse import SINGULAR, sweep_all, tiles_of
from fullrank.models.positives import Relevant, check_relevant, positives
from fullrank.models.protocols import Recipe, need_feedback
from fullrank.runtime.memory import check_fits
from fullrank.runtime.threads import in_parallel

SOLVERS = ("auto", "primal", "dual")
ITEMS = 64  # whose own products are computed in one go


@dataclass(frozen=True)
class EASE(Recipe[Interactions, ItemItem | DualItemItem]):
    """Every item regressed on all other items: weights B with a diagonal of 0 (Steck 2019).

        minimise |X - X B|^2 + reg |B|^2  where diag(B) = 0:    B = I - P diag(1 / diag(P)),  P = (X'X + reg I)^-1

    X is 1 where somebody took an item (`binary`), or holds the values; a score is x_u B. Where people are fewer than
    items the same scores come from a matrix of people (the dual form; nothing of items x items is made):

        P = (I - X' M X) / reg,  M = (X X' + reg I)^-1:    x_u P = (M X)_u for those trained on

    Solving takes 12 bytes and n / 2 multiplications for each of the n^2 pairs of items, or of people.
    """

    #: Strength of regularisation, > 0: some hundreds; more where there is little feedback for many items, and for
    #: values by the mean of their squares (of ratings from 1 to 5 about 14 times as much).
    reg: float = 500.0
    #: Whether whatever counts is 1; False: values count as they are, which is better for ratings (then with
    #: relevant=None), and worse for counts of plays or purchases.
    binary: bool = True
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: Weights of items on items ("primal"), or of people on people ("dual"), which give the same scores up to
    #: rounding; "auto": of whichever are fewer. Somebody new is scored faster by the former.
    solver: Literal["auto", "primal", "dual"] = "auto"

    def __post_init__(self) -> None:
        check("reg", self.reg, is_number(self.reg) and 0 < self.reg < np.inf, "a number > 0")
        check("binary", self.binary, isinstance(self.binary, bool), "True or False")
        check("solver", self.solver, self.solver in SOLVERS, "'auto', 'primal' or 'dual'")
        check_relevant(self)

    def fit(self, train: Interactions, seed: int = 0) -> ItemItem | DualItemItem:
        """Solve in float64; there is no chance in it: `seed` changes nothing."""
        need_feedback(self, train)
        rows = positives(self, train)
        people, items = int((np.diff(rows.starts) > 0).sum()), train.n_items
        dual = people < items if self.solver == "auto" else self.solver == "dual"
        self._check_fits(people, items, dual)
        return self._dual(rows, train) if dual else self._primal(rows, train)

    def _check_fits(self, people: int, items: int, dual: bool) -> None:
        """Refuse what is too large, with what to use instead: the other form, or a recipe that grows with the rows."""
        n, which = (people, "people") if dual else (items, "items")
        instead = "solver='auto'" if n > min(people, items) else "ItemCF or IALS, whose memory follows the feedback"
        what = f"EASE: weights of {n:,} x {n:,} {which} (there are {people:,} people and {items:,} items)"
        check_fits(12.2 * n * n, what, f"use {instead}, or a larger machine")

    def _primal(self, rows: Interactions, train: Interactions) -> ItemItem:
        matrix = Columns.of(rows, self.binary).gram()
        matrix[np.diag_indices(len(matrix))] += self.reg
        swept = sweep_all(matrix)
        weights = _from_lower(swept, 1 / -np.diag(swept))
        np.fill_diagonal(weights, 0)
        return ItemItem(weights, train, self, binary=self.binary)

    def _dual(self, rows: Interactions, train: Interactions) -> DualItemItem:
        people = people_of_items(rows, self.binary)
        matrix = _between(rows, people, self.binary).gram()
        matrix[np.diag_indices(len(matrix))] += self.reg
        swept = sweep_all(matrix)
        unexplained = 1 + _self_products(people, swept)
        if unexplained.min() <= 0:
            raise DataError(SINGULAR)
        weights = _from_lower(swept, np.full(len(swept), -float(self.reg)))
        return DualItemItem(weights, unexplained.astype(np.float32), train, self, float(self.reg), self.binary)


def _between(rows: Interactions, people: Lists, binary: bool) -> Columns:
    """The rows of the people with any, in the place of columns: what they have in common is a product of two."""
    some = rows.by_user()[np.flatnonzero(np.diff(rows.starts))]
    return Columns(lists(some), people, binary, frozen(np.ones(rows.n_items)), np.ones(some.shape[0]))


def _self_products(people: Lists, swept: Doubles) -> Doubles:
    """-x_i' M x_i of all items, from the lower tiles of -M."""
    from fullrank.kernels.dual import self_products

    out = np.empty(len(people[0]) - 1)
    in_parallel(lambda some: self_products(some.start, *people, swept, out[some]), row_blocks(len(out), ITEMS))
    return out


def _from_lower(swept: Doubles, scale: Doubles) -> Floats:
    """The whole symmetric matrix from its lower tiles, the j-th column times scale[j]."""
    out = np.empty(swept.shape, dtype=np.float32)

    def fill(pair: tuple[slice, slice]) -> None:
        i, j = pair
        out[i, j] = swept[i, j] * scale[j]
        if i != j:
            out[j, i] = swept[i, j].T * scale[i]

    tiles = tiles_of(len(swept))
    in_parallel(fill, ((i, j) for i, j in product(tiles, tiles) if j.start <= i.start))
    return out
