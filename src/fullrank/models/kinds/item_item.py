"""Items beside each other: a score is a sum over what somebody has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fullrank.arrays import Array, Codes, Csr, Floats, Lists, as_lists, checked_codes, lists
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.model import FittingRecipe, Model, check_finite, checked_history, keep_floats


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

    def _score(self, users: Codes, histories: Lists, out: Floats) -> None:
        from fullrank.kernels.cooccurrence import add_dense, add_sparse

        given = (checked_codes(users, len(histories[0]) - 1, "user"), *histories, self.binary)
        if isinstance(self.similar, np.ndarray):
            add_dense(*given, self.similar, out)
        else:
            add_sparse(*given, *self._neighbours, out)
