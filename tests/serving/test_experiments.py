"""Experiments whose truth is known: no claim where there is nothing, a claim where there is something, at any time."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullrank.errors import DataError, ParameterError
from fullrank.serving.betting import judge_mean, paths, weigh
from fullrank.serving.experiments import Judged, judge_interleaving, judge_split
from tests.serving.worlds import most_by_chance, split_rows

EVEN = {"a": 0.5, "b": 0.5}
FEW_B = {"a": 0.9, "b": 0.1}
SAME = {"a": 0.2, "b": 0.2}


def first(rows: dict[str, Any], n: int) -> dict[str, Any]:
    return {name: column[:n] for name, column in rows.items()}


@pytest.mark.parametrize("draw", ["coin", "beta", "rare"])
def test_a_mean_is_ever_called_wrong_in_at_most_5_percent(draw: str) -> None:
    """Somebody who looks after every single one of 500 people, in 2,000 experiments."""
    rng, repeats = np.random.default_rng(1), 2000
    worlds = {
        "coin": (lambda: rng.integers(0, 2, 500) * 1.0, 0.5), "beta": (lambda: rng.beta(0.5, 1.5, 500), 0.25),
        "rare": (lambda: (rng.random(500) < 0.02) * 1.0, 0.02),
    }  # fmt: skip
    make, mean = worlds[draw]
    wrong = sum(bool((paths(make(), (0, 1), mean, 0.95) <= 0.05).any()) for _ in range(repeats))
    assert wrong <= most_by_chance(0.05, repeats)
    assert wrong > 0  # looking at 500 moments, a procedure that never errs never says anything


def test_a_path_is_what_looking_every_time_shows() -> None:
    x = np.random.default_rng(2).beta(2, 3, 60)
    p = paths(x, (0, 1), 0.3, 0.9)
    looks = [judge_mean(x[:n], (0, 1), 0.3, 0.9) for n in range(1, 61)]
    assert p == pytest.approx([look.p for look in looks], rel=1e-9)
    assert [look.p <= 0.1 for look in looks] == [not look.low <= 0.3 <= look.high for look in looks]
    assert {look.p <= 0.1 for look in looks} == {True, False}


def test_the_capital_is_the_product_of_what_bets_win() -> None:
    """By hand: stakes from earlier outcomes only, at most half of the capital lost."""
    x, m, bar = [0.9, 0.2, 0.7], 0.4, np.log(2 / 0.05)
    mean, squares, capital = [0.5], [0.25], 1.0
    for t, value in enumerate(x, 1):
        stake = min(np.sqrt(2 * bar / (squares[-1] / t * t * np.log(t + 1))), 0.5 / m)
        capital *= 1 + stake * (value - m)
        mean.append((0.5 + sum(x[:t])) / (t + 1))
        squares.append(squares[-1] + (value - mean[-1]) ** 2)
    assert paths(np.array(x), (0, 1), m, 0.95)[-1] == pytest.approx(min(1, 2 / capital))
    assert judge_mean(np.array(x) * 10 - 5, (-5, 5), -1, 0.95).p == pytest.approx(min(1, 2 / capital))


@pytest.mark.parametrize("shares", [EVEN, FEW_B], ids=["even", "90 to 10"])
def test_a_against_a_is_claimed_in_at_most_5_percent_though_somebody_always_looks(shares: dict[str, float]) -> None:
    """At every single one of 600 people, in 1,000 experiments."""
    repeats, wrong = 1000, 0
    for seed in range(repeats):
        rows = split_rows(600, SAME, shares, seed)
        weighed, bounds = weigh(rows["acted"] / 10, rows["arm"] == "a", shares["a"], (0, 1))
        wrong += bool((paths(weighed, bounds, 0, 0.95) <= 0.05).any())
    assert wrong <= most_by_chance(0.05, repeats)


@pytest.mark.parametrize("shares", [EVEN, FEW_B], ids=["even", "90 to 10"])
def test_a_judgement_is_that_of_the_path(shares: dict[str, float]) -> None:
    rows = split_rows(300, {"a": 0.2, "b": 0.35}, shares, 4)
    weighed, bounds = weigh(rows["acted"] / 10, rows["arm"] == "a", shares["a"], (0, 1))
    p = paths(weighed, bounds, 0, 0.95)
    for n in range(30, 301, 30):
        assert judge_split(first(rows, n), shares).pairs[0].p == pytest.approx(p[n - 1], rel=1e-9)


def test_interleaved_a_against_a_is_claimed_in_at_most_5_percent() -> None:
    """The same clicks on lists that a coin deals to the teams, looked at ten times."""
    rng, repeats, wrong = np.random.default_rng(5), 100, 0
    for _ in range(repeats):
        rows = {"user": np.arange(400), "one": rng.poisson(0.5, 400), "two": rng.poisson(0.5, 400)}
        wrong += any(judge_interleaving(first(rows, n)).ahead is not None for n in range(40, 401, 40))
    assert wrong <= most_by_chance(0.05, repeats)


@pytest.mark.parametrize("shares", [EVEN, FEW_B], ids=["even", "90 to 10"])
def test_a_difference_is_found_and_the_interval_has_it(shares: dict[str, float]) -> None:
    repeats = 40
    judged = [judge_split(split_rows(6000, {"a": 0.2, "b": 0.25}, shares, seed), shares) for seed in range(repeats)]
    assert sum(one.ahead == "b" for one in judged) >= 0.9 * repeats
    assert not any(one.ahead == "a" for one in judged)
    covered = sum(one.pairs[0].low <= -0.05 <= one.pairs[0].high for one in judged)
    assert covered >= repeats - most_by_chance(0.05, repeats)
    assert judged[0].sentence.startswith("Use b: 0.2")


def test_as_many_people_are_needed_as_is_said() -> None:
    """The median over experiments of what is said early is near the median of when it comes true."""
    said, true = [], []
    for seed in range(30):
        rows = split_rows(6000, {"a": 0.2, "b": 0.26}, EVEN, seed)
        early = judge_split(first(rows, 500), EVEN).pairs[0]
        said.append(500 + (1e9 if early.still is None else early.still))
        sure = (n for n in range(200, 6001, 200) if judge_split(first(rows, n), EVEN).pairs[0].sure)
        true.append(next(sure, 1e9))
    assert 0.5 < np.median(said) / np.median(true) < 2


def test_people_count_not_their_rows() -> None:
    """Ten rows of everybody, each like the first: nothing is surer than with one."""
    rows = split_rows(300, {"a": 0.2, "b": 0.3}, EVEN, 3)
    again = {name: np.tile(column, 10) for name, column in rows.items()}
    once, often = judge_split(rows, EVEN), judge_split(again, EVEN)
    assert (often.arms, often.pairs, often.sentence) == (once.arms, once.pairs, once.sentence)
    assert once.doubts == ()
    assert often.doubts[0].startswith("People come back")


def test_outcomes_by_hand() -> None:
    rows = pl.DataFrame(
        {"user": ["u", "u", "v", "w", "w"], "arm": ["a", "a", "b", "a", "b"],
         "shown": [10, 30, 4, 5, 5], "acted": [1, 7, 1, 5, 5]}
    )  # fmt: skip
    judged = judge_split(rows, EVEN)
    assert [(arm.name, arm.people, arm.mean) for arm in judged.arms] == [("a", 1, 0.2), ("b", 1, 0.25)]
    assert judged.left_out == {"people in several arms": 1}
    assert judged.pairs[0].difference == pytest.approx(-0.05)
    valued = judge_split({"user": [1, 1, 2], "arm": list("aab"), "value": [3, 5, -1]}, EVEN, bounds=(-1, 5))
    assert [arm.mean for arm in valued.arms] == [4, -1]
    assert valued.pairs[0].low >= -12
    assert valued.pairs[0].high <= 12


def test_with_a_window_everybody_counts_once_it_is_over() -> None:
    rows = {"user": list("uuvw"), "arm": list("aaba"), "shown": [1] * 4, "acted": [1, 0, 1, 1], "time": [0, 50, 5, 95]}
    judged = judge_split(rows, EVEN, window=10, now=100)
    assert [(arm.people, arm.mean) for arm in judged.arms] == [(1, 1.0), (1, 1.0)]
    assert judged.left_out == {"people whose window is not over": 1, "rows after a person's window": 1}
    assert judged.doubts == ()
    at = np.datetime64("2026-01-01") + np.array(rows["time"], dtype="timedelta64[s]")
    timed = judge_split(rows | {"time": at}, EVEN, window=10, now=np.datetime64("2026-01-01T00:01:40"))
    assert timed == judged
    later = judge_split(rows, EVEN, window=10, now=105)
    assert later.arms[0].people == 2


def test_people_who_come_back_are_no_false_claim_with_a_window() -> None:
    repeats, wrong = 60, 0
    for seed in range(repeats):
        rows = split_rows(300, SAME, EVEN, seed, lists=4)
        looks = (judge_split(_until(rows, t), EVEN, window=30, now=t) for t in range(60, 601, 60))
        wrong += any(judged.ahead is not None for judged in looks)
    assert wrong <= most_by_chance(0.05, repeats)


def _until(rows: dict[str, Any], time: float) -> dict[str, Any]:
    there = rows["time"] <= time
    return {name: column[there] for name, column in rows.items()}


def test_order_is_that_of_time() -> None:
    rows = split_rows(200, {"a": 0.2, "b": 0.4}, EVEN, 1)
    mixed = np.random.default_rng(0).permutation(200)
    assert judge_split({name: column[mixed] for name, column in rows.items()}, EVEN) == judge_split(rows, EVEN)


def test_three_arms_are_judged_together() -> None:
    shares, means = {"a": 0.4, "b": 0.3, "c": 0.3}, {"a": 0.2, "b": 0.2, "c": 0.4}
    judged = judge_split(split_rows(3000, means, shares, 0), shares)
    assert judged.ahead == "c"
    assert [pair.sure for pair in judged.pairs] == [False, True, True]
    rows = split_rows(3000, means, shares, 0)
    pair = np.isin(rows["arm"], ["a", "b"])
    alone = judge_split({name: column[pair] for name, column in rows.items()}, {"a": 4 / 7, "b": 3 / 7}).pairs[0]
    assert judged.pairs[0].low < alone.low < alone.high < judged.pairs[0].high


def test_people_who_were_not_dealt_by_the_shares_are_seen() -> None:
    rows = split_rows(2000, SAME, {"a": 0.6, "b": 0.4}, 0)
    assert any("were to be expected" in doubt for doubt in judge_split(rows, EVEN).doubts)
    assert judge_split(rows, {"a": 0.6, "b": 0.4}).doubts == ()


def test_interleaving_finds_who_is_better() -> None:
    rng = np.random.default_rng(0)
    rows = {"user": rng.integers(0, 400, 1500), "one": rng.poisson(0.5, 1500), "two": rng.poisson(0.8, 1500)}
    judged = judge_interleaving(rows, one="old", two="new")
    assert judged.ahead == "new"
    assert judged.sentence.startswith("Use new: ")
    by_hand = judge_interleaving({"user": [1, 1, 2], "one": [2, 0, 1], "two": [1, 0, 3]})
    assert by_hand.pairs[0].difference == pytest.approx((0.5 - 1) / 2)
    assert [arm.mean for arm in by_hand.arms] == [0.25, 0.5]


def test_sentences() -> None:
    def says(n: int, means: dict[str, float], seed: int = 0) -> str:
        return str(judge_split(split_rows(n, means, EVEN, seed), EVEN))

    assert "but cannot be told from" in says(300, {"a": 0.2, "b": 0.22})
    assert "more people are needed if the difference stays this large" in says(300, {"a": 0.2, "b": 0.25})
    empty: dict[str, Any] = {"user": [], "arm": [], "shown": np.zeros(0), "acted": np.zeros(0)}
    assert str(judge_split(empty, EVEN)) == "Nobody has been served yet."
    rows = {"user": [1], "arm": ["a"], "shown": [1], "acted": [1]}
    assert str(judge_split(rows, EVEN)) == "Nobody has been served by b yet; there is nothing to compare."
    alone = judge_split(rows, {"a": 1.0})
    assert alone.ahead is None
    assert judge_split(rows, {"a": 1.0, "b": 0.0}) == alone
    assert str(alone) == "a has 1.0000 over 1 people; there is nothing to compare it with."
    same = judge_split({"user": [1, 2], "arm": ["a", "b"], "shown": [1, 1], "acted": [1, 1]}, EVEN)
    assert str(same) == "a and b do not differ: both have 1.0000 over 1 people."


def test_a_result_is_json() -> None:
    judged = judge_split(split_rows(50, SAME, EVEN, 0), EVEN)
    content = json.loads(json.dumps(judged.to_json(), allow_nan=False))
    assert content["ahead"] is None
    assert content["pairs"][0]["sentence"] == judged.pairs[0].sentence
    assert set(content) == {*Judged.__dataclass_fields__, "ahead"}


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        ({"arm": ["a", "x"]}, {}, "arm 'x' has no share; the shares are of a, b."),
        ({"acted": [1, 3]}, {}, "row 1: 3 of 2 is not between 0 and 1; set `bounds`."),
        ({"shown": [0, 2]}, {}, "row 0: 1 of 0 is not between 0 and 1"),
        ({"acted": [1, float("nan")]}, {}, "column 'acted': nan \\(row 1\\) is not a finite number"),
        ({"acted": ["1", "2"]}, {}, "column 'acted' must hold numbers"),
        ({"user": [1]}, {}, "columns of 1 and 2 rows"),
        ({"user": [1, None]}, {}, "row 1 has no user or arm"),
        ({"user": [float("nan"), 2.0]}, {}, "row 0 has no user or arm"),
        ({"time": [1]}, {}, "columns of 2 and 1 rows"),
        ({"time": np.array(["2026-01-01", "NaT"], dtype="datetime64[s]")}, {}, "column 'time' is empty in row 1"),
        ({}, {"level": 1}, "'level' parameter must be a number between 0 and 1"),
        ({}, {"bounds": (1, 0)}, "'bounds' parameter must be two rising numbers"),
        ({}, {"window": 0}, "'window' parameter must be a number of seconds > 0"),
    ],
)
def test_faults(change: dict[str, Any], options: dict[str, Any], says: str) -> None:
    rows = {"user": [1, 2], "arm": ["a", "b"], "shown": [2, 2], "acted": [1, 1]} | change
    with pytest.raises((DataError, ParameterError), match=says):
        judge_split(rows, EVEN, **options)


def test_a_column_that_is_missing_is_named() -> None:
    with pytest.raises(DataError, match="there is no column 'acted' among user, arm, shown; add it"):
        judge_split(pl.DataFrame({"user": [1], "arm": ["a"], "shown": [1]}), EVEN)
