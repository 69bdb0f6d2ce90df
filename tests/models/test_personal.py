"""The personal frequency list: what people took most often, then what is popular."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank
from fullrank import Bestseller, PersonalFrequency
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions

BOUGHT = Interactions.of(
    ["ann", "ann", "bob", "bob", "cat"],
    ["tea", "jam", "tea", "nuts", "tea"],
    [1, 3, 1, 2, 5],
    users=Ids(["ann", "bob", "cat", "dan"]),
    items=Ids(["tea", "jam", "nuts", "salt"]),
)


def test_by_hand() -> None:
    model = PersonalFrequency(popularity=2).fit(BOUGHT)
    popular = np.array([3, 1, 1, 0]) * 2 / 4  # of the people of an item, over one more than the most
    own = np.array([[1, 3, 0, 0], [1, 0, 2, 0], [5, 0, 0, 0], [0, 0, 0, 0]])
    assert model.scores(np.arange(4)).tolist() == (own + popular).tolist()  # type: ignore[arg-type]
    assert model.scores([2, 0]).tolist() == (own + popular)[[2, 0]].tolist()  # type: ignore[arg-type]
    new = model.history_scores(np.array([3, 1]), np.array([2.0, 1.0]))  # type: ignore[arg-type]
    assert new.tolist() == (popular + np.array([0, 1, 0, 2])).tolist()


def test_who_took_it_last_time_gets_it_again() -> None:
    model = PersonalFrequency().fit(BOUGHT)
    assert fullrank.recommend(model, "ann", n=3, repeat=True).items == ["jam", "tea", "nuts"]
    assert fullrank.recommend(model, history={"salt": 4}, n=2, repeat=True).items == ["salt", "tea"]


@pytest.mark.parametrize("popularity", [0.5, 2.0])
def test_without_a_history_and_without_what_was_seen_it_is_a_bestseller_list(popularity: float) -> None:
    model, list_of_all = PersonalFrequency(popularity).fit(BOUGHT), Bestseller().fit(BOUGHT)
    for who in ("dan", "nobody", "bob"):
        assert fullrank.recommend(model, who).items == fullrank.recommend(list_of_all, who).items
    assert fullrank.recommend(model, "dan").fallback == "popular"


@pytest.mark.parametrize(("popularity", "first"), [(0.9, "jam"), (40.0, "tea")])
def test_popularity_is_what_the_most_popular_counts_as(popularity: float, first: str) -> None:
    assert fullrank.recommend(PersonalFrequency(popularity).fit(BOUGHT), "ann", n=1, repeat=True).items == [first]


def test_plain_events_count_1() -> None:
    events = Interactions.of([1, 1, 2], ["tea", "jam", "tea"])
    assert PersonalFrequency(3).fit(events).scores([1]).tolist() == [[1.0, 3.0]]  # type: ignore[arg-type]


def test_what_is_bought_again_is_ranked_first_where_seen_items_are_candidates() -> None:
    split = fullrank.Split(BOUGHT, BOUGHT.where(BOUGHT.value >= 3), how="bought again")  # type: ignore[operator]
    again = fullrank.rank(PersonalFrequency().fit(BOUGHT), split, exclude=None)
    assert again.above.tolist() == [0, 0]
