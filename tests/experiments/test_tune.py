from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from fullrank import (
    AllRank,
    Bestseller,
    GaussianRank,
    Preferences,
    RankLoss,
    Split,
    evaluate,
    halved,
    holdout,
    metrics,
    rank,
    simulate,
    threads,
)
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, FullrankError, LockedError, OutputError, ParameterError
from fullrank.experiments import search
from fullrank.experiments.feedback import fit
from fullrank.experiments.spaces import SPACES, Choice, Float, Int, space_for
from fullrank.experiments.tune import Tuned, tune
from fullrank.models.recipes import BPR, CCF, EASE, IALS, RECIPES, RSVD, ItemCF

WORLD = simulate.ratings(users=80, items=120, density=0.3, seed=1)
SPLIT = halved(holdout(WORLD.data, 0.3, seed=0))
SMALL = {"reg": Float(0.001, 1.0, log=True), "factors": Int(2, 12)}


def value_of(
    recipe: Any, split: Split[Any] = SPLIT, metric: str = "recall@10", relevant: Any = None, seed: int = 0
) -> float:
    """Of the recipe, fitted on train and ranked on the validation part, without anything of tuning."""
    ranks = rank(fit(recipe, split.train, seed), Split(split.train, split.valid), relevant=relevant)
    return evaluate(ranks, [metrics.parse(metric)]).mean()[metric]


@pytest.fixture(scope="module")
def whole() -> Tuned:
    return tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL)


# spaces


def test_every_recipe_can_be_made_at_all_corners_of_its_space():
    assert SPACES.keys() == RECIPES.keys()
    for name, space in SPACES.items():
        for corner in product(*(part.corners for part in space.values())):
            RECIPES[name](**dict(zip(space, corner, strict=True)))


@pytest.mark.parametrize("name", RECIPES)
def test_the_usual_setting_is_inside_the_space(name):
    for parameter, part in SPACES[name].items():
        assert getattr(RECIPES[name](), parameter) in part


def test_a_space_is_on_the_scale_of_the_data():
    few = Interactions.of([1, 2, 2, 3, 4], [1, 1, 2, 3, 4], [0, 100, 0, 20, 50])
    space = space_for(AllRank(), few)
    assert space["factors"] == Int(4, 4, log=True)
    assert space["missing_value"] == Float(-25.0, 50.0)
    assert space_for(AllRank(), SPLIT.train)["missing_value"] == SPACES["AllRank"]["missing_value"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Float(2, 1),
        lambda: Float(0, 1, log=True),
        lambda: Float(0, np.inf),
        lambda: Int(0.5, 3),
        lambda: Choice(()),
        lambda: Choice((1, 1)),
    ],
)
def test_a_part_that_makes_no_sense_is_refused(make):
    with pytest.raises(ParameterError):
        make()


# what is found


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
    assert tune(IALS(), SPLIT, trials=8, relevant=4).value > value_of(IALS(), relevant=4) + 0.05


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
    judged = rank(fit(pairs.recipe, likes.train), likes.valid.graded(), relevant=0)
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
    assert tune(IALS(sweeps=4), split, trials=9, space=SMALL).points == whole.points


def test_choices_are_each_tried_once():
    tuned = tune(Bestseller(), SPLIT, trials=20, relevant=5)
    assert sorted(point.parameters["by"] for point in tuned.points) == ["count", "mean", "relevant"]
    scales = {"scale": Choice(("unit", "sum", None)), "binary": Choice((True, False))}
    settings = [tuple(p.parameters.values()) for p in tune(ItemCF(), SPLIT, trials=5, space=scales).points]
    assert settings[0] == ("unit", True)
    assert len(set(settings)) == 5


@pytest.mark.parametrize("count", [1, 2])
def test_threads_change_nothing(whole, count):
    before = threads()
    try:
        threads(count)
        assert tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL).points == whole.points
    finally:
        threads(before)


def test_another_seed_proposes_others(whole):
    other = tune(IALS(sweeps=4), SPLIT, trials=3, space=SMALL, seed=1)
    assert other.points[0].parameters["reg"] == whole.points[0].parameters["reg"]
    assert other.points[1].parameters["reg"] != whole.points[1].parameters["reg"]


def test_the_result_is_plain_json(whole):
    told = whole.to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told.keys() == {"metric", "trials", "pruned", "points"}
    assert told["trials"] == len(told["points"]) == 9
    assert told["points"][0].keys() == {"parameters", "value", "state"}
    assert whole.seconds > 0


# stopped and failed trials


