"""Splits: by hand, by their promises on random data, and what they refuse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.graded import Graded
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
from fullrank.data.split.lots import lots, timed_by_user
from fullrank.data.split.rows import as_moment
from fullrank.errors import DataError, ParameterError

# --------------------------------------------------------------------------------------------- helpers


def pairs(data: Interactions | None) -> set[tuple[Any, Any]]:
    """The (user, item) names of all rows."""
    if data is None:
        return set()
    return set(zip(data.users.names[data.user].tolist(), data.items.names[data.item].tolist(), strict=True))


def of(text: str) -> Interactions:
    """Rows such as "a1@10": user, item, time in seconds."""
    rows = [(row[0], row[1], int(row[3:])) for row in text.split()]
    user, item, time = zip(*rows, strict=True)
    return Interactions.of(user, item, value=[1 + int(i) % 5 for i in item], time=time)


def sessions(per_user: list[int], times: bool = True) -> Graded:
    """Each user's number of sessions, each of two items."""
    names = [(f"u{u}", f"s{u:02}-{s:02}") for u, n in enumerate(per_user) for s in range(n)]
    rows = [(user, session, item) for user, session in names for item in ("x", "y")]
    user, session, item = zip(*rows, strict=True)
    time = [int(s[-2:]) for s in session] if times else None
    return Graded.of(session, item, [float(i == "x") for i in item], user=user, time=time)


def is_partition(split: Split[Any], data: Any) -> None:
    """The parts are disjoint and together the data; none is empty but perhaps `visible`."""
    assert split.whole() == data
    assert sum(map(len, split.parts)) == len(data)
    assert len(split.train) > 0
    assert len(split.held_out) > 0
    assert split.valid is None or len(split.valid) > 0
    assert split.how.endswith(".")


names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=3)
moments = st.integers(0, 4) | st.integers(0, 2**36) | st.floats(0, 1e9, allow_nan=False)
Row = tuple[Any, Any, float, float]


@st.composite
def histories(draw: st.DrawFn, least: int = 1) -> tuple[list[Row], Interactions]:
    """Rows in random order and the container they make: repeated pairs, equal times, names of every kind."""
    users = draw(st.lists(names, min_size=1, max_size=4, unique=True) | st.just([2**60, -1, 7]))
    items = draw(st.lists(names, min_size=max(least, 2), max_size=8, unique=True) | st.just(list(range(9))))
    one = st.tuples(st.sampled_from(users), st.sampled_from(items), st.sampled_from([1.0, 2.5, 5.0]), moments)
    rows: list[Row] = draw(st.lists(one, min_size=least, max_size=30))
    return rows, container(rows)


def container(rows: list[Row]) -> Interactions:
    user, item, value, time = zip(*rows, strict=True)
    return Interactions.of(user, item, value=value, time=np.array(time, dtype=float))


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


# ------------------------------------------------------------------------------ promises of all splits


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


# -------------------------------------------------------------------------------------------- lots


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
def test_lots_are_a_function_of_seed_stream_and_codes(seed: int, stream: int, user: int, item: int) -> None:
    drawn = lots(seed, stream, np.array([user, 3], dtype=np.int32), np.array([item, 4], dtype=np.int32))
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
    lot = lots(0, 0, user, np.arange(4))
    for time in (1, 2**43, 2**44 - 1, 2**44, 2**45 + 1):  # 300,000 users leave 44 bits
        times = np.array([time, 0, time, time - 1]).view("datetime64[us]")
        assert timed_by_user(user, 300_000, times, lot).tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("users", [3, 300_000])
