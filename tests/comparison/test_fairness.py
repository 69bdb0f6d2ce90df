"""The same chance for every model: what it is fed, whom it is judged on, what tuning may choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import IALS, AllRank, Bestseller, Ids, Interactions, compare
from fullrank.comparison import defaults
from fullrank.comparison.results import ModelSummary
from fullrank.evaluation.fallback import NEW
from fullrank.metrics import recall
from fullrank.tuning.spaces import Choice, space_for
from tests.comparison.world import WORLD


def by_name(comparison: Any) -> dict[str, ModelSummary]:
    return {model.name: model for model in comparison.results.models}


def warnings(comparison: Any) -> str:
    return " ".join(caveat.text for caveat in comparison.results.trust if caveat.level == "warning")


def test_models_given_by_name_are_fed_what_is_relevant() -> None:
    given: list[Any] = ["ials", "AllRank"]
    comparison = compare(WORLD.data, given, split="holdout:0.3", relevant=4)
    models = by_name(comparison)
    assert models["ials"].parameters["relevant"] == 4
    train = fullrank.holdout(WORLD.data, 0.3).train
    assert models["ials"].fed == f"values from 4 on: {(train.value >= 4).sum():,} of {len(train):,} rows"  # type: ignore[operator]
    assert models["AllRank"].fed == f"all {len(train):,} rows with their values"
    assert "as if each were a like" not in warnings(comparison)


def test_recipes_are_taken_as_they_are_and_dislikes_are_told() -> None:
    comparison = compare(WORLD.data, {"IALS": IALS(4), "best": Bestseller(by="count")}, split="holdout:0.3", relevant=4)
    assert by_name(comparison)["IALS"].parameters["relevant"] is None
    assert "IALS learned from all ratings as if each were a like, those below 4 too" in warnings(comparison)
    events = Interactions(WORLD.data.user, WORLD.data.item, None, None, WORLD.data.users, WORLD.data.items)
    comparison = compare(events, ["ials"], split="holdout:0.3")
    assert by_name(comparison)["ials"].parameters["relevant"] is None
    assert "as if each were a like" not in warnings(comparison)


def test_tuning_chooses_what_is_fed() -> None:
    data = WORLD.data
    assert space_for(IALS(relevant=5.0), data)["relevant"] == Choice((5.0, 4.0, None))
    assert space_for(IALS(relevant=2.0), data)["relevant"] == Choice((2.0, None))  # one below is all
    assert "relevant" not in space_for(IALS(), data)
    assert "relevant" not in space_for(Bestseller(relevant=4), data)
    assert "relevant" not in space_for(AllRank(), data)


def in_time() -> Interactions:
    """The world's ratings at random moments, so that some people come late."""
    data, rng = WORLD.data, np.random.default_rng(5)
    late = np.where(rng.random(data.n_users) < 0.3, 500, 0)[data.user]
    time = rng.integers(0, 500, len(data)) + late
    return Interactions.of(
        data.users.names[data.user], data.items.names[data.item], data.value, time, users=data.users, items=data.items
    )


def test_new_people_are_shown_apart_and_served_bestsellers() -> None:
    recipes = {"IALS": IALS(4, relevant=4), "best": Bestseller("count")}
    comparison = compare(in_time(), recipes, split="time:0.4", relevant=4)
    models = by_name(comparison)
    split = fullrank.by_time(in_time(), fraction=0.4)
    cases = fullrank.cases_of(split, 4)
    new = ~np.isin(cases.user, split.train.user)
    assert 0.1 < new.mean() < 0.9
    assert models["best"].fallback == {}
    assert models["IALS"].fallback[NEW] >= new.sum()
    for name in ("best", "IALS"):
        values = (recall @ 10)(fullrank.rank(recipes[name].fit(split.train), cases))
        people = models[name].people
        assert people["new"]["recall@10"] == pytest.approx(values[new].mean())
        assert people["known"]["recall@10"] == pytest.approx(values[~new].mean())
    assert models["IALS"].people["new"] == models["best"].people["new"]
    assert f"{new.mean():.0%} of the cases are of people without any training data" in warnings(comparison)


def test_without_new_people_nothing_is_shown_apart() -> None:
    comparison = compare(WORLD.data, ["bestseller"], split="holdout:0.2")
    assert by_name(comparison)["bestseller"].people == {}


def test_counts_taken_for_ratings_are_told() -> None:
    rng = np.random.default_rng(1)
    data = WORLD.data
    plays = Interactions.of(data.user, data.item, rng.integers(1, 500, len(data)))
    comparison = compare(plays, ["AllRank", "RSVD", "ials"], split="holdout:0.3")
    assert comparison.results.data.kind == "events"
    assert "AllRank, RSVD took counts as if they were ratings" in warnings(comparison)
    assert "took counts" not in warnings(compare(WORLD.data, ["AllRank"], split="holdout:0.3"))


def test_models_by_what_the_feedback_is() -> None:
    small, ordered = Interactions.of([1, 2], [1, 2]), Interactions.of([1, 2], [1, 2], time=[1, 2])
    assert "RecentItemCF" in defaults.recipes("events", ordered, "leave-last:5")
    assert "RecentItemCF" not in defaults.recipes("events", ordered, "time:0.2")
    assert "RecentItemCF" not in defaults.recipes("events", small, "leave-last:5")
    many = Ids.numbered(defaults.LARGEST + 1)
    assert "EASE" in defaults.recipes("events", Interactions.of([1], [1], users=many))  # few items: the primal
    assert "EASE" not in defaults.recipes("events", Interactions.of([1], [1], users=many, items=many))


def test_the_scale_of_ratings_decides_what_a_missing_one_is_taken_for() -> None:
    data = WORLD.data
    assert data.value is not None
    twice = Interactions(data.user, data.item, 2 * data.value, None, data.users, data.items)  # from 2 to 10
    models = by_name(compare(twice, ["AllRank"], split="holdout:0.3"))
    assert models["AllRank"].parameters["missing_value"] == 1.0


def test_new_and_known_people_by_other_metrics_when_a_comparison_goes_on(tmp_path: Path) -> None:
    """Models are kept, not what one list of metrics said of them."""
    options: dict[str, Any] = {"split": "time:0.4", "relevant": 4, "out": tmp_path}
    compare(in_time(), ["bestseller"], metrics=["recall@10"], **options)
    again = by_name(compare(in_time(), ["bestseller"], metrics=["ndcg@5"], **options))["bestseller"]
    alone = by_name(compare(in_time(), ["bestseller"], metrics=["ndcg@5"], **(options | {"out": None})))["bestseller"]
    assert again.people == alone.people
    assert set(again.people["new"]) == {"ndcg@5"}


def test_ratings_without_values_are_no_crash() -> None:
    events = Interactions.of([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 4])
    models = by_name(compare(events, ["bestseller"], kind="ratings", split="holdout:0.4"))
    assert models["bestseller"].parameters["relevant"] is None