def test_a_hopeless_trial_is_stopped_early():
    seen: list[str] = []
    rates = {"rate": Choice((0.2, 0.21, 0.22, 0.23, 0.24, 1e-9))}
    recipe = BPR(epochs=20, factors=8)
    tuned = tune(recipe, SPLIT, trials=6, space=rates, seed=5, progress=lambda *told: seen.append(told[3]))
    hopeless = tuned.points[-1]
    assert (hopeless.parameters["rate"], hopeless.state) == (1e-9, "pruned")
    warm = int(recipe.epochs * search.WARM_UP)
    assert seen[-2:] == [f"trial 6: {warm} of 20", "trial 6: pruned"]
    assert tuned.to_json()["pruned"] == sum(point.state == "pruned" for point in tuned.points)


@dataclass(frozen=True)
class Curve:
    """Has these values after its epochs; a model is its own score."""

    values: tuple[float, ...]
    epochs: int = 5

    def fit(self, train: Any, seed: int = 0, *, progress: Any, judge: Any, patience: int) -> None:
        for done, value in enumerate(self.values[: self.epochs], 1):
            progress(done, self.epochs, 0.0)
            judge(value)

    def model(self, state: Any, train: Any) -> float:
        return self.values[state.done - 1]


def test_curves_are_stopped_below_the_median_but_not_at_their_end(monkeypatch):
    good = [(1.0, 2.0, 3.0, 4.0, 9.0 + more) for more in range(4)]
    slow, late, flat = (0.5, 0.5, 30.0, 30.0, 30.0), (1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 2.0, 20.0, 20.0, 20.0)
    space = {"values": Choice((*good, slow, late, flat))}
    in_order = [{"values": label} for label in space["values"].labels[1:]]
    monkeypatch.setattr("fullrank.experiments.tune.score_of", lambda *given: float)
    monkeypatch.setattr(search.Task, "grid", lambda task: in_order)
    tuned = tune(Curve(good[0]), SPLIT, trials=7, space=space)
    told = [(point.state, point.value, point.parameters["epochs"]) for point in tuned.points]
    assert told[:4] == [("complete", 9.0 + more, 5) for more in range(4)]
    assert told[4:] == [("pruned", 0.5, 1), ("complete", 5.0, 5), ("complete", 20.0, 3)]
    assert tuned.recipe == Curve(flat, epochs=3)


def test_judged_about_ten_times(monkeypatch):
    judged: list[Any] = []
    monkeypatch.setattr("fullrank.experiments.tune.rank", lambda *a, **k: judged.append(a) or rank(*a, **k))
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


# the journal


class Killed(BaseException):
    pass


@pytest.mark.parametrize(("at", "text"), [(0, "1 of 4"), (1, "trial"), (4, "trial 5"), (5, "2 of 4"), (8, "3 of 4")])
def test_an_interrupted_search_goes_on_to_the_same_end(tmp_path, whole, at, text):
    def stop(done, of, best, told):
        if done == at and text in told:
            raise Killed

    path = tmp_path / "trials.log"
    again: list[int] = []
    with pytest.raises(Killed):
        tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal=path, progress=stop)
    resumed = tune(
        IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal=path, progress=lambda done, *rest: again.append(done)
    )
    assert replace(resumed, seconds=whole.seconds) == whole
    assert min(again) == at  # what was told is kept


def test_a_journal_cut_anywhere_goes_on_to_the_same_end(tmp_path, whole):
    path = tmp_path / "trials.log"
    tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal=path)
    content = path.read_bytes()
    for size in np.linspace(0, len(content), 14).astype(int).tolist():
        path.write_bytes(content[:size])
        assert tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal=path).points == whole.points


