"""Coat: trained on self-chosen ratings, tested on uniformly random ones (and on self-chosen ones)."""

from __future__ import annotations

from pathlib import Path

import fullrank
from fullrank import AllRank, Split
from fullrank.metrics import atop, recall


def test_what_people_choose_is_not_what_they_like(shared_data: Path) -> None:
    """Parameters were chosen by ATOP on self-chosen ratings held out (docs/models.md tells the grid)."""
    split = fullrank.sources.load(shared_data / "coat").data
    inner = fullrank.holdout(split.train, 0.2, seed=0)
    observed = AllRank(factors=10, missing_weight=0, missing_value=1, reg=0.3)
    everything = AllRank(factors=10, missing_weight=0.1, missing_value=0, reg=0.3)
    results = {}
    for name, recipe in (("observed", observed), ("all", everything)):
        chosen = fullrank.rank(recipe.fit(inner.train), inner, relevant=4)
        random = fullrank.rank(recipe.fit(split.train), Split(split.train, split.held_out), relevant=4, exclude=None)
        for where, ranks in (("chosen", chosen), ("random", random)):
            results[name, where] = fullrank.evaluate(ranks, [atop, recall @ 10], weights="by_relevant").mean()
    assert results["all", "chosen"]["atop"] > results["observed", "chosen"]["atop"] + 0.05
    assert results["all", "random"]["atop"] < results["observed", "random"]["atop"] - 0.02
    assert results["all", "random"]["recall@10"] < results["observed", "random"]["recall@10"]
