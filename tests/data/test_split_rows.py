"""Splits within users' histories: hash keys, the last rows, random rows, rows after a moment."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.interactions import Interactions
from fullrank.data.split import (
    by_time,
    holdout,
    leave_last,
    with_valid,
)
from fullrank.data.split.hash_keys import hash_keys, timed_by_user
from fullrank.data.split.rows import as_moment
from fullrank.errors import DataError, ParameterError
from tests.data.split_cases import brute_share, histories, is_partition, of, pairs, sessions


def splitmix(numbers: list[int]) -> int:
    """SplitMix64 with Python's integers."""
    state = 0
    for number in numbers:
        state = (state + (number + 1) * 0x9E3779B97F4A7C15) % 2**64
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
        state ^= state >> 31
    return state


@given(st.integers(0, 2**63 - 1), st.integers(0, 4), st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_hash_keys_are_a_function_of_seed_stream_and_codes(seed: int, stream: int, user: int, item: int) -> None:
    drawn = hash_keys(seed, stream, np.array([user, 3], dtype=np.int32), np.array([item, 4], dtype=np.int32))
    assert drawn.tolist() == [splitmix([seed, stream, user, item]), splitmix([seed, stream, 3, 4])]


def test_equal_times_favour_no_item() -> None:
    users, items = 3000, 10
    data = Interactions.of(
        np.repeat(np.arange(users), items), np.tile(np.arange(items), users), time=[5] * users * items
    )
    times_held_out = np.bincount(leave_last(data, 2).held_out.item)  # 600 each, were it exactly fair
    assert ((times_held_out - 600) ** 2 / 600).sum() < 27.9  # chi-square with 9 degrees, one in a thousand


def test_a_user_is_not_split_differently_because_others_are_gone() -> None:
    rng = np.random.default_rng(1)
    data = Interactions.of(rng.integers(0, 9, 200), rng.integers(0, 40, 200), time=rng.integers(0, 3, 200))
    some = data.user % 2 == 0
    for make in (partial(leave_last, n=2), partial(holdout, fraction=0.3)):
        assert pairs(make(data.where(some)).held_out) <= pairs(make(data).held_out)


def test_order_by_time_when_the_key_is_full() -> None:
    user = np.array([0, 0, 1, 1], dtype=np.int32)
    key = hash_keys(0, 0, user, np.arange(4))
    for time in (1, 2**43, 2**44 - 1, 2**44, 2**45 + 1):  # 300,000 users leave 44 bits
        times = np.array([time, 0, time, time - 1]).view("datetime64[us]")
        assert timed_by_user(user, 300_000, times, key).tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("users", [3, 300_000])
@pytest.mark.parametrize("unit", [1, 1_000_000], ids=["microseconds", "seconds"])
def test_order_by_time_however_the_key_is_packed(users: int, unit: int) -> None:
    rng = np.random.default_rng(7)
    user = np.sort(rng.choice([0, 1, users - 1], 500)).astype(np.int32)
    ticks = np.append(rng.integers(0, 20, 498), [0, 3 * 10**15 // 10**6])  # to the year 2065, with ties
    time = (ticks * unit + (unit == 1) * rng.integers(0, 2, 500) * 10**15).view("datetime64[us]")
    key = hash_keys(0, 0, user, np.arange(500))
    assert timed_by_user(user, users, time, key).tolist() == np.lexsort((key, time, user)).tolist()


def test_leave_last_by_hand() -> None:
    data = of("a1@40 a2@10 a3@30 a4@20 b1@5 b2@6 c9@1")
    split = leave_last(data, 2)
    assert pairs(split.held_out) == {("a", "1"), ("a", "3")}
    assert split.how == (
        "The last 2 rows of each user by time are held out (2 of 7 rows); "
        "2 users with 2 rows or fewer stay in train; equal times are shuffled with seed 0."
    )
    assert split.valid is split.visible is None
    assert repr(split) == "Split(5 train, 2 held_out)"


@given(histories(), st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_leave_last_takes_exactly_the_last(history: Any, n: int, seed: int) -> None:
    _, data = history
    counts = np.bincount(data.user)
    if counts.max() <= n:
        with pytest.raises(DataError, match=f"nothing is held out; no user has more than {n} row"):
            leave_last(data, n, seed=seed)
        return
    split = leave_last(data, n, seed=seed)
    for user, count in enumerate(counts.tolist()):
        held = split.held_out.time[split.held_out.user == user]
        kept = split.train.time[split.train.user == user]
        assert len(held) == (n if count > n else 0)
        assert not len(held) or kept.max() <= held.min()


@given(histories(), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_last_are_among_the_last_few(history: Any, seed: int) -> None:
    _, data = history
    long = np.bincount(data.user) > 3
    if not long.any():
        return
    data = data.where(long[data.user])
    one, two = leave_last(data, 1, seed=seed), leave_last(data, 2, seed=seed)
    assert pairs(one.held_out) < pairs(two.held_out)
    nested = with_valid(one, partial(leave_last, seed=seed))
    assert pairs(nested.valid) == pairs(two.held_out) - pairs(one.held_out)


def test_one_user_all_at_one_time() -> None:
    data = Interactions.of([1] * 6, range(6), time=[9] * 6)
    assert len(leave_last(data, 5).train) == 1
    assert len({tuple(leave_last(data, 2, seed=seed).held_out.item) for seed in range(30)}) > 5
    with pytest.raises(DataError, match="nothing is held out; no user has more than 6 rows: choose a smaller n"):
        leave_last(data, 6)


def test_the_last_sessions() -> None:
    split = leave_last(sessions([3, 1, 2]))
    assert split.held_out.names is not None
    assert split.held_out.names.names.tolist() == ["s00-02", "s02-01"]
    assert split.how.startswith("The last 1 case of each user by time is held out (2 of 6 cases); 1 user with 1 case")


@given(histories(), st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.sampled_from([0.0, 0.05]), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_holdout_of_each_user(history: Any, fraction: float, valid: float, minimum: int) -> None:
    _, data = history
    counts = np.bincount(data.user).tolist()
    both = [min(brute_share(fraction + valid, n), n - 1) if n >= minimum else 0 for n in counts]
    test = [min(brute_share(fraction, n), b) if n >= minimum else 0 for n, b in zip(counts, both, strict=True)]
    make = partial(holdout, data, fraction, valid=valid, minimum=minimum)
    if not sum(test) or (valid and sum(both) == sum(test)):
        with pytest.raises(DataError, match=r"nothing is held out|nothing falls into the validation part"):
            make()
        return
    split = make()
    is_partition(split, data)
    assert np.bincount(split.held_out.user, minlength=len(counts)).tolist() == test
    validated = [] if split.valid is None else split.valid.user
    assert np.bincount(validated, minlength=len(counts)).tolist() == [b - t for b, t in zip(both, test, strict=True)]


def test_holdout_by_hand() -> None:
    data = Interactions.of([1] * 20 + [2] * 10 + [3] * 4, [*range(20), *range(10), *range(4)])
    split = holdout(data, 0.2, valid=0.1, minimum=5, seed=9)
    assert np.bincount(split.held_out.user).tolist() == [4, 2]
    assert split.valid is not None
    assert np.bincount(split.valid.user).tolist() == [2, 1]
    assert split.how == (
        "0.2 of each user's rows, at random with seed 9, is held out (6 of 34 rows); "
        "0.1 is for validation (3 of 34 rows); 1 user with fewer than 5 rows stays in train."
    )


def test_holdout_of_all_rows() -> None:
    data = Interactions.of([1] * 20 + [2] * 15 + [3] * 4 + [4], [*range(20), *range(15), *range(4), 0])
    split = holdout(data, 0.5, per_user=False, minimum=5, valid=0.2)
    assert (len(split.held_out), len(split.valid or ())) == (18, 7)  # of 35
    assert set(split.held_out.user) <= {0, 1}
    lonely = next(s for s in (holdout(data, 0.5, per_user=False, seed=s) for s in range(9)) if 3 in s.held_out.user)
    assert lonely.how.endswith("; for 1 user with held-out rows there are none to learn from.")


def test_holdout_is_uniform() -> None:
    data = Interactions.of([1] * 10, range(10))
    for per_user in (True, False):
        splits = [holdout(data, 0.3, per_user=per_user, seed=seed) for seed in range(1000)]
        held = np.bincount(np.concatenate([split.held_out.item for split in splits]))
        assert ((held - 300) ** 2 / 300).sum() < 27.9


def test_by_time_by_hand() -> None:
    data = of("a1@10 a2@20 b1@20 b2@30 c1@30")
    assert pairs(by_time(data, at=20).train) == {("a", "1")}
    assert pairs(by_time(data, at=20.000001).train) == {("a", "1"), ("a", "2"), ("b", "1")}
    assert len(by_time(data, fraction=0.2).held_out) == 2  # the two at 30 stay together
    assert len(by_time(data, fraction=0.6).held_out) == 4
    assert by_time(data, at=30).how == (
        "Rows at or after 1970-01-01T00:00:30 are held out (2 of 5 rows); "
        "for 1 user with held-out rows there are none to learn from."
    )


@given(histories(), st.floats(0.01, 0.99))
@settings(max_examples=80, deadline=None)
def test_the_past_is_before_the_future(history: Any, fraction: float) -> None:
    _, data = history
    try:
        split = by_time(data, fraction=fraction)
    except DataError:
        earliest = (data.time == data.time.min()).sum()
        assert len(data) - earliest < max(brute_share(fraction, len(data)), 1)  # holding out less would be too little
        return
    assert split.train.time.max() < split.held_out.time.min()
    assert len(split.held_out) >= brute_share(fraction, len(data))
    latest = data.time > split.held_out.time.min()
    assert latest.sum() < max(brute_share(fraction, len(data)), 1)  # and no more moments than needed


MORNING = np.datetime64("2003-02-28T06:00:00", "us")


@pytest.mark.parametrize(
    "at",
    [
        "2003-02-28T06:00",
        "2003-02-28 06:00:00.000000",
        "2003-02-28T06:00Z",
        "2003-02-28T08:00+02:00",
        datetime(2003, 2, 28, 6),
        datetime(2003, 2, 28, 6, tzinfo=UTC),
        datetime(2003, 2, 28, 3, tzinfo=timezone(-timedelta(hours=3))),
        np.datetime64("2003-02-28T06"),
        np.datetime64("2003-02-28T06:00:00.000000000"),
        1046412000,
        1046412000.0,
        np.int32(1046412000),
    ],
    ids=repr,
)
def test_moments(at: Any) -> None:
    assert as_moment(at) == MORNING
    data = Interactions.of([1, 1], [1, 2], time=np.array([MORNING - 1, MORNING]))
    assert by_time(data, at).held_out.item.tolist() == [1]


def test_dates_begin_at_midnight() -> None:
    assert as_moment(date(2003, 2, 28)) == as_moment("2003-02-28") == np.datetime64("2003-02-28T00:00:00")


MOMENTS = ["yesterday", "", "2003", -1, 1046412000123, True, math.nan, math.inf, 10**400, np.datetime64("NaT"), [1],
           np.datetime64(10**17, "Y"), "9999-01-01", "1969-12-31T23:59:59.999999"]  # fmt: skip


@pytest.mark.parametrize("at", MOMENTS, ids=lambda at: repr(at)[:20])
def test_what_is_no_moment(at: Any) -> None:
    with pytest.raises(ParameterError, match=r"The 'at' parameter must be an ISO date such as '2003-02-28'.* Got "):
        by_time(of("a1@1 a2@2"), at)
