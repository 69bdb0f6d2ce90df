"""Every rule, and rules together, against scoring everything and filtering; what is unknown is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank import Attributes, Interactions, Rules, recommend
from fullrank.errors import ParameterError
from fullrank.models.neighbours.itemcf import ItemCF
from tests.recommending import brute
from tests.recommending.world import ABOUT, DATA, GENRES, MODELS, PEOPLE, YEARS

ITEMS = DATA.items.names.tolist()
USERS = DATA.users.names.tolist()


def check(name: str, rules: Rules, keep: Any = lambda code: True, n: int = 6, most: int = 0, **given: Any) -> None:
    """Lists of many and of one equal those by brute force."""
    model = MODELS[name]
    many = recommend(model, users=PEOPLE, n=n, rules=rules)
    for row, user in enumerate(PEOPLE):
        left, scores, popular = brute.candidates(model, user, keep, **given)
        places = list(range(len(left)))[:n]
        if most:
            places = brute.greedy(left, n, lambda place, _: -place, brute.within(left, GENRES, most))
        items = [ITEMS[left[place]] for place in places]
        one = recommend(model, user, n=n, rules=rules)
        assert many[user] == one.items == items
        assert many.score[row, : len(items)].tolist() == one.scores == [scores[place] for place in places]
        assert bool(many.popular[row]) == (one.fallback == "popular") == popular


@pytest.mark.identical
@pytest.mark.parametrize("name", MODELS)
def test_single_rules(name: str) -> None:
    check(name, Rules())
    check(name, Rules(repeat=True), repeat=True)
    check(name, Rules(exclude=ITEMS[:30]), lambda code: code >= 30)
    check(name, Rules(only=ITEMS[5:20]), lambda code: 5 <= code < 20)
    check(name, Rules(only=[]), lambda code: False)
    check(name, Rules(where="year >= 1980", items=ABOUT), lambda code: bool(YEARS[code]) and int(YEARS[code]) >= 1980)
    check(name, Rules(where="genre != 'Drama'", items=ABOUT), lambda code: bool(GENRES[code]) and code % 2 != 0)
    check(name, Rules(most={"genre": 2}, items=ABOUT), most=2)
    check(name, Rules(most={"genre": 1}, items=ABOUT), n=40, most=1)  # the pool grows to the whole catalogue
    check(name, Rules(), n=1)


@pytest.mark.identical
@pytest.mark.parametrize("name", MODELS)
def test_tables_of_people_and_items(name: str) -> None:
    rng = np.random.default_rng(0)
    pairs = [
        (USERS[user], ITEMS[item]) for user, item in zip(rng.integers(0, 8, 60), rng.integers(0, 50, 60), strict=True)
    ]
    pairs += [(PEOPLE[-1], ITEMS[3]), (PEOPLE[-1], ITEMS[9])]  # somebody unknown has rows too
    table = pl.DataFrame({"user": [user for user, _ in pairs], "item": [item for _, item in pairs]})
    check(name, Rules(allow=table), allow=pairs)
    check(name, Rules(deny=table), deny=pairs)
    more = [(USERS[user], ITEMS[user]) for user in range(8)]
    both = Rules(allow=table, deny=Interactions.of(*zip(*more, strict=True)), exclude=ITEMS[:4], repeat=True)
    check(name, both, lambda code: code >= 4, allow=pairs, deny=more, repeat=True)
    check(name, Rules(allow=table), n=2, allow=pairs)


def test_quotas_that_no_list_can_fill() -> None:
    """One of each of two kinds: lists of two, and nobody looks through the whole catalogue for a third."""
    kinds = Attributes(DATA.items, {"kind": tuple("A" if code < 47 else "B" for code in range(50))})
    for rules in (
        Rules(most={"kind": 1}, items=kinds),
        Rules(most={"kind": 1}, items=kinds, diversify="mmr:0.2", pool=3),
    ):
        many = recommend(MODELS["vectors"], users=PEOPLE, n=6, rules=rules)
        for user in PEOPLE:
            left, _, _ = brute.candidates(MODELS["vectors"], user, lambda code: True)
            best = [next((code for code in left if (code < 47) == first), None) for first in (True, False)]
            expected = sorted((code for code in best if code is not None), key=left.index)
            assert [DATA.items.code(item) for item in many[user]] == expected
            assert recommend(MODELS["vectors"], user, n=6, rules=rules).items == many[user]


SETS = st.lists(st.integers(0, 49), max_size=30, unique=True)
PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 49)), max_size=30, unique=True)


@pytest.mark.identical
@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(MODELS)), exclude=SETS, only=st.none() | SETS, repeat=st.booleans(), allow=PAIRS,
    deny=PAIRS, year=st.none() | st.integers(1960, 2010), most=st.integers(0, 3), n=st.integers(1, 12),
)  # fmt: skip
def test_rules_combine(
    name: str, exclude: list[int], only: list[int] | None, repeat: bool, allow: Any, deny: Any, year: int | None,
    most: int, n: int,
) -> None:  # fmt: skip
    tables = [[(USERS[user], ITEMS[item]) for user, item in pairs] for pairs in (allow, deny)]
    frames = [pl.DataFrame({"user": [u for u, _ in t], "item": [i for _, i in t]}) if t else None for t in tables]
    rules = Rules(
        exclude=[ITEMS[code] for code in exclude], only=None if only is None else [ITEMS[code] for code in only],
        repeat=repeat, allow=frames[0], deny=frames[1], items=ABOUT, most={"genre": most} if most else {},
        where=None if year is None else f"year < {year} or genre = 'Noir'",
    )  # fmt: skip

    def keep(code: int) -> bool:
        inside = code not in exclude and (only is None or code in only)
        early = year is None or bool(YEARS[code] and int(YEARS[code]) < year) or "Noir" in GENRES[code]
        return inside and early

    check(name, rules, keep, n=n, most=most, repeat=repeat, allow=tables[0], deny=tables[1])


def test_of_somebody_new_rules_hold_too() -> None:
    model = MODELS["vectors"]
    free = recommend(model, history=ITEMS[:3], n=50)
    assert not set(ITEMS[:3]) & set(free.items)
    rules = Rules(exclude=free.items[:5], where="genre = 'Comedy'", items=ABOUT)
    expected = [item for item in free.items[5:] if "Comedy" in GENRES[DATA.items.code(item)]]
    assert recommend(model, history=ITEMS[:3], n=4, rules=rules).items == expected[:4]
    assert ITEMS[0] in recommend(model, history=ITEMS[:3], n=50, repeat=True).items


def test_unknown_ids_are_told_and_do_no_harm() -> None:
    model = MODELS["vectors"]
    rules = Rules(
        exclude=[-1, ITEMS[0], -2, -3, -4], only=[*ITEMS, -9], deny={"user": [-5, USERS[0]], "item": [ITEMS[1], -6]},
    )  # fmt: skip
    many = recommend(model, users=[USERS[0], -7, USERS[0]], n=50, rules=rules)
    assert many.notes == (
        "only: 1 of 51 items are unknown to the model: -9",
        "exclude: 4 of 5 items are unknown to the model: -1, -2, -3, ...",
        "deny: 1 of 2 people are unknown to the model: -5",
        "deny: 1 of 2 items are unknown to the model: -6",
        "1 of 3 users were asked for twice",
        "1 of 2 users are unknown to the model: -7; they get what is popular",
    )
    assert recommend(model, USERS[0], n=50, rules=rules).notes == many.notes[:4]
    assert many[USERS[0]] == recommend(model, USERS[0], n=50, exclude=[ITEMS[0]]).items
    assert many.popular.tolist() == [False, True]


def test_whoever_is_allowed_only_unknown_items_gets_nothing() -> None:
    rules = Rules(allow={"user": [USERS[0]], "item": [-1]})
    assert recommend(MODELS["rows"], USERS[0], rules=rules).items == []
    assert recommend(MODELS["rows"], users=USERS[:2], rules=rules)[USERS[0]] == []


def test_of_equal_scores_all_are_looked_at() -> None:
    """A list of equal scores is what is popular only if everything else that might be in it has that score too."""
    train = Interactions.of([1, 1, 2, 2, 3, 4], ["a", "b", "a", "c", "d", "e"])
    model = ItemCF(shrink=0, neighbours=1).fit(train)
    for user in (1, 2, 3, 4):
        for n in (1, 2, 5):
            for rules in (
                None,
                Rules(exclude=["a"]),
                Rules(only=["d", "e", "c"]),
                Rules(allow={"user": [user] * 2, "item": ["d", "e"]}),
            ):
                one, many = recommend(model, user, n=n, rules=rules), recommend(model, users=[user], n=n, rules=rules)
                assert (one.items, one.scores) == (many[user], many.score[0, : len(one.items)].tolist())
                assert (one.fallback == "popular") == bool(many.popular[0])
    assert recommend(model, 3, exclude=np.array(["a"])).items == recommend(model, 3, exclude=["a"]).items
    assert recommend(model, 3, n=1).fallback == recommend(model, 3, n=9).fallback == "popular"
    assert recommend(model, 1, n=1).fallback == ""


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"exclude": "tea"}, "must be a list of items"),
        ({"repeat": 1}, "'repeat' parameter must be True or False"),
        ({"most": {"genre": 0}}, "'most of genre' parameter must be an integer >= 1"),
        ({"most": {"genre": 2}}, "most: nothing is known of items"),
        ({"where": "year > 3"}, "where: nothing is known of items"),
        ({"pool": 0}, "'pool' parameter"),
        ({"diversify": "mnr:0.3"}, "'mnr' is no way. Did you mean 'mmr'"),
        ({"diversify": "mmr:x"}, "is not like mmr:0.3"),
        ({"diversify": "mmr:1.5"}, "is not like mmr:0.3, with a number from 0 to 1"),
    ],
)
def test_what_is_no_rule(given: Any, match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        Rules(**given)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"most": {"gendre": 2}, "items": ABOUT}, "no column 'gendre'. Did you mean 'genre'"),
        ({"diversify": "calibrated:0.5"}, "needs to know something of items"),
        ({"diversify": "mmr:0.5:colour", "items": ABOUT}, "no column 'colour'"),
        ({"diversify": "mmr:0.5"}, "has no vectors of items"),
    ],
)
def test_what_a_model_cannot_follow(given: Any, match: str) -> None:
    with pytest.raises(Exception, match=match):
        recommend(MODELS["rows"], USERS[0], rules=Rules(**given))
