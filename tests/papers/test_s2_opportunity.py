"""S2 on MovieLens 100K, five folds over ratings: opportunity cost beside plain factorisation, run as S2 ran it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import RSVD, OpportunityCost, SVDpp
from fullrank.evaluation.offers import offer_scores
from fullrank.metrics.partial_order import pair_errors
from fullrank.metrics.table import parse


def measured(recipe: Any, splits: list[fullrank.Split]) -> np.ndarray:
    """Pooled pairwise loss, graded nDCG and EDRC, means over folds."""
    found = []
    for split in splits:
        model, cases = recipe.fit(split.train), split.held_out.graded()
        result = fullrank.evaluate(
            fullrank.rank(model, cases, relevant=-1), [parse("graded_ndcg"), parse("edrc")]
        ).mean()
        found.append([pair_errors(cases, offer_scores(model, cases)).pooled(), *result.values()])
    return np.mean(found, axis=0)


@pytest.mark.papers
def test_figures_6_2_6_4_and_6_6(shared_data: Path) -> None:
    splits = list(fullrank.folds(fullrank.sources.load(shared_data / "ml-100k").data, 5))
    plain, history = measured(RSVD.as_funk(25), splits), measured(SVDpp.as_funk(25), splits)
    for factors in (25, 50, 100, 200):
        loss, ndcg, order = measured(OpportunityCost(factors, reg=0.03), splits)
        assert loss < 0.266  # S2's own procedure: about .28
        assert loss < min(plain[0], history[0]) - 0.03
        assert ndcg > max(plain[1], history[1]) + 0.01
        assert order > max(plain[2], history[2]) + 0.03
    assert plain[0] == pytest.approx(0.324, abs=0.005)


@pytest.mark.papers
def test_figure_6_15_on_preference_folds(shared_data: Path) -> None:
    """S2's modified setting: preferences of the same items are in train and test, so enough factors know them all."""
    preferences = fullrank.sources.load(shared_data / "ml-100k").data.graded().pairs()
    assert len(preferences) == 7_018_383
    split = next(iter(fullrank.folds(preferences, 5)))
    held_out, loss = split.held_out.graded(), []
    for factors in (25, 50, 100):
        model = OpportunityCost(factors, reg=0.004).fit(split.train)
        loss.append(pair_errors(held_out, offer_scores(model, held_out)).pooled())
    assert loss == sorted(loss, reverse=True)
    assert loss[0] < 0.07
    assert loss[1] < 0.015
    assert loss[2] < 0.001
