"""What everybody has taken themselves, above one list for all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullrank.arrays import Codes, Floats, Lists, as_lists, checked_codes, lists
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.model import FittingRecipe, Model, checked_history, keep_floats
from fullrank.models.kinds.reasons import Person, Reasons


@dataclass(frozen=True, eq=False, repr=False)
class OwnItems(Model):
    """score(u, i) = value(u, i) + score_i: what they took, as often as they did, and the same list for everybody."""

    items: Floats  # (items,)
    train: Interactions
    recipe: FittingRecipe

    def __post_init__(self) -> None:
        keep_floats(self, "items")

    @cached_property
    def _histories(self) -> Lists:
        return lists(self.positives.by_user())

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        out[:] = self.items
        add_own(checked_codes(users, self.train.n_users, "user"), self._histories, out)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        codes, given = checked_history(self, items, values)
        out = self.items.copy()[None, :]
        add_own(np.zeros(1, dtype=np.int32), as_lists([0, len(codes)], codes, given), out)
        return out.ravel()

    def reasons(self, item: int, person: Person) -> Reasons:
        """What they took of the item itself, and its score, which is everybody's."""
        own = person.items == item
        values = person.values[own]
        return Reasons(person.items[own], values, values.astype(np.float64), {"everybody": float(self.items[item])})


def add_own(users: Codes, histories: Lists, out: Floats) -> None:
    """Add to each row of `out` (users, items) what its user has of every item."""
    start, item, value = histories
    for row, user in zip(out, users.tolist(), strict=True):
        mine = slice(start[user], start[user + 1])
        row[item[mine]] += value[mine]
