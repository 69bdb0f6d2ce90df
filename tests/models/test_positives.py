"""What counts as positive: nobody learns from dislikes as if they were likes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullrank
from fullrank import IALS, AllRankBinary, Bestseller, GaussianRank, Interactions, ItemCF, PureSVD
from fullrank.errors import DataError, ParameterError
from fullrank.models.positives import liked, positives, threshold
from fullrank.models.recipes import RECIPES

#  user a: 1 2 5, user b: 4 4 5, user c: 1 1
RATINGS = Interactions.of(["a", "a", "a", "b", "b", "b", "c", "c"], [1, 2, 3, 1, 2, 4, 3, 4], [1, 2, 5, 4, 4, 5, 1, 1])
ONE_CLASS = [name for name, kind in RECIPES.items() if "relevant" in kind.__dataclass_fields__]


def pairs(rows: Interactions) -> list[tuple[Any, Any]]:
    return [(rows.users.name(u), rows.items.name(i)) for u, i in zip(rows.user, rows.item, strict=True)]


def test_what_counts_by_hand() -> None:
    assert pairs(positives(IALS(relevant=4), RATINGS)) == [("a", 3), ("b", 1), ("b", 2), ("b", 4)]
    assert pairs(positives(IALS(relevant="25%"), RATINGS)) == [("a", 3), ("b", 4)]  # 2 of 8 reach 5
    assert pairs(positives(IALS(relevant="30%"), RATINGS)) == [("a", 3), ("b", 1), ("b", 2), ("b", 4)]
    own = [("a", 3), ("b", 4), ("c", 3), ("c", 4)]  # means 8/3, 13/3, 1
    assert pairs(positives(IALS(relevant="own mean"), RATINGS)) == own
    assert positives(IALS(), RATINGS) is RATINGS


def test_recipes_of_one_class_all_have_the_threshold() -> None:
    expected = {
        "AllRankBinary", "BPR", "Bestseller", "EASE", "GaussianRank", "HistoryBPR", "IALS", "ItemCF", "MFADG", "MFAUC",
        "PureSVD", "RecentItemCF", "SoftmaxNegatives", "SquaredNegatives",
    }  # fmt: skip
    assert expected <= set(ONE_CLASS)


def short(name: str, **more: Any) -> Any:
    names = RECIPES[name].__dataclass_fields__
    few = {"factors": 4, "sweeps": 3, "epochs": 3}
    return RECIPES[name](**{key: value for key, value in few.items() if key in names}, **more)


@pytest.mark.parametrize("name", ONE_CLASS)
@pytest.mark.parametrize("relevant", [4, "40%", "own mean"])
def test_a_model_is_that_of_the_rows_that_count(name: str, relevant: Any) -> None:
    """Fitted with a threshold, or on the rows above it alone: the same scores for everybody and for somebody new."""
    data = fullrank.simulate.ratings(60, 50, seed=3).data
    recipe = short(name, relevant=relevant, **({"by": "relevant"} if name == "Bestseller" else {}))
    kept = data.relevant(threshold(relevant, data))
    assert 0 < len(kept) < len(data)
    mine, other = recipe.fit(data, seed=1), replace(recipe, relevant=None).fit(kept, seed=1)
    everybody = np.arange(data.n_users)
    np.testing.assert_array_equal(mine.scores(everybody), other.scores(everybody))
    assert data.value is not None
    assert kept.value is not None
    if relevant != "own mean":
        for user in (0, 7):
            rows, few = data.user == user, kept.user == user
            np.testing.assert_allclose(
                mine.history_scores(data.item[rows], data.value[rows]),
                other.history_scores(kept.item[few], kept.value[few]), rtol=1e-5, atol=1e-6,
            )  # fmt: skip


@pytest.mark.parametrize("recipe", [IALS(4, relevant=4), PureSVD(4, relevant=4), AllRankBinary(4, relevant=4)])
def test_new_items_are_folded_in_by_the_rows_that_count(recipe: Any) -> None:
    data = fullrank.simulate.ratings(60, 50, seed=3).data
    kept = data.relevant(4)
    mine, other = recipe.fit(data), replace(recipe, relevant=None).fit(kept)
    item = int(kept.popularity.argmax())
    rows, few = data.item == item, kept.item == item
    assert 0 < few.sum() < rows.sum()
    folded = mine.fold_in_item(data.user[rows], data.value[rows])  # type: ignore[index]
    np.testing.assert_allclose(folded, other.fold_in_item(kept.user[few], kept.value[few]), atol=1e-6)  # type: ignore[index]


def test_own_means_of_new_items_are_those_of_their_users() -> None:
    recipe = IALS(2, relevant="own mean")
    model = recipe.fit(RATINGS)
    users = np.arange(3, dtype=np.int32)
    #  the means are 2.67, 4.33 and 1: of a new item rated 3 by all, a's and c's count
    some = model.fold_in_item(users, np.full(3, 3, dtype=np.float32))
    same = replace(recipe, relevant=None).fit(positives(recipe, RATINGS))
    np.testing.assert_allclose(some, same.fold_in_item(users[[0, 2]], np.ones(2, dtype=np.float32)), atol=1e-6)


@pytest.mark.parametrize("wrong", ["5", "0%", "101%", "-3%", "mean", float("nan"), float("inf"), True, [4]])
@pytest.mark.parametrize("name", ONE_CLASS)
def test_what_says_nothing_about_values_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="'relevant' parameter must be None, a number, a share such as '30%'"):
        RECIPES[name](relevant=wrong)


def test_thresholds_need_values_that_reach_them() -> None:
    events = Interactions.of([1, 2], [1, 2])
    for recipe in (IALS(relevant=3), ItemCF(relevant="30%"), GaussianRank(relevant="own mean")):
        with pytest.raises(DataError, match="no values to be relevant at; use relevant=None"):
            recipe.fit(events)
    with pytest.raises(DataError, match="ItemCF: no value is at or above 9; lower `relevant`"):
        ItemCF(relevant=9).fit(RATINGS)


def test_an_item_named_without_a_value_is_liked() -> None:
    assert liked(IALS(), Interactions.of([1, 2], [1, 2])) == 1
    assert liked(IALS(relevant=2), RATINGS) == 4  # of 2 4 4 5 5 the middle
    assert liked(fullrank.AllRank(), RATINGS) == 5  # of the better half, 4 4 5 5
    model = IALS(2, relevant=4).fit(RATINGS)
    assert fullrank.recommend(model, history=[3]).scores == fullrank.recommend(model, history={3: 5.0}).scores


@given(st.lists(st.integers(1, 5), min_size=1, max_size=40), st.integers(1, 100))
def test_a_share_is_reached_by_at_least_so_many_and_no_higher_value_is(values: list[int], share: int) -> None:
    data = Interactions.of(np.zeros(len(values), dtype=int), np.arange(len(values)), values)
    least = threshold(f"{share}%", data)
    given_values = np.array(values)
    assert (given_values >= least).mean() >= share / 100
    higher = [value for value in set(values) if value > least]
    assert all((given_values >= value).mean() < share / 100 for value in higher)


def test_bestsellers_by_what_counts() -> None:
    assert Bestseller("relevant", "own mean").fit(RATINGS).items.tolist() == [0, 0, 2, 2]
