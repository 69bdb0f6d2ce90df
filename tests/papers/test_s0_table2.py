"""S0 Table 2 on MovieLens 1M: AllRank has the worst RMSE and the best ATOP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import AllRank, AllRankBinary, Bestseller, Split
from fullrank.metrics import atop

PUBLISHED: dict[str, tuple[Any, float, float | None]] = {  # ATOP, RMSE
    "bestseller by mean": (Bestseller(by="mean"), 0.803, None),
    "bestseller by count": (Bestseller(by="count"), 0.873, None),
    "bestseller by 5 stars": (Bestseller(by="relevant", relevant=5), 0.880, None),
    "observed only": (AllRank(missing_weight=0, reg=0.06), 0.861, 0.901),
    "AllRank-Regression": (AllRank(), 0.933, 1.218),
    "dense SVD": (AllRank(missing_weight=1, reg=0.03), 0.915, 1.766),
    "AllRank-Binary-Regression": (AllRankBinary(missing_weight=0.01, reg=0.03), 0.924, None),
    "AllRank-Binary-Logistic": (AllRankBinary(missing_weight=0.02, reg=0.02, loss="logistic"), 0.928, None),
}


@pytest.fixture(scope="module")
def split(shared_data: Path) -> Split:
    return fullrank.leave_last(fullrank.sources.load(shared_data / "ml-1m", catalogue=True).data, 5)


def measured(recipe: Any, split: Split) -> tuple[float, float]:
    model = recipe.fit(split.train)
    ranks = fullrank.rank(model, split, relevant=5, exclude=None)
    result = fullrank.evaluate(ranks, [atop], weights="by_relevant").mean()["atop"]
    held = split.held_out
    scores = np.concatenate(
        [
            model.scores(np.arange(first, min(first + 500, held.n_users)))[rows.user - first, rows.item]
            for first in range(0, held.n_users, 500)
            for rows in [held.where((held.user >= first) & (held.user < first + 500))]
        ]
    )
    return result, float(np.sqrt(np.mean((scores - held.value) ** 2)))


@pytest.mark.papers
def test_the_table(split: Split) -> None:
    found = {name: measured(recipe, split) for name, (recipe, _, _) in PUBLISHED.items()}
    for name, (_, published, _) in PUBLISHED.items():
        assert found[name][0] == pytest.approx(published, abs=0.01), (name, found[name])
    assert found["AllRank-Regression"][0] >= 0.931
    assert found["AllRank-Regression"][1] == pytest.approx(1.218, abs=0.02)
    assert found["observed only"][0] <= 0.88
    assert found["observed only"][1] == pytest.approx(0.901, abs=0.01)
    by_atop = sorted(found, key=lambda name: found[name][0])
    assert by_atop[0] == "bestseller by mean"
    assert by_atop[-1] == "AllRank-Regression"


def test_the_two_ends_of_the_table(split: Split) -> None:
    """What always runs: the row that matters, and the one it is compared with."""
    best, rmse = measured(AllRank(), split)
    assert best >= 0.931
    assert rmse == pytest.approx(1.218, abs=0.02)
    worse, smaller = measured(AllRank(missing_weight=0, reg=0.06), split)
    assert worse <= 0.88
    assert smaller < 0.92 < rmse
