"""What every kind of model has, and what is written once for all of them.

Models are few although recipes are many: scoring, fold-in, recommending and saving are written once per kind.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from fullrank.arrays import Array, Bools, Codes, Floats, checked_codes, frozen
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.positives import liked, positive_history, threshold


@runtime_checkable
class Model(Protocol):
    """What scores all items for a user; higher is better, always finite."""

    train: Interactions  # what it has seen, and whose ids it uses
    recipe: object  # what it was made by

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""

    @cached_property
    def positives(self) -> Interactions:
        """The rows of `train` that count: those by `recipe.relevant`, where the recipe knows one class only."""
        return self.train.relevant(threshold(getattr(self.recipe, "relevant", None), self.train))

    @cached_property
    def liked(self) -> float:
        """What an item counts that somebody new names without a value."""
        return liked(self.recipe, self.train)

    def knows(self, users: Codes) -> Bools:
        """Of which users (codes) there is anything to tell their taste from; others are served what is popular."""
        start = self.positives.starts
        return np.asarray(start[np.asarray(users) + 1] > start[users])

    def scores(self, users: Codes) -> Floats:
        """The scores of known users (codes) in a new array (users, items)."""
        codes = np.asarray(users, dtype=np.int32)
        out = np.empty((len(codes), self.train.n_items), dtype=np.float32)
        self.scores_into(codes, out)
        return out

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.recipe}: {self.train.n_users:,} users, {self.train.n_items:,} items)"


class FittingRecipe(Protocol):
    """What is asked of the recipe of a model that more feedback only changes by fitting it again."""

    def fit(self, train: Interactions, seed: int = 0) -> Model:
        """Train on all of `train`."""


def keep_floats(model: Model, *names: str) -> None:
    """Make these arrays of a frozen model read-only float32, and refuse numbers that would score NaN; None stays."""
    for name in names:
        array = getattr(model, name)
        if array is not None:
            object.__setattr__(model, name, frozen(np.ascontiguousarray(array, dtype=np.float32)))
            check_finite(model.recipe, name, getattr(model, name))


def checked_history(model: Model, items: Codes, values: Floats) -> tuple[Codes, Floats]:
    """What counts of what somebody new did, item codes and a value for each; or an error."""
    codes, given = checked_codes(np.asarray(items), model.train.n_items, "item"), np.asarray(values, dtype=np.float32)
    if len(codes) != len(given):
        raise DataError(f"a history of {len(codes)} items has {len(given)} values; give one for each.")
    return positive_history(getattr(model.recipe, "relevant", None), model.train, codes, given)


def check_finite(recipe: object, what: str, array: Array) -> None:
    """Refuse a model that would score NaN."""
    if not np.isfinite(array).all():
        raise DataError(
            f"{type(recipe).__name__}: {what} became NaN or infinite; use more regularisation, a smaller rate, or "
            "look at the scale of the values."
        )