@pytest.mark.parametrize("unit", [1, 1_000_000], ids=["microseconds", "seconds"])
def test_order_by_time_however_the_key_is_packed(users: int, unit: int) -> None:
    rng = np.random.default_rng(7)
    user = np.sort(rng.choice([0, 1, users - 1], 500)).astype(np.int32)
    ticks = np.append(rng.integers(0, 20, 498), [0, 3 * 10**15 // 10**6])  # to the year 2065, with ties
    time = (ticks * unit + (unit == 1) * rng.integers(0, 2, 500) * 10**15).view("datetime64[us]")
    lot = lots(0, 0, user, np.arange(500))
    assert timed_by_user(user, users, time, lot).tolist() == np.lexsort((lot, time, user)).tolist()


# -------------------------------------------------------------------------------------- leave the last


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


# ------------------------------------------------------------------------------------------- hold out


def brute_share(fraction: float, n: int) -> int:
    return math.floor(round(fraction * n, 6) + 0.5)


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


# ------------------------------------------------------------------------------------------- by time


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


# --------------------------------------------------------------------------------------------- folds


@given(histories(least=2), st.integers(2, 6), st.booleans(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_every_row_is_held_out_once(history: Any, k: int, per_user: bool, seed: int) -> None:
    _, data = history
    if len(data) < k:
        with pytest.raises(ParameterError, match=f"at most {len(data)}, the number of rows"):
            folds(data, k)
        return
    splits = list(folds(data, k, per_user=per_user, seed=seed))
    held = Counter(pair for split in splits for pair in pairs(split.held_out))
    assert set(held) == pairs(data)
    assert set(held.values()) == {1}
    sizes = [len(split.held_out) for split in splits]
    assert len(sizes) == k
    assert max(sizes) - min(sizes) <= 1
    for split in splits:
        is_partition(split, data)
    if per_user:
        each = np.array([np.bincount(split.held_out.user, minlength=data.n_users) for split in splits])
        assert (np.ptp(each, axis=0) <= 1).all()


def test_sessions_are_spread_evenly() -> None:
    cases = sessions([7, 1, 3, 12, 0, 5])
    splits = list(folds(cases, 3))
    each = np.array([np.bincount(split.held_out.user, minlength=len(cases.users)) for split in splits])
    assert each.sum(axis=0).tolist() == np.bincount(cases.user, minlength=len(cases.users)).tolist()
    assert (np.ptp(each, axis=0) <= 1).all()
    assert np.ptp(each.sum(axis=1)) <= 1
    assert splits[1].how.startswith("Fold 2 of 3 over each user's cases, spread evenly: 9 of 28 cases are held out")


def test_users_with_one_session_meet_in_different_folds() -> None:
    cases = sessions([1] * 8, times=False)
    together = {tuple(next(folds(cases, 2, seed=seed)).held_out.user) for seed in range(40)}
    assert len(together) > 20  # of 70


def test_folds_over_preferences() -> None:
    data = Preferences.of([1] * 7 + [2] * 6, [*range(7), *range(6)], [9] * 13)
    splits = list(folds(data, 4, seed=2))
    assert sorted(len(split.held_out) for split in splits) == [3, 3, 3, 4]
    held = [(u, b) for split in splits for u, b in zip(split.held_out.user, split.held_out.better, strict=True)]
    assert len(set(held)) == len(held) == 13
    assert splits[0].how == "Fold 1 of 4 over preferences: 4 of 13 preferences are held out at random, seed 2."


def test_folds_refuse_at_once_and_deal_one_at_a_time() -> None:
    data = of("a1@1 a2@2 b1@1")
    with pytest.raises(ParameterError):
        folds(data, 4)  # not only when the first fold is asked for
    dealt = folds(data, 3)
    assert len(next(dealt).held_out) == 1
    assert len(list(dealt)) == 2


# ------------------------------------------------------------------------------------- users held out


@given(histories(), st.sampled_from([0, 1, 2, 0.2, 0.5, 0.8]), st.sampled_from(["random", "time"]), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_held_out_users(history: Any, visible: Any, order: Any, seed: int) -> None:
    _, data = history
    counts = np.bincount(data.user)
    least = 2 if isinstance(visible, float) else visible + 1
    eligible = np.flatnonzero(counts >= least)
    try:
        split = held_out_users(data, n=1, visible=visible, order=order, seed=seed)
    except (ParameterError, DataError):
        assert not len(eligible) or len(counts) == 1
        return
    is_partition(split, data)
    seen: Interactions = split.visible  # type: ignore[assignment]
    [user] = set(split.held_out.user.tolist())
    assert user in eligible
    assert user not in split.train.user
    assert set(seen.user.tolist()) == (set() if visible == 0 else {user})
    n = int(counts[user])
    assert len(seen) == (visible if isinstance(visible, int) else min(max(brute_share(visible, n), 1), n - 1))
    if order == "time" and len(seen):
        assert seen.time.max() <= split.held_out.time.min()  # type: ignore[union-attr]


def test_held_out_users_by_hand() -> None:
    rng = np.random.default_rng(0)
    data = Interactions.of(np.repeat(np.arange(20), 10), rng.permuted(np.tile(np.arange(10), (20, 1)), axis=1).ravel())
    split = held_out_users(data, 0.25, seed=3)
    assert repr(split) == "Split(150 train, 40 visible, 10 held_out)"
    assert split.how == (
        "5 of the 20 users with at least 2 rows, drawn with seed 3, are kept from training; "
        "0.8 of each one's rows, at random, can be seen and the rest is held out (10 of 200 rows)."
    )
    cold = held_out_users(data, n=5, visible=0)
    assert cold.visible is not None
    assert len(cold.visible) == 0
    assert cold.how.endswith("for 5 users with held-out rows there are none to learn from.")
    chosen = Counter(user for seed in range(400) for user in set(held_out_users(data, 0.25, seed=seed).held_out.user))
    assert all(60 < chosen[user] < 140 for user in range(20))  # 100 each, within 4.6 standard deviations


def test_users_to_validate_and_users_to_test() -> None:
    data = Interactions.of(np.repeat(np.arange(20), 10), np.tile(np.arange(10), 20))
    split = with_valid(held_out_users(data, n=4), partial(held_out_users, n=3))
    assert split.valid is not None
    assert split.visible is not None
    is_partition(split, data)
    test, valid = set(split.held_out.user), set(split.valid.user)
    assert (len(test), len(valid), test & valid) == (4, 3, set())
    assert set(split.visible.user) == test | valid
    assert not set(split.train.user) & (test | valid)


# ----------------------------------------------------------------------------------- validation parts


def test_halved() -> None:
    data = Interactions.of(np.repeat(np.arange(11), 10), np.tile(np.arange(10), 11), time=np.arange(110))
    whole = leave_last(data, 5)
    split = halved(whole, seed=2)
    assert split.valid is not None
    assert (len(split.valid), len(split.held_out)) == (27, 28)
    assert pairs(split.valid) | pairs(split.held_out) == pairs(whole.held_out)
    assert split.train is whole.train
    assert split.how == whole.how + " Of these 27 at random are for validation and 28 for the test (seed 2)."
    assert halved(whole, seed=3) != split == halved(whole, seed=2)


def test_halves_do_not_follow_the_shuffle_of_ties() -> None:
    """The same seed makes the split and halves it: the two choices must be independent."""
    data = Interactions.of(np.repeat(np.arange(2000), 3), np.tile(np.arange(3), 2000), time=[0] * 6000)
    split = halved(leave_last(data, 2))
    last = leave_last(data, 1).held_out
    assert abs(len(pairs(split.valid) & pairs(last)) - 1000) < 100  # standard deviation about 22


def test_a_second_validation_part_is_refused() -> None:
    split = halved(leave_last(of("a1@1 a2@2 a3@3 a4@4"), 2))
    for make in (halved, partial(with_valid, make=leave_last)):
        with pytest.raises(DataError, match="has a validation part already \\(1 row\\); use one that has none"):
            make(split)
    with pytest.raises(DataError, match="one held-out row cannot be halved; hold out more"):
        halved(leave_last(of("a1@1 a2@2")))
    with pytest.raises(ParameterError, match="The 'split' parameter must be a Split"):
        halved(of("a1@1 a2@2"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="The 'make' parameter must be a function from data to a Split"):
        with_valid(leave_last(of("a1@1 a2@2")), lambda data: data)  # type: ignore[arg-type, return-value]


# --------------------------------------------------------------------------------------- repetitions


def test_repetitions() -> None:
    data = Interactions.of([1] * 40, range(40))
    make = partial(holdout, data, 0.25)
    four = list(repetitions(make, 4, seed=1))
    assert len({tuple(split.held_out.item) for split in four}) == 4
    assert list(repetitions(make, 2, seed=1)) == four[:2]
    assert list(repetitions(make, 2, seed=2)) != four[:2]
    seeds: list[int] = list(repetitions(lambda seed: seed, 3))
    assert f"seed {seeds[2]}," in list(repetitions(make, 3))[2].how  # the report names what to repeat it with
    assert [[len(s.held_out) for s in five] for five in repetitions(partial(folds, data), 2)] == [[8] * 5] * 2


# ------------------------------------------------------------------------------------------- densify


def test_densify_by_hand() -> None:
    #        items 1: abc  2: ab  3: ab  4: cd  5: d
    data = of("a1@1 b1@1 c1@1 a2@1 b2@1 a3@1 b3@1 c4@1 d4@1 d5@1").catalogue(users="z", items="0")
    dense = densify(data, items=3, users=2)
    assert pairs(dense) == {(u, i) for u in "ab" for i in "123"}
    assert (dense.users, dense.items) == (Ids("ab"), Ids("123"))
    assert dense.intake.dropped == {
        "item not among the 3 with the most rows": 3,
        "user not among the 2 with the most rows": 1,
    }
    assert dense.intake.kept == len(dense) == 6
    assert dense.intake.notes == ("kept 2 of 5 users, 3 of 6 items",)
    assert dense.value is not None
    assert dense.value.tolist() == [2, 3, 4, 2, 3, 4]


def test_densify_breaks_ties_by_id_and_keeps_sides_without_a_limit() -> None:
    data = of("a1@1 b2@1 c3@1").catalogue(users="z", items="09")
    assert densify(data, items=2).items == Ids("12")
    assert densify(data, items=2).users == Ids("abcz")
    assert densify(data, users=100).users == Ids("abc")  # never one without rows
    assert densify(data, users=100).items == Ids("01239")
    assert densify(data, users=100).intake.dropped == {}


def test_users_are_counted_on_the_kept_items() -> None:
    data = of("a1@1 a2@1 a3@1 b8@1 c8@1 b9@1 c9@1 d9@1")
    assert densify(data, items=2, users=1).users == Ids("b")  # a has most rows, none of them on 8 or 9


def test_counts_of_the_dropped_add_up_over_steps() -> None:
    data = of("a1@1 b1@1 a2@1 b2@1 a3@1 c4@1")
    twice = densify(densify(data, items=3), items=2)
    assert twice.intake.kept == len(twice) == 4
    part = densify(data.where(data.user < 2), items=2)  # whose intake is unknown
    assert (part.intake.rows, part.intake.kept) == (5, 4)


@given(histories(), st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_densify_against_counting(history: Any, items: int, users: int) -> None:
    _, data = history
    item_counts = Counter(i for _, i in pairs(data))
    best = sorted(item_counts, key=lambda i: (-item_counts[i], data.items.code(i)))[:items]
    user_counts = Counter(u for u, i in pairs(data) if i in best)
    active = sorted(user_counts, key=lambda u: (-user_counts[u], data.users.code(u)))[:users]
    dense = densify(data, items=items, users=users)
    assert pairs(dense) == {(u, i) for u, i in pairs(data) if u in active and i in best}
    assert set(dense.users) == set(active)
    assert set(dense.items) == set(best)
    assert dense.intake.kept == len(dense)


def test_core() -> None:
    data = of("a1@1 a2@1 b1@1 b2@1 c2@1 c3@1 d3@1")  # d falls, then item 3, then c
    kept = core(data, per_user=2, per_item=2)
    assert pairs(kept) == {("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")}
    assert kept.intake.dropped == {"outside the core of 2 rows per user, 2 per item": 3}
    assert core(kept, per_user=2, per_item=2) == kept
    with pytest.raises(DataError, match="nothing has 3 rows per user and 2 per item; choose smaller numbers"):
        core(data, per_user=3, per_item=2)


# -------------------------------------------------------------------------------------- what is refused

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
    (leave_last, "data", "Interactions, Graded or Preferences", ["ratings.csv", None, leave_last(DATA)]),
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


# -------------------------------------------------------------------------------------- a little larger


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
