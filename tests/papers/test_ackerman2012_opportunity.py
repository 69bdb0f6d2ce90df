"""Ackerman 2012 on MovieLens 100K, what always runs of it; `fullrank reproduce ackerman2012` has all figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.reproduction.papers.ackerman2012.preferences import one
from fullrank.reproduction.papers.ackerman2012.protocol import (
    RECIPES,
    SMALL,
    lead,
    measure,
    preference_folds,
    rating_folds,
)
from fullrank.reproduction.workspace import Workspace


def test_opportunity_cost_leads_plain_factorisation_on_one_fold(shared_data: Path) -> None:
    splits = rating_folds(Workspace(shared_data), SMALL)[:1]
    results = {who: measure(RECIPES[who](12), splits) for who in ("RSVD", "SVD++", "GPW-OPT")}
    ours, *others = (results[who] for who in ("GPW-OPT", "RSVD", "SVD++"))
    assert ours is not None
    for key, by in (("loss", 0.02), ("ndcg", 0.005), ("edrc", 0.02)):
        assert lead(ours, [other for other in others if other], key) > by
    assert ours["loss"] < 0.27  # Ackerman's own procedure: about .28


def test_dealt_preferences_are_remembered(shared_data: Path) -> None:
    """Of the same items in train and test, so a few factors know most of them."""
    workspace = Workspace(shared_data)
    assert sum(len(part) for part in preference_folds(workspace, SMALL)[0].parts) == 7_018_383
    results = one(workspace, SMALL, 12)
    assert results is not None
    assert results["loss"] == pytest.approx(0.13, abs=0.03)
