"""Items beside each other: a score is a sum over what somebody has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullrank.arrays import Array, Codes, Csr, Doubles, Floats, Lists, as_lists, checked_codes, lists
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.model import FittingRecipe, Model, check_finite, checked_history, keep_floats
from fullrank.models.kinds.reasons import Person, Reasons


@dataclass(frozen=True, eq=False, repr=False)
class ItemItem(Model):
    """score(u, i) = sum over u's items j of value(u, j) similar[j, i]; `similar` is dense or sparse (CSR)."""

    similar: Array | Csr  # (items, items)
    train: Interactions
    recipe: FittingRecipe
    binary: bool = True  # every item of a history counts 1, whatever its value

    def __post_init__(self) -> None:
        if isinstance(self.similar, np.ndarray):
            keep_floats(self, "similar")
        else:
            check_finite(self.recipe, "similar", self.similar.data)

    @cached_property
    def _histories(self) -> Lists:
        return lists(self.positives.by_user())

    @cached_property
    def _neighbours(self) -> Lists:
        return lists(self.similar)

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self._score(users, self._histories, out)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        codes, given = checked_history(self, items, values)
        out = np.empty((1, self.similar.shape[0]), dtype=np.float32)
        history = as_lists([0, len(codes)], codes, given)
        self._score(np.zeros(1, dtype=np.int32), history, out)
        return out.ravel()

    def neighbours(self, item: int) -> Doubles:
        """similar[item, :], what somebody who has this item is given for it, of all items."""
        if isinstance(self.similar, np.ndarray):
            return np.array(self.similar[item], dtype=np.float64)
        return row_of(self._neighbours, item)

    def reasons(self, item: int, person: Person) -> Reasons:
        """value(u, j) similar[j, item] of every item j of the history."""
        if isinstance(self.similar, np.ndarray):
            weights = self.similar[person.items, item].astype(np.float64)
        else:
            weights = column_of(self._neighbours, person.items, item)
        return Reasons(person.items, person.values, weights * (1 if self.binary else person.values), {})

    def _score(self, users: Codes, histories: Lists, out: Floats) -> None:
        from fullrank.kernels.cooccurrence import add_dense, add_sparse

        given = (checked_codes(users, len(histories[0]) - 1, "user"), *histories, self.binary)
        if isinstance(self.similar, np.ndarray):
            add_dense(*given, self.similar, out)
        else:
            add_sparse(*given, *self._neighbours, out)


def row_of(neighbours: Lists, item: int) -> Doubles:
    """A row of a sparse matrix, with its zeros."""
    start, column, value = neighbours
    mine = slice(start[item], start[item + 1])
    row = np.zeros(len(start) - 1)
    row[column[mine]] = value[mine]
    return row


def column_of(neighbours: Lists, rows: Codes, item: int) -> Doubles:
    """What these rows of a sparse matrix have in one column."""
    start, column, value = neighbours
    mine = (slice(start[row], start[row + 1]) for row in rows.tolist())
    return np.array([value[some][column[some] == item].sum(dtype=np.float64) for some in mine], dtype=np.float64)
