"""A linear model of items on items, kept as weights of people on people: far fewer where people are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullrank.arrays import Codes, Csr, Doubles, Floats, Lists, as_lists, checked_codes, frozen, lists
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.kinds.model import FittingRecipe, Model, checked_history, keep_floats
from fullrank.models.kinds.own_items import add_own
from fullrank.models.kinds.reasons import Person, Reasons


@dataclass(frozen=True, eq=False, repr=False)
class DualItemItem(Model):
    """The scores of EASE without its weights of items on items (see `fullrank.EASE`).

        score(u, i) = x_ui - (sum over the people v of item i of D_uv x_vi) / g_i

    D = reg (XX' + reg I)^-1 and g_i = 1 - x_i' (XX' + reg I)^-1 x_i; x_vi is 1 (`binary`) or the value of what counts.
    The rows and columns of D are the people of whom anything counts, in the order of their codes. Somebody new with
    the history h, by the same algebra:

        score(i) = h_i - (h_i - (h X' D X)_i / reg) / g_i

    With the history of one item j this is row j of the weights of items on items, B = I - P diag(1 / diag(P)) where
    P = (I - X' D X / reg) / reg and diag(P) = g / reg, so single weights need no matrix of items:

        B_ji = x_j' D x_i / (reg g_i)  for i other than j,    B_jj = 0
    """

    weights: Floats  # D (people, people)
    unexplained: Floats  # g (items,)
    train: Interactions
    recipe: FittingRecipe
    reg: float
    binary: bool = True  # every item of a history counts 1, whatever its value

    def __post_init__(self) -> None:
        keep_floats(self, "weights", "unexplained")
        people, items = int((self._place >= 0).sum()), self.train.n_items
        if self.weights.shape != (people, people) or self.unexplained.shape != (items,):
            shapes = f"{self.weights.shape} and {self.unexplained.shape}"
            raise DataError(f"weights of shape {shapes} do not fit {people} people and {items} items; fit again.")
        if self.unexplained.min(initial=1) <= 0 or not self.reg > 0:
            raise DataError("the unexplained parts of items and `reg` must be > 0; fit again.")

    @cached_property
    def _place(self) -> Codes:
        """The row of every user among the weights; -1 for those of whom nothing counts."""
        return places(self.positives)

    @cached_property
    def _people(self) -> Lists:
        return people_of_items(self.positives, self.binary)

    @cached_property
    def _histories(self) -> Lists:
        return lists(counted(self.positives, self.binary))

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        from fullrank.kernels.dual import sum_people

        codes = checked_codes(users, self.train.n_users, "user")
        place = self._place[codes]
        sum_people(np.maximum(place, 0), self.weights, *self._people, self.unexplained, out)
        out[place < 0] = 0
        add_own(codes, self._histories, out)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        from fullrank.kernels.dual import sum_people

        codes, given = checked_history(self, items, values)
        taken = np.ones(len(codes), dtype=np.float32) if self.binary else given
        out = np.empty((1, self.train.n_items), dtype=np.float32)
        nobody = np.zeros(1, dtype=np.int32)
        sum_people(nobody, self._fold(codes, taken), *self._people, self.unexplained, out)
        own = self.unexplained[codes].astype(np.float64)
        out[0, codes] += (taken * (1 - 1 / own)).astype(np.float32)
        return out.ravel()

    def neighbours(self, item: int) -> Doubles:
        """B[item, :], what somebody who has this item is given for it, of all items."""
        row = self._weigh(item, self.unexplained)
        row[item] = 0
        return row

    def reasons(self, item: int, person: Person) -> Reasons:
        """value(u, j) B[j, item] of every item j of the history."""
        weights = self._weigh(item, np.full_like(self.unexplained, self.unexplained[item]))[person.items]
        weights[person.items == item] = 0
        return Reasons(person.items, person.values, weights * (1 if self.binary else person.values), {})

    def _weigh(self, item: int, over: Floats) -> Doubles:
        """x_item' D x_j / (reg over_j) of all items j."""
        from fullrank.kernels.dual import sum_people

        row = self._fold(np.array([item], dtype=np.int32), np.ones(1, dtype=np.float32))
        out = np.empty((1, self.train.n_items), dtype=np.float32)
        sum_people(np.zeros(1, dtype=np.int32), row, *self._people, frozen(over), out)
        return np.array(out[0], dtype=np.float64)

    def _fold(self, codes: Codes, taken: Floats) -> Doubles:
        """The weights of somebody new, -h X' D / reg, as a row."""
        from fullrank.kernels.exact_dot import exact_rows

        start, person, value = self._people
        sizes = start[codes + 1] - start[codes]
        entry = np.repeat(start[codes] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        products = value[entry].astype(np.float64) * np.repeat(taken, sizes)
        common = np.bincount(person[entry], products, minlength=len(self.weights))
        row = np.empty((1, len(common)))
        exact_rows(common[None, :], self.weights, np.zeros(1), row)
        return np.asarray(row / -self.reg)


def places(positives: Interactions) -> Codes:
    """The place of every user among those with rows; -1 for others."""
    has = np.diff(positives.starts) > 0
    return np.where(has, np.cumsum(has) - 1, -1).astype(np.int32)


def people_of_items(positives: Interactions, binary: bool) -> Lists:
    """Who took each item, by their places, with what counts."""
    by_item = positives.by_item()
    value = np.ones_like(by_item.data) if binary else by_item.data
    return as_lists(by_item.indptr, places(positives)[by_item.indices], value)


def counted(positives: Interactions, binary: bool) -> Csr:
    """Users x items with what counts: 1 or the value."""
    matrix: Csr = positives.by_user()
    if binary and positives.value is not None:
        from scipy.sparse import csr_array

        ones = np.ones(len(positives), dtype=np.float32)
        matrix = csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)
    return matrix
