"""Bestseller lists: the same for everybody, and a baseline that is often forgotten (Steck 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.positives import Relevant, check_relevant, threshold
from fullrank.models.protocols import Recipe, need_feedback


@dataclass(frozen=True)
class Bestseller(Recipe[Interactions, ItemScores]):
    """Items by the mean of their ratings, by their number, or by the number of relevant ones.

        mean: sum_u r_ui / n_i        count: n_i        relevant: the number of users u with r_ui >= relevant

    In a list by mean, items without ratings come last. Without values, every event is relevant.
    """

    #: What items are ordered by: the "mean" of their ratings, their "count", or the count of "relevant" ones.
    by: Literal["mean", "count", "relevant"] = "relevant"
    #: What counts where `by` is "relevant": values at or above a number, above a share of all ("30%") or the person's
    #: "own mean"; None: all that was observed.
    relevant: Relevant = None

    def __post_init__(self) -> None:
        check("by", self.by, self.by in ("mean", "count", "relevant"), "'mean', 'count' or 'relevant'")
        check_relevant(self)

    def fit(self, train: Interactions, seed: int = 0) -> ItemScores:
        """Count; there is no chance in it: `seed` changes nothing."""
        need_feedback(self, train)
        rows = train.relevant(threshold(self.relevant, train)) if self.by == "relevant" else train
        count = rows.popularity
        if self.by != "mean":
            return ItemScores(count.astype(np.float32), train, self)
        if train.value is None:
            raise DataError("Bestseller: there are no values to take the mean of; use by='count'.")
        total = np.bincount(train.item, train.value, minlength=train.n_items)
        rated = count > 0
        mean = total[rated] / count[rated]
        scores = np.full(train.n_items, mean.min() - max(1.0, abs(mean.min())))
        scores[rated] = mean
        return ItemScores(scores.astype(np.float32), train, self)
