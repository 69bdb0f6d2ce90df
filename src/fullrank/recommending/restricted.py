"""A model over a part of its catalogue: restricted once, for everybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.arrays import Array, Codes, frozen
from fullrank.data.interactions import Interactions
from fullrank.evaluation.scoring import ByRows, ByVectors, Scorer, scorer
from fullrank.models.kinds.linear import ItemVectors, Room
from fullrank.models.kinds.model import Model


@dataclass(frozen=True, eq=False)
class Restricted:
    """The scores of some items (codes, rising) by a model, the same to the last bit as among all of them."""

    model: Model
    keep: Codes
    train: Interactions  # over these items only

    def scorer(self, n_users: int, n_items: int) -> Scorer:
        """What gives blocks of scores: from the vectors of these items alone, or from whole rows cut to them."""
        whole = scorer(self.model, n_users, self.model.train.n_items)
        if isinstance(whole, ByRows):
            return ByRows(lambda users, room: self._cut(whole, users, room))
        vectors, bias = whole.items.vectors, whole.items.bias
        some = ItemVectors(frozen(vectors[self.keep]), None if bias is None else frozen(bias[self.keep]))
        return ByVectors(some, whole.people)

    def _cut(self, whole: ByRows, users: Codes, room: Room) -> Array:
        rows = whole.rows(users, lambda kind: np.empty((len(users), self.model.train.n_items), dtype=kind))
        out = room(rows.dtype)
        np.take(rows, self.keep, axis=1, out=out)
        return out
