"""S2 on MovieLens 100K, what always runs of it; `fullrank reproduce s2` has all figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.experiments.bench import Bench
from fullrank.experiments.papers.s2.preferences import one
from fullrank.experiments.papers.s2.protocol import RECIPES, SMALL, lead, measured, preference_folds, rating_folds


def test_opportunity_cost_leads_plain_factorisation_on_one_fold(shared_data: Path) -> None:
    splits = rating_folds(Bench(shared_data), SMALL)[:1]
    found = {who: measured(RECIPES[who](12), splits) for who in ("RSVD", "SVD++", "GPW-OPT")}
    ours, *others = (found[who] for who in ("GPW-OPT", "RSVD", "SVD++"))
    assert ours is not None
    for key, by in (("loss", 0.02), ("ndcg", 0.005), ("edrc", 0.02)):
        assert lead(ours, [other for other in others if other], key) > by
    assert ours["loss"] < 0.27  # S2's own procedure: about .28


def test_dealt_preferences_are_remembered(shared_data: Path) -> None:
    """Of the same items in train and test, so a few factors know most of them."""
    bench = Bench(shared_data)
    assert sum(len(part) for part in preference_folds(bench, SMALL)[0].parts) == 7_018_383
    found = one(bench, SMALL, 12)
    assert found is not None
    assert found["loss"] == pytest.approx(0.13, abs=0.03)