def test_a_killed_process_leaves_nothing_in_the_way(tmp_path, whole):
    path = tmp_path / "trials.log"
    code = f"""
import os, signal
from tests.experiments.test_tune import IALS, SMALL, SPLIT, tune
def kill(done, of, best, text):
    if done == 3 and "2 of 4" in text:
        os.kill(os.getpid(), signal.SIGKILL)
tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal={str(path)!r}, progress=kill)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, cwd=os.getcwd(), timeout=120)
    assert ended.returncode == -signal.SIGKILL
    begun: list[int] = []
    resumed = tune(
        IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal=path, progress=lambda done, *rest: begun.append(done)
    )
    assert resumed.points == whole.points
    assert begun[0] == 3


def test_one_journal_for_several_searches_longer_and_shorter_ones(tmp_path, whole):
    path = tmp_path / "trials.log"
    other = tune(EASE(), SPLIT, trials=3, journal=path)
    short = tune(IALS(sweeps=4), SPLIT, trials=4, space=SMALL, journal=path)
    assert short.points == whole.points[:4]
    assert tune(IALS(sweeps=4), SPLIT, trials=9, space=SMALL, journal=path).points == whole.points
    size = path.stat().st_size
    assert tune(EASE(), SPLIT, trials=3, journal=path) == other  # with its seconds: nothing was run again
    assert tune(IALS(sweeps=4), SPLIT, trials=4, space=SMALL, journal=path) == short
    assert path.stat().st_size == size


@pytest.mark.parametrize(
    "changed",
    [
        {"metric": "rr"},
        {"relevant": 4},
        {"seed": 1},
        {"space": {"reg": Float(1.0, 50.0)}},
        {"recipe": EASE(binary=False)},
        {"split": replace(SPLIT, valid=SPLIT.held_out)},
    ],
)
def test_other_searches_do_not_take_over_its_trials(tmp_path, changed):
    path = tmp_path / "trials.log"
    given = {"recipe": EASE(), "split": SPLIT, "trials": 2} | changed
    tune(EASE(), SPLIT, trials=2, journal=path)
    assert tune(**given, journal=path).points == tune(**given).points


def test_failed_and_stopped_trials_are_found_again(tmp_path):
    rates = {"rate": Choice((0.2, 0.21, 0.22, 0.23, 0.24, 1e-9)), "reg": Choice((0.01, -1.0))}
    given = {"recipe": BPR(epochs=12, factors=4), "split": SPLIT, "space": rates, "trials": 12}
    once = tune(**given, journal=tmp_path / "trials.log")
    assert {point.state for point in once.points} == {"complete", "pruned", "failed"}
    assert tune(**given, journal=tmp_path / "trials.log") == once


def test_a_journal_in_use_is_refused(tmp_path):
    path = tmp_path / "trials.log"
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match=r"trials\.log: another search"):
            tune(EASE(), SPLIT, trials=2, journal=path)
    tune(EASE(), SPLIT, trials=2, journal=path)


@pytest.mark.parametrize("content", [b"user,item\n1,2\n", b"hello", b"{}\n", b'{"op_code":0}\n'])
def test_what_is_no_journal_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "trials.log"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"trials\.log: .*remove"):
        tune(EASE(), SPLIT, trials=2, journal=path)
    assert path.read_bytes() == content


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "trials.log"
    tune(EASE(), SPLIT, trials=3, journal=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:20] + b"\x00\n", *lines[2:]]))
    with pytest.raises(DataError, match="line 2 is not"):
        tune(EASE(), SPLIT, trials=3, journal=path)


def test_a_journal_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    with pytest.raises(OutputError):
        tune(EASE(), SPLIT, trials=2, journal=tmp_path)
    with pytest.raises(OutputError):
        tune(EASE(), SPLIT, trials=2, journal=tmp_path / "no" / "folder")

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FullrankError, match="No space left"):
        tune(EASE(), SPLIT, trials=2, journal=tmp_path / "trials.log")


def test_functions_cannot_be_told_apart_in_a_journal(tmp_path):
    own = GaussianRank(loss=RankLoss(lambda r: r, np.ones_like), epochs=1)
    with pytest.raises(ParameterError, match="without functions"):
        tune(own, SPLIT, trials=1, journal=tmp_path / "trials.log")
    assert tune(own, SPLIT, trials=1).points


# what is asked for


def test_progress_between_sweeps_and_after_trials():
    told: list[tuple[Any, ...]] = []
    tuned = tune(IALS(sweeps=3), SPLIT, trials=2, space=SMALL, progress=lambda *given: told.append(given))
    assert [text for *_, text in told] == [
        "trial 1: 1 of 3", "trial 1: 2 of 3", "trial 1: 3 of 3", "trial 1: complete",
        "trial 2: 1 of 3", "trial 2: 2 of 3", "trial 2: 3 of 3", "trial 2: complete",
    ]  # fmt: skip
    assert [(done, of) for done, of, *_ in told] == [(0, 2)] * 3 + [(1, 2)] * 4 + [(2, 2)]
    assert [best for *_, best, _ in told[2:5]] == [None, tuned.points[0].value, tuned.points[0].value]


def test_a_recipe_of_ones_own_needs_a_space():
    @dataclass(frozen=True)
    class Weighted:
        count: float = 1.0

        def fit(self, train, seed=0):
            counts = np.bincount(train.item, minlength=train.n_items)
            return np.tile(self.count * counts.astype(np.float32), (train.n_users, 1))

    with pytest.raises(ParameterError, match="no search space is known for Weighted"):
        tune(Weighted(), SPLIT)
    tuned = tune(Weighted(-1.0), SPLIT, trials=4, space={"count": Choice((-1.0, 1.0))})
    assert tuned.recipe == Weighted(1.0)
    assert tuned.value == value_of(Bestseller())


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
