"""Vectors of items alone: a person is what they did."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from fullrank.arrays import Codes, Doubles, Floats, Lists, as_lists, checked_codes, lists
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.linear import ItemVectors, LinearModel, People, pair_scores
from fullrank.models.kinds.model import checked_history, keep_floats
from fullrank.models.kinds.reasons import Person, Reasons


@final
@dataclass(frozen=True, eq=False, repr=False)
class HistoryFactors(LinearModel):
    """score(u, i) = <p_i, own_u + sum over u's items j of q_j / sqrt(how many)> + bias_i + user_bias_u + offset.

    A person is what they did: the rows of `train` that count, by `recipe.relevant` where the recipe has it.
    Somebody new is the sum alone, without a vector or bias of their own.
    """

    items: Floats  # P (items, factors)
    history: Floats  # Q (items, factors)
    train: Interactions
    recipe: object
    users: Floats | None = None  # own (users, factors)
    bias: Floats | None = None  # (items,)
    user_bias: Floats | None = None  # (users,)
    offset: float = 0.0

    def __post_init__(self) -> None:
        keep_floats(self, "items", "history", "users", "bias", "user_bias")

    @cached_property
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""
        return ItemVectors(self.items, self.bias)

    @cached_property
    def _histories(self) -> Lists:
        return lists(self.positives.by_user())

    def vectors(self, users: Codes) -> Floats:
        """The vectors of known users (codes), from what they did and their own."""
        codes = checked_codes(users, self.train.n_users, "user")
        summed = self._sum(codes, self._histories)
        return summed if self.users is None else summed + self.users[codes]

    def people(self, users: Codes) -> People:
        """Known users (codes)."""
        own = 0 if self.user_bias is None else self.user_bias[users].astype(np.float64)
        return People(self.vectors(users), np.full(len(users), self.offset) + own)

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        return People(self.fold_in(items, values)[None, :], np.full(1, self.offset))

    def fold_in(self, items: Codes, values: Floats) -> Floats:
        """The vector of somebody new: the sum over what counts of what they did."""
        codes, given = checked_history(self, items, values)
        return np.asarray(self._sum(np.zeros(1, dtype=np.int32), as_lists([0, len(codes)], codes, given))[0])

    def reasons(self, item: int, person: Person) -> Reasons:
        """<p_item, q_j> / sqrt(how many) of every item j of the history; the own vector, biases and offset."""
        one = np.full(len(person.items), item, dtype=np.int32)
        parts: Doubles = pair_scores(self.items, one, self.history, person.items) / np.sqrt(max(len(one), 1))
        others = {"offset": self.offset} if self.offset else {}
        if self.bias is not None:
            others["item bias"] = float(self.bias[item])
        if person.user is not None and self.users is not None:
            user, target = (np.array([code], dtype=np.int32) for code in (person.user, item))
            others["own vector"] = float(pair_scores(self.users, user, self.items, target)[0])
        if person.user is not None and self.user_bias is not None:
            others["user bias"] = float(self.user_bias[person.user])
        return Reasons(person.items, person.values, parts, others)

    def _sum(self, users: Codes, histories: Lists) -> Floats:
        """Sums of q over the items of each user, over the square root of how many they are."""
        from fullrank.kernels.cooccurrence import add_dense

        out = np.empty((len(users), self.history.shape[1]), dtype=np.float32)
        codes = checked_codes(users, len(histories[0]) - 1, "user")
        add_dense(codes, *histories, True, self.history, out)
        counts = histories[0][codes + 1] - histories[0][codes]
        return np.asarray(out / np.sqrt(np.maximum(counts, 1)).astype(np.float32)[:, None])
