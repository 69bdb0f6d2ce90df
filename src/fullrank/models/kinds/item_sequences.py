"""Items beside each other, and histories that have an order: what was taken lately counts more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from fullrank.arrays import (
    Array,
    Codes,
    Csr,
    Doubles,
    Floats,
    Ints,
    Lists,
    as_lists,
    checked_codes,
    frozen,
    lists,
    repeats,
)
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.kinds.item_item import column_of, row_of
from fullrank.models.kinds.model import Model, check_finite, checked_history
from fullrank.models.kinds.reasons import Person, Reasons
from fullrank.models.positives import Relevant, positive_rows


class OrderRecipe(Protocol):
    """What is asked of the recipe of such a model: what counts, and to fit again in an order that is known."""

    @property
    def relevant(self) -> Relevant:
        """What counts as positive."""

    def fit_in_order(self, train: Interactions, moment: Codes) -> ItemSequences:
        """Train on all of `train`, whose rows have these moments."""


@dataclass(frozen=True, eq=False, repr=False)
class ItemSequences(Model):
    """score(u, i) = sum over u's items j of (1 - recency)^p similar[j, i]; p is how many places before the last j is.

    Of the times no more is kept than their order: `moment`. Items of one moment share the mean of their places,
    counted from that of the last moment.
    """

    similar: Csr  # (items, items)
    moment: Codes  # (rows of train,): which moment of its user's a row is of, from 0
    train: Interactions
    recipe: OrderRecipe
    recency: float

    ordered = True  # of somebody new, the last given is the latest

    def __post_init__(self) -> None:
        check_finite(self.recipe, "similar", self.similar.data)
        object.__setattr__(self, "moment", frozen(np.ascontiguousarray(self.moment, dtype=np.int32)))
        if len(self.moment) != len(self.train) or (self.moment < 0).any():
            raise DataError(f"there are no {len(self.train)} moments from 0 for the rows of the model; fit it again.")
        if not 0 <= self.recency <= 1:
            raise DataError(f"the recency of the model is {self.recency}, not from 0 to 1; fit it again.")

    @cached_property
    def _histories(self) -> Lists:
        counts = positive_rows(self.recipe.relevant, self.train)
        rows = self.train.where(counts)
        place = places(rows.user, self.moment[counts], rows.n_users)
        return as_lists(rows.starts, rows.item, self._weights(place))

    @cached_property
    def _neighbours(self) -> Lists:
        return lists(self.similar)

    def _weights(self, place: Ints) -> Doubles:
        return fading(int(place.max(initial=0)), self.recency)[place]

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self._score(users, self._histories, out)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did, the latest last."""
        codes, _ = checked_history(self, items, values)
        weights = self._weights(2 * np.arange(len(codes))[::-1])
        order = np.argsort(codes, kind="stable")
        out = np.empty((1, self.train.n_items), dtype=np.float32)
        self._score(np.zeros(1, dtype=np.int32), as_lists([0, len(codes)], codes[order], weights[order]), out)
        return out.ravel()

    def neighbours(self, item: int) -> Doubles:
        """similar[item, :], what somebody who took this item last is given for it, of all items."""
        return row_of(self._neighbours, item)

    def reasons(self, item: int, person: Person) -> Reasons:
        """(1 - recency)^p similar[j, item] of every item j of the history."""
        faded: Doubles = self._weights(2 * np.arange(len(person.items))[::-1])
        if person.user is not None:
            start, _, weights = self._histories
            faded = weights[start[person.user] : start[person.user + 1]].astype(np.float64)
        return Reasons(person.items, person.values, faded * column_of(self._neighbours, person.items, item), {})

    def _score(self, users: Codes, histories: Lists, out: Floats) -> None:
        from fullrank.kernels.cooccurrence import add_sparse

        codes = checked_codes(users, len(histories[0]) - 1, "user")
        add_sparse(codes, *histories, False, *self._neighbours, out)


def moments(user: Codes, key: Array) -> Codes:
    """Which of the different keys of its user a row has, from 0; rows are sorted by user.

    >>> moments(np.array([0, 0, 0, 1]), np.array([30, 10, 30, 20])).tolist()
    [1, 0, 1, 0]
    """
    order = np.lexsort((key, user))
    who = user[order]
    count = np.cumsum(~repeats(who, key[order]))
    out = np.empty(len(user), dtype=np.int32)
    out[order] = count - count[np.searchsorted(who, who)]
    return frozen(out)


def places(user: Codes, moment: Codes, users: int) -> Ints:
    """How many halves of a place each row is before its user's last moment; rows of one moment share their mean place.

    >>> places(np.array([0, 0, 0, 0, 1]), np.array([2, 0, 1, 1, 5]), 2).tolist()
    [0, 6, 3, 3, 0]
    """
    order = np.lexsort((moment, user))
    who = user[order]
    first = np.flatnonzero(~repeats(who, moment[order]))
    size = np.diff(np.append(first, len(order)))
    middle = np.repeat(2 * first + size - 1, size)
    last = np.zeros(users, dtype=np.int64)
    last[who] = middle  # the last that is written is the latest
    out = np.empty(len(order), dtype=np.int64)
    out[order] = last[who] - middle
    return out


def fading(last: int, loss: float) -> Doubles:
    """(1 - loss)^(h / 2) for h = 0 .. last: multiplied up one by one, so that it is the same on every machine."""
    return np.cumprod(np.concatenate([[1.0], np.full(last, np.sqrt(1 - loss))]))
