"""What is compared on what: kinds of feedback, splits, thresholds, names, and what is told about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import AllRank, Bestseller, Graded, Interactions, Preferences, Split
from fullrank.comparison.compare import compare
from fullrank.comparison.inputs import load
from fullrank.comparison.naming import make_recipe, name_recipes
from fullrank.comparison.profile import missing, popularity
from fullrank.comparison.protocol import make_setting
from fullrank.comparison.splits import parse_split
from fullrank.data.feedback import kind_of
from fullrank.errors import DataError, ParameterError
from fullrank.models.feedback import fit
from tests.comparison.world import WORLD, timeless


def test_a_threshold_is_never_left_out_silently() -> None:
    rng = np.random.default_rng(0)
    cell = rng.choice(60 * 50, 1500, replace=False)
    counts = Interactions.of(cell // 50, cell % 50, rng.integers(1, 60, 1500))
    assert kind_of(counts) == "events"
    assert compare(counts, ["Bestseller"], relevant=30).results.split.relevant == "value >= 30"
    assert compare(counts, ["Bestseller"]).results.split.relevant == "all held out"
    with pytest.raises(ParameterError, match="is for ratings and counts; sessions have an order"):
        compare(fullrank.simulate.sessions(20, 20).data, relevant=1)


def test_sessions_and_preferences() -> None:
    sessions = fullrank.simulate.sessions(60, 40, seed=1).data
    comparison = compare(sessions)
    assert [m.name for m in comparison.results.models] == [
        "Bestseller", "RSVD", "OpportunityCost", "SessionCost", "CCF",
    ]  # fmt: skip
    assert comparison.results.verdict.metric == "pairwise_loss"
    lowest = min(comparison.results.models, key=lambda m: m.metrics["pairwise_loss"].mean)
    assert comparison.best == lowest.name
    assert comparison.results.examples == ()
    pairs = sessions.pairs()
    assert isinstance(pairs, Preferences)
    comparison = compare(pairs, split="holdout:0.3")
    model = fullrank.OpportunityCost().fit(fullrank.holdout(pairs, 0.3, seed=0).train)
    held = fullrank.holdout(pairs, 0.3, seed=0).held_out
    scores = model.scores(np.arange(60))
    wrong = scores[held.user, held.better] < scores[held.user, held.worse]
    tied = scores[held.user, held.better] == scores[held.user, held.worse]
    measured = next(m for m in comparison.results.models if m.name == "OpportunityCost")
    assert measured.metrics["pairwise_loss"].mean == pytest.approx((wrong + tied / 2).mean())


def test_events_and_a_split_of_somebodys_own() -> None:
    data = fullrank.simulate.implicit(120, 90, seed=2).data
    split = fullrank.halved(fullrank.holdout(data, 0.4, seed=0), seed=0)
    comparison = compare(split, ["ItemCF", "bestseller"])
    assert comparison.results.data.kind == "events"
    rows = comparison.results.split.rows
    assert rows["train"] == len(split.train) + len(split.valid or ())
    assert comparison.results.split.relevant == "all held out"
    asked = make_setting(split)
    assert asked.for_tuning() is split


def test_tuning_is_on_the_training_part_only(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    options: dict[str, Any] = {"split": "holdout:0.3", "tune": 4, "sampled": 20}
    recipes = {"AllRank": AllRank(factors=6, sweeps=3), "Bestseller": Bestseller()}
    one = compare(WORLD.data, recipes, out=tmp_path, **options)
    asked = make_setting(WORLD.data, split="holdout:0.3")
    chosen = fullrank.tune(AllRank(factors=6, sweeps=3), asked.for_tuning(), trials=4, relevant=5)
    model = next(m for m in one.results.models if m.name == "AllRank")
    assert model.recipe == str(chosen.recipe)
    assert model.tuned.trials == 4
    assert not any("Nothing was tuned" in note.text for note in one.results.trust)
    seen = set(zip(asked.for_tuning().whole().user, asked.for_tuning().whole().item, strict=True))
    held = set(zip(asked.split.held_out.user, asked.split.held_out.item, strict=True))
    assert held <= seen  # the whole is whole
    assert not held & set(zip(asked.for_tuning().train.user, asked.for_tuning().train.item, strict=True))
    again = compare(WORLD.data, recipes, out=tmp_path, **options)
    assert timeless(again.to_json()) == timeless(one.to_json())


def test_names_and_nearest_names() -> None:
    assert list(name_recipes(["allrank", Bestseller()])) == ["allrank", "Bestseller"]
    assert make_recipe("IALS", factors=3).factors == 3
    with pytest.raises(ParameterError, match=r"'allrnk' is not a model. Did you mean 'AllRank'"):
        make_recipe("allrnk")
    with pytest.raises(ParameterError, match=r"'factor' is not a parameter of IALS. Did you mean 'factors'"):
        make_recipe("IALS", factor=3)
    with pytest.raises(ParameterError, match="two models are called 'Bestseller'"):
        name_recipes([Bestseller(), Bestseller(by="mean")])
    with pytest.raises(ParameterError, match="no model to compare"):
        name_recipes([])
    with pytest.raises(ParameterError, match=r"'recal' is not a metric. Did you mean 'recall'"):
        compare(WORLD.data, metrics=["recal@10"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leave-lst:5", "Did you mean 'leave-last'"),
        ("leave-last:x", "'x' is no number"),
        ("holdout:2", "fraction"),
        ("time", "does not say when"),
        ("time:yesterday", "yesterday"),
    ],
)
def test_splits_that_are_none(text: str, message: str) -> None:
    with pytest.raises((ParameterError, DataError), match=message):
        parse_split(text)(WORLD.data)


def test_too_little_to_compare() -> None:
    one = Interactions.of([1], [1], [5], time=[0])
    with pytest.raises(DataError, match=r"nothing is (left to train on|held out)"):
        compare(one)
    alike = Interactions.of([1] * 6 + [2] * 6, [*range(6)] * 2, [5, 1, 1, 1, 1, 1] * 2, time=[*range(6)] * 2)
    with pytest.raises(DataError, match="none of 10 held-out values is relevant at 5"):
        compare(alike, relevant=5)
    with pytest.raises(DataError, match="needs Interactions, Events, Graded, Preferences or a Split"):
        compare([1, 2, 3])


def test_what_kind_of_feedback() -> None:
    assert kind_of(WORLD.data) == "ratings"
    assert kind_of(Interactions.of([1, 2], [1, 2])) == "events"
    assert kind_of(Interactions.of(range(40), range(40), range(1, 41))) == "events"  # counts
    assert kind_of(Graded.of([1], [1], [1])) == "sessions"
    model = fit(Bestseller(by="mean"), Graded.of([1, 1, 2], ["a", "b", "a"], [1, 0, 1]))
    assert model.scores([0]).tolist() == [[1, 0]]


def test_signs_of_missing_not_at_random() -> None:
    evidence = missing(WORLD.data)
    assert evidence is not None
    assert evidence.correlation > 0.3
    assert "people rate what they like" in evidence.sentence
    assert sum(point.items for point in evidence.points) == len(np.unique(WORLD.data.item))
    rng = np.random.default_rng(0)
    cell = rng.choice(99 * 99, 5000, replace=False)
    by_chance = missing(Interactions.of(cell // 99, cell % 99, rng.integers(1, 6, 5000)))
    assert by_chance is not None
    assert by_chance.p > 0.01
    assert "no sign" in by_chance.sentence
    curve = popularity(WORLD.data)
    assert curve is not None
    assert curve[0] == (0, 0)
    assert curve[-1] == (1, 1)
    assert list(curve) == sorted(curve)


def test_what_was_dropped_and_who_is_unknown_is_told() -> None:
    rows = {"user": [], "item": [], "rating": [], "time": []}
    rng = np.random.default_rng(0)
    for user in range(60):
        for item in rng.permutation(30)[:8].tolist():
            for name, cell in zip(rows, (user, item, 1 + (item % 5), user), strict=True):
                rows[name].append(cell)
    rows["rating"][3] = float("nan")
    data = fullrank.read(rows, on_bad="skip")
    told = [note.text for note in compare(data, ["Bestseller"], split="time:0.3", relevant=1).results.trust]
    assert any("1 rows were left out when the data was read" in text for text in told)
    assert any("100% of the cases are of people without any training data" in text for text in told)
    told = [note.text for note in compare(data, ["Bestseller"], split="holdout:0.3").results.trust]
    assert not any("without any training data" in text for text in told)


def test_a_split_by_time_or_by_chance_is_told() -> None:
    by_chance = compare(WORLD.data, ["Bestseller"], split="holdout:0.2")
    by_time = compare(WORLD.data, ["Bestseller"], split="time:0.2")
    assert any("what people did later" in note.text for note in by_chance.results.trust)
    assert not any("later" in note.text for note in by_time.results.trust)
    assert isinstance(parse_split("time:0.2")(WORLD.data), Split)


def test_files_about_items_have_the_encoding_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,item\nann,1\nbob,2\n")
    (tmp_path / "items.csv").write_bytes(b"item,title\n1,Caf\xe9\n2,Tea\n")
    paths = {"source": str(tmp_path / "log.csv"), "items": str(tmp_path / "items.csv")}
    assert load(**paths, encoding="latin-1").titles == ("Café", "Tea")
    with pytest.raises(DataError, match="is not UTF-8"):
        load(**paths)
