"""What the thesis has not compared: silence as evidence, and people who are shown mostly what they like."""

from __future__ import annotations

from typing import Any

import pytest

import fullrank
from fullrank import RSVD, OpportunityCost, Result, SessionCost
from fullrank.reproduction.papers.ackerman2012.studies import result


def compared(recipes: dict[str, Any], lean: float) -> dict[str, Result]:
    splits = list(fullrank.folds(fullrank.simulate.sessions(lean=lean).data, 5))
    return {name: result(recipe, splits, best=False) for name, recipe in recipes.items()}


def certainly(results: dict[str, Result], better: str, worse: str) -> bool:
    """Whether the pairwise loss of one is lower, by an interval over people."""
    return results[better].versus(results[worse])["pairwise_loss"].high < 0


@pytest.mark.papers
def test_silence_tells_something_and_context_does_not() -> None:
    recipes = {"classes": SessionCost(), "silent": SessionCost(silent="negative"), "pairs": OpportunityCost(20)}
    results = compared(recipes, lean=0.0)
    assert certainly(results, "silent", "classes")
    assert not certainly(results, "classes", "pairs")


@pytest.mark.papers
def test_some_are_shown_mostly_good_and_others_mostly_bad_items() -> None:
    """An action is as good as another in whatever session: relative targets throw that away, silence tells some."""
    recipes = {
        "classes": SessionCost(), "silent": SessionCost(silent="negative"), "pairs": OpportunityCost(20),
        "RSVD": RSVD(50, reg=0.03),
    }  # fmt: skip
    results = compared(recipes, lean=2.0)
    assert certainly(results, "silent", "classes")
    for name in ("classes", "silent", "pairs"):
        assert certainly(results, "RSVD", name)
