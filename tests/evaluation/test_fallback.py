"""Whom a model knows nothing of is ranked by what they would be served."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import IALS, Bestseller, Ids, Interactions, ItemCF, Sampled, Split
from fullrank.evaluation.fallback import NEW, SILENT, all_equal, equal_scores, popular
from fullrank.metrics import recall
from fullrank.ranks import Ranks

#  items 0..9 in the order of their popularity turned around: 9 is the bestseller; users 0..7 are known, 8 and 9 are new
USERS, ITEMS = Ids.numbered(10), Ids.numbered(10)


def split() -> Split[Interactions]:
    user, item = zip(*((u, i) for u in range(8) for i in range(10) if i >= 9 - u), strict=True)
    train = Interactions.of(user, item, users=USERS, items=ITEMS)
    held = Interactions.of([2, 3, 8, 8, 9], [0, 1, 8, 0, 9], users=USERS, items=ITEMS)
    return Split(train, held, how="by hand")


@pytest.mark.parametrize("recipe", [IALS(2), fullrank.BPR(2, epochs=2), fullrank.GaussianRank(2, epochs=2), ItemCF()])
@pytest.mark.parametrize("candidates", [None, Sampled(3, 5), Sampled(4, 2, replace=True), Sampled(3, 1, per="pair")])
def test_new_people_get_bestsellers(recipe: Any, candidates: Any) -> None:
    parts = split()
    model = recipe.fit(parts.train)
    ranks = fullrank.rank(model, parts, candidates)
    best = fullrank.rank(Bestseller().fit(parts.train), parts, candidates)
    bare = fullrank.rank(model.scores, parts, candidates)
    new = np.isin(ranks.user, [8, 9])
    for name in ("above", "tied", "relevant_above"):
        mine, theirs, own = (getattr(part, name)[part.case != -1] for part in (ranks, best, bare))
        row = new[ranks.case]
        assert mine[row].tolist() == theirs[row].tolist()
        assert mine[~row].tolist() == own[~row].tolist()
    assert ranks.pool.tolist() == bare.pool.tolist()
    assert ranks.user.tolist() == bare.user.tolist()
    assert ranks.about.fallback[NEW] == 2
    assert not best.about.fallback


def test_the_list_is_what_recommend_gives() -> None:
    parts = split()
    model = IALS(2).fit(parts.train)
    ranks, lists = fullrank.rank_and_top(model, parts, 10)
    assert lists.user.tolist() == [2, 3, 8, 9]
    alone = fullrank.top(model, parts, 10, users=lists.user)
    assert alone.item.tolist() == lists.item.tolist()
    for row, user in enumerate(lists.user.tolist()):
        served = fullrank.recommend(model, user)
        assert served.items == lists.names(row)
        assert served.fallback == ("popular" if user >= 8 else "")
    assert ranks.all_above[ranks.case >= 2].tolist() == [8, 1, 0]  # nobody has met items 0 and 1


def two_islands() -> Split[Interactions]:
    """Items 0..4 and 5..9 are never met together; user 9 knows item 10 only, which nobody else has met."""
    user = [*np.repeat(np.arange(4), 4), *np.repeat(np.arange(4, 9), 3), 9]
    item = [*[1, 2, 3, 4] * 4, *[5, 6, 7] * 5, 10]
    train = Interactions.of(user, item, users=USERS, items=Ids.numbered(11))
    held = Interactions.of([0, 4, 9], [0, 8, 6], users=USERS, items=Ids.numbered(11))
    return Split(train, held)


@pytest.mark.parametrize("candidates", [None, Sampled(4, 3)])
def test_where_all_scores_are_equal_bestsellers_are_served(candidates: Any) -> None:
    parts = two_islands()
    model = ItemCF().fit(parts.train)
    ranks = fullrank.rank(model, parts, candidates)
    assert ranks.about.fallback == {SILENT: 3}  # 0 and 4 have met all that is similar to what they know
    best = fullrank.rank(Bestseller().fit(parts.train), parts, candidates)
    assert ranks == best
    served = fullrank.recommend(model, 9, n=3)
    assert (served.items, served.scores, served.fallback) == ([5, 6, 7], [5, 5, 5], "popular")
    assert fullrank.top(model, parts, 3, users=np.array([9])).names(0) == [5, 6, 7]


def test_the_rest_of_a_list_is_what_is_popular() -> None:
    """An item-item model that knows two similar items serves them, then bestsellers, not the first of the catalogue."""
    parts = two_islands()
    extra = Interactions.of([9], [5], users=USERS, items=parts.train.items)
    both = parts.train.where(np.ones(len(parts.train), dtype=bool))
    train = Interactions.of([*both.user, *extra.user], [*both.item, *extra.item], users=USERS, items=parts.train.items)
    served = fullrank.recommend(ItemCF().fit(train), 9, n=6)
    assert set(served.items[:2]) == {6, 7}
    assert served.items[2:] == [1, 2, 3, 4]
    assert served.scores[2:] == [0, 0, 0, 0]
    assert served.fallback == ""


def test_known_people_without_positives_are_new_to_a_one_class_model() -> None:
    data = Interactions.of([1, 1, 2, 2, 3, 3], ["a", "b", "a", "c", "b", "c"], [5, 5, 5, 4, 1, 2])
    model = IALS(2, relevant=4).fit(data)
    assert model.knows(np.arange(3, dtype=np.int32)).tolist() == [True, True, False]
    served = fullrank.recommend(model, 3)
    assert (served.items, served.fallback) == (["a"], "popular")  # what they have seen is still left out


def test_all_equal_is_seen_in_ranks() -> None:
    ranks = Ranks(start=[0, 2, 3, 4, 5], above=[0, 0, 0, 1, 0], tied=[3, 3, 2, 0, 0], pool=[3, 3, 1, 0])
    assert all_equal(ranks).tolist() == [True, False, False, False]
    parts = two_islands()
    model = ItemCF().fit(parts.train)
    hidden = [(parts.train.starts, parts.train.item)]
    assert equal_scores(model, np.array([0, 9], dtype=np.int32), []).tolist() == [False, True]
    assert equal_scores(model, np.array([0, 9], dtype=np.int32), hidden).tolist() == [True, True]
    assert popular(parts.train).items.tolist() == [0, 4, 4, 4, 4, 5, 5, 5, 0, 0, 1]


def test_bare_scores_are_ranked_by_the_function() -> None:
    parts = two_islands()
    model = ItemCF().fit(parts.train)
    bare = fullrank.rank(model.scores, parts)
    assert not bare.about.fallback
    assert (bare.tied == bare.pool).all()


def test_a_result_tells_how_often() -> None:
    parts = split()
    result = fullrank.evaluate(fullrank.rank(IALS(2).fit(parts.train), parts), [recall @ 3])
    assert any("2 of 4 cases were ranked by what is popular: nothing is known of them" in note for note in result.notes)
