"""Trials that are stopped early, and those that fail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from fullrank import (
    AllRank,
    rank,
)
from fullrank.errors import DataError
from fullrank.models.neighbours.ease import EASE
from fullrank.models.pairwise.bpr import BPR
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.training.state import Length, Parameters, Rounds
from fullrank.tuning import search
from fullrank.tuning.spaces import Choice
from fullrank.tuning.tune import tune
from tests.tuning.world import SPLIT

TUNE = import_module("fullrank.tuning.tune")  # the package exports a function of this name


def test_a_hopeless_trial_is_stopped_early():
    seen: list[str] = []
    rates = {"rate": Choice((0.2, 0.21, 0.22, 0.23, 0.24, 1e-9))}
    recipe = BPR(epochs=20, factors=8)
    tuned = tune(recipe, SPLIT, trials=6, space=rates, seed=5, progress=lambda *event: seen.append(event[3]))
    hopeless = tuned.points[-1]
    assert (hopeless.parameters["rate"], hopeless.state) == (1e-9, "pruned")
    warm = int(recipe.epochs * search.WARM_UP)
    assert seen[-2:] == [f"trial 6: {warm} of 20", "trial 6: pruned"]
    assert tuned.to_json()["pruned"] == sum(point.state == "pruned" for point in tuned.points)


@dataclass(frozen=True)
class Curve(IterativeRecipe[Any, Any]):
    """Has these values after its epochs; a model is its own score."""

    values: tuple[float, ...]
    epochs: int = 5

    @property
    def length(self) -> Length:
        return Length("epochs", self.epochs)

    def prepare(self, train: Any, seed: int) -> Rounds:
        def run(parameters: Parameters, number: int) -> float:
            parameters["score"][0] = self.values[number]
            return 0.0

        return Rounds(lambda: {"score": np.zeros(1)}, run)

    def model(self, parameters: Parameters, train: Any) -> Any:
        return float(parameters["score"][0])


def test_curves_are_stopped_below_the_median_but_not_at_their_end(monkeypatch):
    good = [(1.0, 2.0, 3.0, 4.0, 9.0 + more) for more in range(4)]
    slow, late, flat = (0.5, 0.5, 30.0, 30.0, 30.0), (1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 2.0, 20.0, 20.0, 20.0)
    space = {"values": Choice((*good, slow, late, flat))}
    in_order = [{"values": label} for label in space["values"].labels[1:]]
    monkeypatch.setattr(TUNE, "score_of", lambda *given: float)
    monkeypatch.setattr(search.Task, "grid", lambda task: in_order)
    tuned = tune(Curve(good[0]), SPLIT, trials=7, space=space)
    results = [(point.state, point.value, point.parameters["epochs"]) for point in tuned.points]
    assert results[:4] == [("complete", 9.0 + more, 5) for more in range(4)]
    assert results[4:] == [("pruned", 0.5, 1), ("complete", 5.0, 5), ("complete", 20.0, 3)]
    assert tuned.recipe == Curve(flat, epochs=3)


def test_judged_about_ten_times(monkeypatch):
    judged: list[Any] = []
    monkeypatch.setattr(TUNE, "rank", lambda *a, **k: judged.append(a) or rank(*a, **k))
    tune(BPR(epochs=35, factors=4), SPLIT, trials=1)
    assert len(judged) == 10


def test_a_trial_that_fails_is_kept_with_its_message():
    rates = {"rate": Choice((0.01, 0.02, 1e6))}
    tuned = tune(RSVD(epochs=5), SPLIT, trials=3, space=rates)
    (failed,) = (point for point in tuned.points if point.state == "failed")
    assert failed.parameters == {"rate": 1e6}
    assert failed.value is None
    assert "smaller rate" in failed.message
    assert tuned.recipe.rate < 1


def test_a_setting_the_recipe_refuses_fails_too():
    tuned = tune(EASE(), SPLIT, trials=3, space={"reg": Choice((500.0, 100.0, -1.0))})
    assert [point.message for point in tuned.points if point.state == "failed"] == [
        "The 'reg' parameter must be a number > 0. Got -1.0 instead."
    ]


def test_if_all_fail_the_first_reason_is_told():
    events = replace(SPLIT.train, value=None)
    with pytest.raises(DataError, match=r"AllRank: all 3 trials failed, .* needs ratings"):
        tune(AllRank(), replace(SPLIT, train=events), trials=3)
