"""What every split promises: a partition, the same for any order of rows; and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.split import (
    Split,
    by_time,
    core,
    densify,
    folds,
    halved,
    held_out_users,
    holdout,
    leave_last,
    repetitions,
    with_valid,
)
from fullrank.errors import DataError, ParameterError
from tests.data.split_cases import container, histories, is_partition, of, pairs, sessions

Make = Callable[[Any], Split[Any]]


FOR_ALL: dict[str, Make] = {
    "holdout": lambda data: holdout(data, 0.3, seed=1),
    "holdout, valid": lambda data: holdout(data, 0.4, valid=0.3, minimum=2),
    "holdout of all": lambda data: holdout(data, 0.3, per_user=False, seed=5),
    "holdout of all, valid": lambda data: holdout(data, 0.3, per_user=False, valid=0.3, minimum=2),
    "fold": lambda data: list(folds(data, 3))[1],
    "fold, per user": lambda data: next(folds(data, 2, per_user=True, seed=4)),
    "held-out users": lambda data: held_out_users(data, 0.5),
    "held-out users, one row": lambda data: held_out_users(data, n=1, visible=1),
    "unknown users": lambda data: held_out_users(data, n=1, visible=0),
    "halved": lambda data: halved(holdout(data, 0.5), seed=3),
    "with valid": lambda data: with_valid(holdout(data, 0.5), partial(holdout, fraction=0.5, per_user=False)),
    "users twice": lambda data: with_valid(held_out_users(data, n=1), partial(held_out_users, n=1)),
}


TIMED: dict[str, Make] = {
    "last": leave_last,
    "last 3": lambda data: leave_last(data, 3, seed=8),
    "last, valid": lambda data: with_valid(leave_last(data), leave_last),
    "by time": lambda data: by_time(data, fraction=0.3),
    "held-out users by time": lambda data: held_out_users(data, n=1, order="time", visible=0.5),
}


@pytest.mark.parametrize("make", [*FOR_ALL.values(), *TIMED.values()], ids=[*FOR_ALL, *TIMED])
def test_every_split_works_on_ordinary_data(make: Make) -> None:
    """So that the properties below, which let refusals pass, are known to see splits."""
    rng = np.random.default_rng(3)
    data = Interactions.of(rng.integers(0, 9, 200), rng.integers(0, 40, 200), time=rng.integers(0, 50, 200))
    is_partition(make(data), data)


@pytest.mark.parametrize("make", [*FOR_ALL.values(), *TIMED.values()], ids=[*FOR_ALL, *TIMED])
@given(histories(), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_splits_reconstruct_and_ignore_the_order_of_rows(make: Make, history: Any, random: Any) -> None:
    rows, data = history
    try:
        split = make(data)
    except (DataError, ParameterError):
        return  # too little of it: said so
    is_partition(split, data)
    random.shuffle(rows)
    again = make(container(rows))
    assert again == split
    assert again.how == split.how


@pytest.mark.parametrize("make", FOR_ALL.values(), ids=FOR_ALL)
def test_preferences_and_sessions_reconstruct(make: Make) -> None:
    cases = sessions([3, 0, 5, 2, 8, 4])
    is_partition(make(cases), cases)
    preferences = Preferences.of([1] * 10 + [2] * 10 + [3] * 6, [*range(10), *range(10), *range(6)], [10] * 26)
    is_partition(make(preferences), preferences)


@pytest.mark.parametrize("make", TIMED.values(), ids=TIMED)
def test_sessions_have_times(make: Make) -> None:
    cases = sessions([3, 6, 5, 2, 8, 4])
    is_partition(make(cases), cases)


def test_rating_histories_are_reconstructed_in_the_order_of_users() -> None:
    cases = of("a1@1 a2@1 b1@1 c1@1 c3@1 d2@1").graded()
    split = held_out_users(cases, n=2, visible=0)
    assert split.whole() == cases
    assert len(split.held_out) == 2


def test_parts_that_overlap_are_no_split_of_anything() -> None:
    data = of("a1@1 a2@2 a3@3")
    with pytest.raises(DataError, match="repeat a \\(user, item\\) pair"):
        Split(data, data).whole()
    preferences = Preferences.of([1, 1], [1, 2], [3, 3])
    with pytest.raises(DataError, match="2 preferences are in more than one part"):
        Split(preferences, preferences).whole()
    with pytest.raises(DataError, match="given twice"):
        Split(sessions([2]), sessions([2])).whole()
    with pytest.raises(DataError, match="share their users and items"):
        Split(data, of("a1@1"))


def test_users_and_items_without_rows_stay_in_the_catalogue() -> None:
    data = of("b2@1 b4@2 b6@3 d2@1 d8@2 d6@9").catalogue(users="ace", items="13579")
    for make in (leave_last, partial(holdout, fraction=0.3), partial(held_out_users, n=1), partial(by_time, at=3)):
        split = make(data)
        is_partition(split, data)
        assert split.train.users == data.users
        assert split.held_out.items == data.items
    assert leave_last(data).how.startswith("The last 1 row of each user by time is held out (2 of 6 rows); equal")
    assert "of the 2 users" in held_out_users(data, n=1).how


@pytest.mark.parametrize(
    "make",
    [leave_last, holdout, partial(held_out_users, fraction=0.5), folds],
    ids=["last", "random", "users", "folds"],
)
def test_seeds(make: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    data = Interactions.of(rng.integers(0, 20, 400), rng.integers(0, 90, 400), time=[7] * 400)

    def held(seed: int) -> Interactions:
        split = make(data, seed=seed)
        first: Interactions = (split if isinstance(split, Split) else next(split)).held_out
        return first

    assert held(1) == held(1)
    different = [held(seed) for seed in (0, 1, 2**32, 2**32 + 1, 2**63 - 1)]
    assert all(a != b for place, a in enumerate(different) for b in different[:place])


def test_seeds_decide_on_preferences_and_sessions() -> None:
    preferences = Preferences.of([1] * 12, [1, 2, 3, 4] * 3, [5, 6, 7, 8, 6, 5, 8, 7, 9, 9, 9, 9])
    assert len({tuple(holdout(preferences, 0.25, seed=seed).held_out.worse) for seed in range(20)}) > 10
    cases = sessions([12])
    assert len({tuple(holdout(cases, 0.25, seed=seed).held_out.names or ()) for seed in range(20)}) > 10


def test_relevance_composes() -> None:
    split = leave_last(of("a1@1 a4@2 a3@3 b1@1 b2@2 b4@3"), 2)
    assert pairs(split.held_out.relevant(5)) == {("a", "4"), ("b", "4")}
    assert pairs(split.held_out.relevant(np.array([4, 3]))) == {("a", "4"), ("a", "3"), ("b", "2"), ("b", "4")}
    assert holdout(split.train.relevant(None), 0.5, per_user=False).how


DATA = of("a1@1 a2@2 a3@3 b1@1 b2@2 b3@3")
EMPTY = DATA.where(np.zeros(6, dtype=bool))
UNTIMED = Interactions.of([1, 1], [1, 2])
SHARE = r"a number between 0 \(excluded\) and 1 \(excluded\)"
SEED = r"an integer from 0 to 2\*\*63 - 1"
PARAMETERS: list[tuple[Callable[[Any], Any], str, str, list[Any]]] = [
    (lambda v: leave_last(DATA, v), "n", "an integer >= 1", [0, -1, 1.0, True, "1", None]),
    (lambda v: leave_last(DATA, seed=v), "seed", SEED, [-1, 2**63, 0.0, True, None, "0"]),
    (lambda v: holdout(DATA, seed=v), "seed", SEED, [-1]),
    (lambda v: folds(DATA, seed=v), "seed", SEED, [-1]),
    (lambda v: held_out_users(DATA, n=1, seed=v), "seed", SEED, [-1]),
    (lambda v: halved(leave_last(DATA), seed=v), "seed", SEED, [-1]),
    (lambda v: repetitions(leave_last, 2, seed=v), "seed", SEED, [-1]),
    (lambda v: holdout(DATA, v), "fraction", SHARE, [0.0, 1.0, 0, 1, -0.1, math.nan, "0.5", True, None]),
    (lambda v: holdout(DATA, 0.5, valid=v), "valid", r"a number between 0 \(included\)", [-0.1, 1.0, math.nan, "x"]),
    (lambda v: holdout(DATA, 0.7, valid=v), "valid", "below 1 together with fraction=0.7", [0.3, 0.9]),
    (lambda v: holdout(DATA, minimum=v), "minimum", "an integer >= 1", [0, 1.5, True]),
    (lambda v: holdout(DATA, per_user=v), "per_user", "True or False", [1, None, "yes"]),
    (lambda v: by_time(DATA, fraction=v), "fraction", SHARE, [0.0, 1.0, math.nan, 2]),
    (lambda v: by_time(DATA, v), "at", "given, or else 'fraction', but not both", [None]),
    (lambda v: by_time(DATA, v, fraction=0.5), "at", "given, or else 'fraction', but not both", [3]),
    (lambda v: folds(DATA, v), "k", "an integer >= 2", [1, 0, 2.0, True]),
    (lambda v: folds(DATA, v), "k", "at most 6, the number of rows", [7]),
    (lambda v: folds(DATA, 2, per_user=v), "per_user", "True, False or None", [1]),
    (lambda v: held_out_users(DATA, v), "fraction", SHARE, [0.0, 1.0, 1]),
    (lambda v: held_out_users(DATA, n=v), "n", "an integer >= 1", [0, 1.0, True]),
    (lambda v: held_out_users(DATA, n=v), "n", "at most 2, the number of users with at least 2 rows", [3]),
    (lambda v: held_out_users(DATA, n=v), "n", "given, or else 'fraction', but not both", [None]),
    (lambda v: held_out_users(DATA, 0.5, n=v), "n", "given, or else 'fraction', but not both", [1]),
    (lambda v: held_out_users(DATA, n=1, visible=v), "visible", SHARE, [0.0, 1.0, math.nan, "all"]),
    (lambda v: held_out_users(DATA, n=1, visible=v), "visible", "an integer >= 0", [-1, True]),
    (lambda v: held_out_users(DATA, n=1, order=v), "order", "'random' or 'time'", ["last", None]),
    (lambda v: repetitions(leave_last, v), "times", "an integer >= 1", [0, True, 2.0]),
    (lambda v: repetitions(v, 2), "make", "a function that takes a seed", [leave_last(DATA)]),
    (lambda v: densify(DATA, items=v, users=3), "items", "an integer >= 1", [0, 1.0, True]),
    (lambda v: densify(DATA, users=v), "users", "an integer >= 1", [0, -3]),
    (lambda v: densify(DATA, items=v), "items", "given if 'users' is not", [None]),
    (lambda v: core(DATA, per_user=v), "per_user", "an integer >= 1", [0]),
    (lambda v: core(DATA, per_item=v), "per_item", "an integer >= 1", [2.0]),
    (leave_last, "data", "Interactions, Events, Graded or Preferences", ["ratings.csv", None, leave_last(DATA)]),
    (lambda v: densify(v, items=1), "data", "Interactions", [sessions([2])]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "name", "must_be", "value"),
    [(call, name, must_be, value) for call, name, must_be, values in PARAMETERS for value in values],
)
def test_bad_parameters(call: Callable[[Any], Any], name: str, must_be: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"^The '{name}' parameter must be {must_be}.* Got .* instead.$"):
        call(value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: leave_last(EMPTY), "there are no rows to split; bring at least two."),
        (lambda: densify(EMPTY, items=1), "there are no rows to split; bring at least two."),
        (
            lambda: leave_last(UNTIMED),
            "leave_last needs times, and this data has none; read its time column, or split at random.",
        ),
        (
            lambda: by_time(Preferences.of([1], [1], [2]), 5),  # type: ignore[type-var]
            "by_time needs times, and this data has none; read its time column, or split at random.",
        ),
        (
            lambda: held_out_users(UNTIMED, n=1, order="time"),
            "order='time' needs times, and this data has none; read its time column, or split at random.",
        ),
        (
            lambda: by_time(DATA, 4),
            "nothing is held out; the times run from 1970-01-01T00:00:01 to 1970-01-01T00:00:03: "
            "choose a moment after the first, up to the last.",
        ),
        (
            lambda: by_time(DATA, 1),
            "nothing is left to train on; the times run from 1970-01-01T00:00:01 to 1970-01-01T00:00:03: "
            "choose a moment after the first, up to the last.",
        ),
        (
            lambda: by_time(of("a1@5 b2@5"), fraction=0.5),
            "nothing is left to train on; all times are 1970-01-01T00:00:05: split at random instead.",
        ),
        (
            lambda: holdout(DATA, 0.1),
            "nothing is held out; choose another fraction or a smaller minimum, or bring users with more rows.",
        ),
        (
            lambda: holdout(DATA, 0.6, valid=0.01),
            "nothing falls into the validation part; choose a larger `valid`, or bring more data.",
        ),
        (
            lambda: held_out_users(DATA, n=2),
            "nothing is left to train on; there are 2 users with at least 2 rows: choose another number of users.",
        ),
        (
            lambda: held_out_users(DATA, 0.1),
            "nothing is held out; there are 2 users with at least 2 rows: choose another number of users.",
        ),
        (lambda: leave_last(of("a1@5")), "nothing is held out; no user has more than 1 row: choose a smaller n."),
    ],
)
def test_what_cannot_be_split(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(DataError) as error:
        call()
    assert str(error.value) == message


def test_half_a_million_rows() -> None:
    """What a loop over users or rows would not survive in the time of a test."""
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 100_000, 500_000), (2000 * rng.random(500_000) ** 2).astype(int)
    data = Interactions.of(user, item, time=rng.integers(0, 10**9, 500_000), users=Ids.numbered(100_010))
    counts = np.bincount(data.user, minlength=100_010)
    last = leave_last(data, 3)
    assert (np.bincount(last.held_out.user, minlength=100_010) == np.where(counts > 3, 3, 0)).all()
    latest_kept = np.zeros(100_010, dtype="datetime64[us]")
    assert last.train.time is not None
    np.maximum.at(latest_kept, last.train.user, last.train.time)
    assert (last.held_out.time >= latest_kept[last.held_out.user]).all()
    for split in (last, halved(last), holdout(data, 0.2, valid=0.1), held_out_users(data, 0.1), next(folds(data))):
        assert split.whole() == data
