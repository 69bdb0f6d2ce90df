"""Anybody's lists: exact where they are long enough, within bounds where they end, and nobody dropped."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullrank
from fullrank import Ids, OutsideLists, Split, cases_of, evaluate, rank
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation import lists as irregularities
from fullrank.evaluation.bounds import best_case
from fullrank.evaluation.lists import rank_lists, top_lists
from fullrank.metrics.table import parse
from fullrank.ranks import Ranks

NAMES = "recall@1 recall@2 ndcg@2 ap@3 rr@2 recall@4 ndcg rr ap adg atop auc mean_rank topk@0.4 atop@3 graded_ndcg"
METRICS = [parse(name) for name in NAMES.split()]


def one_person(items: int, seen: list[int], held: list[int], grade: list[float]) -> Split[Any]:
    """Somebody with a history and held-out items, and somebody else so that the catalogue has all items."""
    rows = [1] * len(seen) + [2] * items, [*seen, *range(items)], np.ones(len(seen) + items, dtype=np.float32)
    whole = Interactions.of(*rows, users=Ids([1, 2]))
    after = Interactions.of([1] * len(held), held, grade, users=whole.users, items=whole.items)
    return Split(whole, after)


@st.composite
def games(draw: st.DrawFn) -> tuple[Split[Any], list[int], list[float]]:
    items = draw(st.integers(3, 6))
    order = draw(st.permutations(range(items)))
    seen = draw(st.integers(0, items - 2))
    held = draw(st.integers(1, min(3, items - seen)))
    grade = draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=held, max_size=held))
    listed = draw(st.permutations(order[seen:]))[: draw(st.integers(1, items - seen))]
    scores = sorted(draw(st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0]), min_size=len(listed), max_size=len(listed))))
    return one_person(items, order[:seen], order[seen : seen + held], grade), list(listed), scores[::-1]


@given(game=games())
@settings(max_examples=150)
def test_bounds_are_the_worst_and_best_of_all_orders(game: tuple[Split[Any], list[int], list[float]]) -> None:
    """Every full ranking that begins with the list, by brute force: the least and the largest value, no wider."""
    split, listed, scores = game
    cases = cases_of(split)
    ranks = rank(OutsideLists.of([1] * len(listed), listed, score=scores), cases)
    found = evaluate(ranks, METRICS)
    rest = [item for item in range(split.train.n_items) if item not in listed]
    values = []
    for order in permutations(rest):
        row = np.zeros((2, split.train.n_items))
        row[0, listed], row[0, list(order)] = scores, -1.0 - np.arange(len(order))
        values.append(evaluate(rank(row, cases), METRICS).values[0])
    low, high = np.min(values, axis=0), np.max(values, axis=0)
    bounds = found.bounds()
    for column, name in enumerate(found.names):
        least, most = bounds.get(name, (found.values[0, column],) * 2)
        cut = METRICS[column].k
        if name in bounds or (isinstance(cut, int) and cut <= len(listed)):
            assert (least, most) == pytest.approx((low[column], high[column]), abs=1e-12), name
        elif high[column] - low[column] > 1e-12:  # a list of fewer than k shows fewer, and that is all there is to know
            raise AssertionError(f"{name} is open and not told")


@given(game=games(), data=st.data())
@settings(max_examples=100)
def test_what_is_irregular_changes_nothing_else(game: Any, data: st.DataObject) -> None:
    """Duplicates and seen items anywhere in a list leave the ranks as they are, but for what they leave open."""
    split, listed, _ = game
    cases = cases_of(split)
    mended = rank(OutsideLists.of([1] * len(listed), listed), cases)
    spoiled = list(listed)
    seen = split.train.item[split.train.user == 0].tolist()
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.sampled_from([*listed, *seen]))
        earliest = spoiled.index(first) + 1 if first in spoiled else 0
        spoiled.insert(data.draw(st.integers(earliest, len(spoiled))), first)
    ranks = rank(OutsideLists.of([1] * len(spoiled), spoiled), cases)
    for column in ("above", "tied", "relevant_above", "pool", "unlisted", "listed"):
        assert getattr(ranks, column).tolist() == getattr(mended, column).tolist()
    assert ranks.shortened.all()
    assert sum(ranks.about.irregular.values()) == len(spoiled) - len(listed)


def test_every_irregularity_is_counted() -> None:
    split = one_person(6, [0, 1], [2, 3], [1, 1])
    lists = OutsideLists.of([1] * 7 + [9], [4, 4, 0, 77, 2, 88, 77, 3], rank=[1, 2, 3, 4, 5, 6, 7, 1])
    ranks = rank(lists, split)
    assert ranks.about.irregular == {
        irregularities.UNKNOWN_PEOPLE: 1,  # 9
        irregularities.TWICE: 2,  # 4 and 77
        irregularities.SEEN: 1,  # 0
        irregularities.OUTSIDE: 2,  # 77 and 88
    }
    # left: 4 2; item 3 is in no list and stands behind 4 and 5, the two irrelevant candidates
    assert ranks.above.tolist() == [1, 2]
    assert ranks.unlisted.tolist() == [False, True]
    result = evaluate(ranks, [parse("recall@1"), parse("recall@2"), parse("recall@3")])
    assert result.mean() == {"recall@1": 0.0, "recall@2": 0.5, "recall@3": 0.5}
    assert result.bounds() == {"recall@3": (0.5, 1.0)}  # five were taken out of seven: what comes third is not known
    with pytest.raises(DataError, match=r"mine: 1 people who are not in the data.*2 items that were in the list"):
        rank_lists(lists, cases_of(split), name="mine", strict=True)


def test_somebody_without_a_list_stays_in_and_scores_nothing() -> None:
    data = Interactions.of([1, 1, 2, 2, 3], [1, 2, 1, 3, 3])
    split = Split(data.where(data.item == 0), data.where(data.item != 0))
    lists = OutsideLists.of([1, 2], [2, 3])
    result = evaluate(rank(lists, split), [parse("recall@1"), parse("auc")])
    assert len(result) == 3
    assert result.mean()["recall@1"] == pytest.approx(2 / 3)
    assert result.about.irregular == {irregularities.WITHOUT: 1}
    assert result.bounds() == {"auc": (pytest.approx(2 / 3), 1.0)}


def test_nobody_scores_for_an_empty_place() -> None:
    """Who has one candidate left and gets no list is shown nothing, though any order would put it first."""
    split = one_person(4, [0, 1, 2], [3], [1])
    lists = OutsideLists.of([2, 2], [0, 1])
    assert evaluate(rank(lists, split), [parse("recall@2")]).mean() == {"recall@2": 0.0}


@pytest.fixture(scope="module")
def world() -> tuple[Any, Split[Any], Any]:
    data = fullrank.simulate.ratings(120, 150, seed=4).data
    split = fullrank.holdout(data, 0.3, seed=1)
    return fullrank.BPR(factors=6, epochs=4).fit(split.train), split, cases_of(split, 4)


def test_lists_of_everything_are_the_ranking_itself(world: Any) -> None:
    model, split, cases = world
    frame = fullrank.top(model, split, 150, users=cases.user).to_frame()
    whole, listed = rank(model, cases), rank(fullrank.read_lists(frame), cases)
    for column in ("above", "tied", "relevant_above", "pool", "start", "item", "user"):
        assert getattr(whole, column).tolist() == getattr(listed, column).tolist()
    assert not listed.unlisted.any()


@pytest.mark.parametrize("n", [3, 10, 40])
def test_lists_of_a_model_say_what_its_scores_say(world: Any, n: int) -> None:
    model, split, cases = world
    metrics = [parse(f"{name}@{n}") for name in ("recall", "ndcg", "ap", "rr", "hit_rate", "precision")]
    metrics += [parse(name) for name in ("auc", "atop", "adg", "ndcg", "mean_rank")]
    frame = fullrank.top(model, split, n).to_frame().sample(fraction=1.0, shuffle=True, seed=n)
    found = evaluate(rank(fullrank.read_lists(frame), cases), metrics)
    exact = evaluate(rank(model, cases), metrics).mean()
    assert set(found.bounds()) == {"auc", "atop", "adg", "ndcg", "mean_rank"}
    for name, (low, high) in found.bounds().items():
        assert low < exact[name] < high
    for name in (str(metric) for metric in metrics[:6]):
        assert found.mean()[name] == pytest.approx(exact[name], abs=1e-12)


def test_the_first_items_of_lists(world: Any) -> None:
    model, split, cases = world
    best = fullrank.top(model, split, 12, users=cases.user)
    assert np.array_equal(top_lists(fullrank.read_lists(best.to_frame()), cases, 5).item, best.item[:, :5])


def test_sampled_candidates_are_refused(world: Any) -> None:
    _, _, cases = world
    with pytest.raises(ParameterError, match="lists say nothing of samples"):
        rank(OutsideLists.of([1], [1]), cases, fullrank.Sampled(10))


def test_a_pair_is_told_apart_only_where_every_order_agrees() -> None:
    cut = {"start": [0, 1, 2, 3], "tied": [0, 0, 0], "pool": [9, 9, 9], "user": [0, 1, 2], "item": [0, 0, 0]}
    sure = Ranks(above=[0, 0, 0], **cut)
    about = fullrank.ranks.About(longest=2)
    listed = {"listed": [2, 2, 2], "shortened": [False] * 3, "about": about, **cut}
    opened = Ranks(above=[9, 9, 9], unlisted=[True] * 3, **listed)
    metric = [parse("rr"), parse("recall@2")]
    one, two = evaluate(sure, metric), evaluate(opened, metric)
    assert two.bounds() == {"rr": (pytest.approx(0.1), pytest.approx(1 / 3))}
    assert "rr=0.1000 to 0.3333, recall@2=0.0000" in repr(two)
    assert "<td>0.1000 to 0.3333</td>" in two._repr_html_()
    assert one.versus(two)["rr"].difference == pytest.approx(1 - 1 / 3)
    assert two.versus(one)["rr"].difference == pytest.approx(1 / 3 - 1)
    assert two.versus(two)["rr"].difference == 0.0
    assert best_case(opened).above.tolist() == [2, 2, 2]
