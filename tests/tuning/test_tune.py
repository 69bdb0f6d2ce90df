"""The best of some settings: what it is, what it may look at, what is refused."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from fullrank import (
    AllRank,
    Bestseller,
    Preferences,
    Split,
    evaluate,
    halved,
    holdout,
    metrics,
    rank,
    simulate,
    threads,
)
from fullrank.data.feedback import as_graded
from fullrank.errors import FullrankError, ParameterError
from fullrank.models.feedback import fit
from fullrank.models.least_squares.ials import IALS
from fullrank.models.neighbours.ease import EASE
from fullrank.models.neighbours.itemcf import ItemCF
from fullrank.models.pairwise.bpr import BPR
from fullrank.models.preferences.ccf import CCF
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.recipes import RECIPES
from fullrank.tuning.spaces import SPACES, Choice, Float, Int, space_for
from fullrank.tuning.summary import TuningSummary
from fullrank.tuning.tune import tune
from tests.tuning.world import SMALL, SPLIT, value_of


@pytest.mark.parametrize("recipe", [IALS(), AllRank(), BPR(epochs=12), EASE(), ItemCF(neighbours=None)])
def test_tuning_never_ends_below_the_recipe_itself(recipe):
    tuned = tune(recipe, SPLIT, trials=8, relevant=4)
    own = value_of(recipe, relevant=4)
    assert tuned.points[0].value >= own
    assert tuned.value == max(point.value for point in tuned.points if point.state == "complete") >= own
    assert tuned.value == value_of(tuned.recipe, relevant=4)
    for name in SPACES[type(recipe).__name__]:
        assert tuned.points[0].parameters[name] == getattr(recipe, name)


def test_tuning_finds_what_is_better():
    poor = IALS(reg=0.03, missing_weight=0.3)
    assert tune(poor, SPLIT, trials=8, relevant=4).value > value_of(poor, relevant=4) + 0.05


@pytest.mark.parametrize("name", sorted(RECIPES.keys() - {"PureSVD"}))
def test_every_point_can_be_had_again(name):
    """Also those of fewer sweeps or epochs than were trained: a shorter fit is the beginning of the longer one."""
    short = {key: 7 for key in ("epochs", "sweeps") if hasattr(RECIPES[name], key)}
    recipe, space = RECIPES[name](**short), dict(space_for(RECIPES[name](), SPLIT.train))
    if "factors" in space:
        space["factors"] = Int(2, 8)
    tuned = tune(recipe, SPLIT, trials=4, space=space, seed=3)
    assert {point.state for point in tuned.points} == {"complete"}
    for point in tuned.points:
        assert value_of(replace(recipe, **point.parameters), seed=3) == point.value
    if short:
        (rounds,) = short
        assert all(1 <= point.parameters[rounds] <= 7 for point in tuned.points)


def test_by_feature_all_rounds_are_kept():
    recipe = RSVD.as_funk(factors=3, epochs=4)
    tuned = tune(recipe, SPLIT, trials=2, space={"reg": Float(0.01, 0.1)})
    assert tuned.recipe.epochs == 4
    assert tuned.points[0].parameters == {"reg": recipe.reg}
    assert tuned.points[0].value == value_of(recipe)


def test_feature_by_feature_is_not_mixed_with_other_settings():
    tuned = tune(RSVD(epochs=2, factors=3), SPLIT, trials=2, space={"by_feature": Choice((False, True))})
    assert [point.state for point in tuned.points] == ["complete", "failed"]
    assert "tune them apart" in tuned.points[1].message


def test_less_is_better_where_the_metric_says_so():
    tuned = tune(IALS(sweeps=3), SPLIT, trials=6, metric="mean_rank", space=SMALL)
    values = [point.value for point in tuned.points if point.state == "complete"]
    assert tuned.value == min(values) < max(values)
    assert tuned.value == value_of(tuned.recipe, metric="mean_rank") <= value_of(IALS(sweeps=3), metric="mean_rank")


def test_sessions_and_preferences_are_tuned_on_their_own_order():
    sessions = halved(holdout(simulate.sessions(users=40, items=30, seed=2).data, 0.4, seed=0))
    tuned = tune(CCF(epochs=4), sessions, trials=4, metric="pairwise_loss")
    assert tuned.value == value_of(tuned.recipe, sessions, "pairwise_loss", relevant=-1)
    some = tune(IALS(sweeps=2), sessions, trials=2, metric="rr", relevant=1, space=SMALL)
    assert some.value == value_of(some.recipe, sessions, "rr", relevant=1)

    likes = halved(holdout(sessions.train.pairs(), 0.4, seed=0))
    pairs = tune(RECIPES["OpportunityCost"](sweeps=3), likes, trials=3, metric="pairwise_loss")
    judged = rank(fit(pairs.recipe, likes.train), as_graded(likes.valid), relevant=0)
    assert isinstance(likes.valid, Preferences)
    assert pairs.value == evaluate(judged, [metrics.parse("pairwise_loss")]).mean()["pairwise_loss"]


def test_measures_of_order_look_at_all_validation_items():
    tuned = tune(AllRank(sweeps=2), SPLIT, trials=2, metric="pairwise_loss", relevant=5)
    assert tuned.value == value_of(tuned.recipe, metric="pairwise_loss", relevant=None)


def test_the_held_out_part_is_not_read(whole):
    class Sealed(Split):
        open = True

        def __getattribute__(self, name):
            if name in ("held_out", "parts", "whole") and not Sealed.open:
                raise AssertionError("the held-out part was read")
            return super().__getattribute__(name)

    split = Sealed(SPLIT.train, SPLIT.held_out, SPLIT.valid)
    Sealed.open = False
    assert (
        tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), split, trials=9, space=SMALL).points
        == whole.points
    )


def test_choices_are_each_tried_once():
    tuned = tune(Bestseller(), SPLIT, trials=20, relevant=5)
    assert sorted(point.parameters["by"] for point in tuned.points) == ["count", "mean", "relevant"]
    scales = {"scale": Choice(("unit", "sum", None)), "binary": Choice((True, False))}
    settings = [tuple(p.parameters.values()) for p in tune(ItemCF(), SPLIT, trials=5, space=scales).points]
    assert settings[0] == (None, True)
    assert len(set(settings)) == 5


@pytest.mark.parametrize("count", [1, 2])
def test_threads_change_nothing(whole, count):
    before = threads()
    try:
        threads(count)
        assert (
            tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=9, space=SMALL).points
            == whole.points
        )
    finally:
        threads(before)


def test_another_seed_proposes_others(whole):
    other = tune(IALS(sweeps=4, missing_weight=0.1, reg=0.003, frequency=1), SPLIT, trials=3, space=SMALL, seed=1)
    assert other.points[0].parameters["reg"] == whole.points[0].parameters["reg"]
    assert other.points[1].parameters["reg"] != whole.points[1].parameters["reg"]


def test_the_result_is_plain_json(whole):
    content = whole.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content.keys() == {"metric", "trials", "pruned", "points"}
    assert content["trials"] == len(content["points"]) == 9
    assert content["points"][0].keys() == {"parameters", "value", "state"}
    assert TuningSummary.from_json(json.loads(json.dumps(content))) == whole.summary()
    assert whole.seconds > 0


def test_progress_between_sweeps_and_after_trials():
    events: list[tuple[Any, ...]] = []
    tuned = tune(IALS(sweeps=3), SPLIT, trials=2, space=SMALL, progress=lambda *given: events.append(given))
    assert [text for *_, text in events] == [
        "trial 1: 1 of 3", "trial 1: 2 of 3", "trial 1: 3 of 3", "trial 1: complete",
        "trial 2: 1 of 3", "trial 2: 2 of 3", "trial 2: 3 of 3", "trial 2: complete",
    ]  # fmt: skip
    assert [(done, of) for done, of, *_ in events] == [(0, 2)] * 3 + [(1, 2)] * 4 + [(2, 2)]
    assert [best for *_, best, _ in events[2:5]] == [None, tuned.points[0].value, tuned.points[0].value]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"recipe": EASE}, "'recipe' parameter must be a recipe"),
        ({"split": SPLIT.train}, "'split' parameter must be a Split"),
        ({"split": replace(SPLIT, valid=None)}, "no validation part"),
        ({"trials": 0}, "'trials'"),
        ({"metric": "recal@10"}, "Did you mean 'recall'"),
        ({"relevant": 6}, "is relevant at 6"),
        ({"space": {"regg": Float(1, 2)}}, "'regg' is no parameter of EASE. Did you mean 'reg'"),
        ({"space": {"reg": (1, 2)}}, "must be a Float, Int or Choice"),
        ({"space": {}}, "'space'"),
    ],
)
def test_wrong_arguments_are_refused(changed, message):
    with pytest.raises(FullrankError, match=message):
        tune(**({"recipe": EASE(), "split": SPLIT, "trials": 2} | changed))


def test_without_optuna_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ParameterError, match=r"pip install 'fullrank\[tune\]'"):
        tune(EASE(), SPLIT)


def test_optuna_says_nothing_and_stays_as_it_was(capfd):
    import optuna

    before = optuna.logging.get_verbosity()
    tune(EASE(), SPLIT, trials=2)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")
