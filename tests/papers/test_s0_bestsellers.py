"""S0 Table 2, the rows that need no training: bestseller lists on MovieLens 1M (rebuilt)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fullrank
from fullrank.metrics import atop


@pytest.mark.papers
def test_bestsellers_land_on_the_published_atop(shared_data: Path) -> None:
    """Last 5 ratings of each user, relevant = 5 stars, averaged over pairs, seen items not removed, 3,883 titles."""
    data = fullrank.sources.load(shared_data / "ml-1m", catalogue=True).data
    split = fullrank.leave_last(data, 5)
    assert (len(split.train), len(split.held_out)) == (970_009, 30_200)
    train = split.train
    assert train.value is not None
    count = np.bincount(train.item, minlength=train.n_items)
    mean = np.bincount(train.item, train.value, minlength=train.n_items) / np.maximum(count, 1)
    fives = np.bincount(train.item[train.value == 5], minlength=train.n_items)
    cases = fullrank.cases_of(split, relevant=5, exclude=None)
    found = {}
    for name, scores in {"mean": mean, "count": count, "five stars": fives}.items():
        ranks = fullrank.rank(np.broadcast_to(scores.astype(np.float32), (train.n_users, train.n_items)), cases)
        found[name] = fullrank.evaluate(ranks, [atop], weights="by_relevant").mean()["atop"]
    assert found == pytest.approx({"mean": 0.803, "count": 0.873, "five stars": 0.880}, abs=0.01)
