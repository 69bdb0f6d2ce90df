"""One list for everybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.arrays import Bools, Codes, Floats
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.model import FittingRecipe, Model, keep_floats
from fullrank.models.kinds.reasons import Person, Reasons, besides


@dataclass(frozen=True, eq=False, repr=False)
class ItemScores(Model):
    """score(u, i) = score_i: the same list for everybody."""

    items: Floats  # (items,)
    train: Interactions
    recipe: FittingRecipe

    def __post_init__(self) -> None:
        keep_floats(self, "items")

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        out[:] = self.items

    def knows(self, users: Codes) -> Bools:
        """Everybody: nothing has to be known of them."""
        return np.ones(len(users), dtype=bool)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return self.items

    def reasons(self, item: int, person: Person) -> Reasons:
        """The score of the item, which is everybody's."""
        return besides(everybody=self.items[item])
