"""Ratings to tune on, and the value of a recipe there."""

from __future__ import annotations

from typing import Any

from fullrank import (
    Split,
    evaluate,
    halved,
    holdout,
    metrics,
    rank,
    simulate,
)
from fullrank.models.feedback import fit
from fullrank.tuning.spaces import Float, Int

WORLD = simulate.ratings(users=80, items=120, density=0.3, seed=1)
SPLIT = halved(holdout(WORLD.data, 0.3, seed=0))
SMALL = {"reg": Float(0.001, 1.0, log=True), "factors": Int(2, 12)}


def value_of(
    recipe: Any, split: Split[Any] = SPLIT, metric: str = "recall@10", relevant: Any = None, seed: int = 0
) -> float:
    """Of the recipe, fitted on train and ranked on the validation part, without anything of tuning."""
    ranks = rank(fit(recipe, split.train, seed), Split(split.train, split.valid), relevant=relevant)
    return evaluate(ranks, [metrics.parse(metric)]).mean()[metric]
