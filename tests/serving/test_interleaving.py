"""Team draft, by hand and against its definition."""

from __future__ import annotations

from collections import Counter
from itertools import product, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.errors import ParameterError
from fullrank.serving.experiments import Interleaved, credit, flips, interleave


def test_by_hand() -> None:
    one, two = ["a", "b", "c", "d"], ["b", "e", "a", "f"]
    first, second = repeat(True), repeat(False)
    assert interleave(one, two, 4, first) == Interleaved(("a", "b", "c", "e"), (0, 1, 0, 1))
    assert interleave(one, two, 4, second) == Interleaved(("b", "a", "e", "c"), (1, 0, 1, 0))
    assert interleave(one, one, 3, second) == Interleaved(("a", "b", "c"), (1, 0, 1))
    assert interleave(one, two, 0, first) == Interleaved((), ())


def test_what_only_one_list_has_left_belongs_to_neither_team() -> None:
    assert interleave(["a"], ["b", "c", "d"], 4, repeat(True)) == Interleaved(("a", "b", "c", "d"), (0, 1, -1, -1))
    assert interleave([], ["b", "c"], 3, repeat(True)) == Interleaved(("b", "c"), (-1, -1))
    assert credit(Interleaved(("a", "b", "c"), (0, 1, -1)), ["c", "a"]) == (1, 0)


ranking = st.permutations(range(8)).flatmap(lambda order: st.integers(0, 8).map(lambda n: order[:n]))


@given(ranking, ranking, st.integers(0, 12), st.text(max_size=3))
def test_teams_take_turns_and_pick_their_best(one: list[int], two: list[int], n: int, word: str) -> None:
    items, team = interleave(one, two, n, flips("salt", word))
    assert len(items) == len(set(items)) == min(n, len({*one, *two}))
    for place, (item, who) in enumerate(zip(items, team, strict=True)):
        before = items[:place]
        left = [[x for x in ranked if x not in before] for ranked in (one, two)]
        picks = team[:place].count(0), team[:place].count(1)
        due = {0, 1} if picks[0] == picks[1] else {int(picks[1] < picks[0])}
        assert (who == -1) == (not all(left[one] for one in due))
        if who >= 0:
            assert who in due
            assert item == left[who][0]
    assert interleave(one, two, n, flips("salt", word)) == (items, team)


def test_equal_lists_win_as_often_over_all_coins() -> None:
    credits = Counter(
        credit(interleave("abcd", "abcd", 4, iter(coin)), "ad") for coin in product([True, False], repeat=2)
    )
    assert credits[(2, 0)] == credits[(0, 2)] > 0


def test_a_short_list_is_not_at_an_advantage() -> None:
    for coin in (True, False):
        items, team = interleave("a", "bcd", 4, repeat(coin))
        assert dict(zip(items, team, strict=True)) == {"a": 0, "b": 1, "c": -1, "d": -1}


def test_a_coin_is_fair_and_its_own() -> None:
    heads = sum(next(flips("salt", str(n))) for n in range(10_000))
    assert abs(heads - 5000) < 250
    assert [next(flips("x", str(n))) for n in range(50)] != [next(flips("y", str(n))) for n in range(50)]


def test_a_list_with_repeats_is_refused() -> None:
    with pytest.raises(ParameterError, match="'two' parameter must be a list without repeated items"):
        interleave(["a"], ["b", "b"], 2, repeat(True))
