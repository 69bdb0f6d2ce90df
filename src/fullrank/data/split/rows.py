"""Splits within users' histories: the last rows, random ones, those after a moment."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fullrank.data.events import Events
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.split.hash_keys import (
    ROWS,
    TIES,
    Counts,
    Order,
    check_fraction,
    hash_keys_of,
    last_of_users,
    rows_per_user,
    share,
    shuffled,
    shuffled_by_user,
    timed_by_user,
    times_of,
)
from fullrank.data.split.parts import HELD_OUT, VALID, AnyData, Data, Labels, Split, many, unit, usable
from fullrank.data.split.repeats import cut_and_merge
from fullrank.data.times import MICROSECONDS, YEAR_5138, Times
from fullrank.errors import DataError, check, check_integer

Timed = TypeVar("Timed", Interactions, Graded)
Moment: TypeAlias = str | date | np.datetime64 | int | float


@overload
def leave_last(data: Events, n: int = ..., *, repeat: bool = ..., seed: int = ...) -> Split[Interactions]: ...


@overload
def leave_last(data: Timed, n: int = ..., *, seed: int = ...) -> Split[Timed]: ...


def leave_last(data: Any, n: int = 1, *, repeat: bool = False, seed: int = 0) -> Split[Any]:
    """The last n rows of every user by time are held out (Steck 2010: n=5); of graded cases the last n cases.

    Of events the last n; then those of each part are merged. Those of items that the user had before are left out of
    the held-out part and counted, or with `repeat=True` kept there.

    A user with n or fewer rows stays wholly in train, so that everyone judged has something to learn from.
    Equal times of a user are put in an order by chance, from (seed, user, item): by id, popular or new
    items would be held out more often. The rows held out for n are among those held out for n + 1, as far
    as users have them.

    >>> data = Interactions.of(["a", "a", "a", "b"], [1, 2, 3, 1], time=[30, 20, 10, 40])
    >>> split = leave_last(data)
    >>> split, split.held_out.items.name(split.held_out.item[0])
    (Split(3 train, 1 held_out), 1)
    >>> split.how
    'The last 1 row of each user by time is held out (1 of 4 rows); 1 user with 1 row or fewer stays in train;
    equal times are shuffled with seed 0.'
    """
    usable(data, events=True)
    check_integer("n", n, 1)
    counts = rows_per_user(data)
    order = timed_by_user(data.user, len(counts), times_of(data, "leave_last"), hash_keys_of(data, seed, TIES))
    take = np.where(counts > n, n, 0)
    label = _labels(data, last_of_users(order, np.cumsum(counts), take))
    each = many(n, unit(data))
    clauses = [
        f"The last {each} of each user by time {'is' if n == 1 else 'are'} held out {_of(take, data)}",
        _staying(int(((counts > 0) & (counts <= n)).sum()), f"{each} or fewer"),
        f"equal times are shuffled with seed {seed}",
    ]
    return cut_and_merge(data, label, clauses, f"no user has more than {each}: choose a smaller n", repeat)


@overload
def holdout(
    data: Events, fraction: float = ..., *, per_user: bool = ..., minimum: int = ..., valid: float = ...,
    repeat: bool = ..., seed: int = ...,
) -> Split[Interactions]: ...  # fmt: skip


@overload
def holdout(
    data: Data, fraction: float = ..., *, per_user: bool = ..., minimum: int = ..., valid: float = ..., seed: int = ...
) -> Split[Data]: ...


def holdout(
    data: Any, fraction: float = 0.2, *, per_user: bool = True, minimum: int = 1, valid: float = 0.0,
    repeat: bool = False, seed: int = 0,
) -> Split[Any]:  # fmt: skip
    """A fraction of every user's rows is held out at random, and another kept to validate on.

    Lim et al. 2015 take 0.2 and valid=0.1.
    A user's number of rows is rounded, halves up, first fraction + valid together, then fraction; at least
    one row stays in train. With `per_user=False` the fraction is of all rows, wherever it falls (Steck 2015: 0.05),
    and users may lose all of theirs. Users with fewer than `minimum` rows stay wholly in train.
    Events and `repeat`: as in `leave_last`.

    >>> data = Interactions.of([1] * 10 + [2] * 3, [*range(10), *range(3)])
    >>> holdout(data, 0.2, valid=0.1, minimum=5)
    Split(10 train, 1 valid, 2 held_out)
    """
    usable(data, events=True)
    check_fraction("fraction", fraction)
    check_fraction("valid", valid, zero=True)
    check("valid", valid, fraction + valid < 1, f"below 1 together with fraction={fraction}")
    check("per_user", per_user, isinstance(per_user, bool), "True or False")
    check_integer("minimum", minimum, 1)
    counts = rows_per_user(data)
    order, ends, groups = _groups(data, np.where(counts >= minimum, counts, 0), per_user, seed)
    both = np.minimum(share(fraction + valid, groups), np.maximum(groups - 1, 0))
    take = np.minimum(share(fraction, groups), both)
    label = _labels(data, last_of_users(order, ends, take), last_of_users(order, ends - take, both - take))
    if valid and not (both - take).any():
        raise DataError("nothing falls into the validation part; choose a larger `valid`, or bring more data.")
    whose = f"each user's {unit(data)}" if per_user else f"all {unit(data)}"
    clauses = [
        f"{fraction:.4g} of {whose}, at random with seed {seed}, is held out {_of(take, data)}",
        f"{valid:.4g} is for validation {_of(both - take, data)}" if valid else "",
        _staying(int(((counts > 0) & (counts < minimum)).sum()), f"fewer than {many(minimum, unit(data))}"),
    ]
    remedy = f"choose another fraction or a smaller minimum, or bring users with more {unit(data)}"
    return cut_and_merge(data, label, clauses, remedy, repeat)


@overload
def by_time(
    data: Events, at: Moment | None = ..., *, fraction: float | None = ..., repeat: bool = ...
) -> Split[Interactions]: ...


@overload
def by_time(data: Timed, at: Moment | None = ..., *, fraction: float | None = ...) -> Split[Timed]: ...


def by_time(
    data: Any, at: Moment | None = None, *, fraction: float | None = None, repeat: bool = False
) -> Split[Any]:  # fmt: skip
    """Everything at or after one moment is held out: every training time is before every held-out time.

    `at` is an ISO date or time, a datetime (both UTC unless they say otherwise), a datetime64, or seconds
    since 1970. With `fraction` the moment is chosen so that at least this share of the rows is held out:
    rows of one moment stay together, all held out. Events and `repeat`: as in `leave_last`.

    >>> data = Interactions.of([1, 1, 2, 2], [1, 2, 1, 2], time=[10, 20, 20, 30])
    >>> by_time(data, fraction=0.5)
    Split(1 train, 3 held_out)
    >>> by_time(data, at="1970-01-01T00:00:30Z").how
    'Rows at or after 1970-01-01T00:00:30 are held out (1 of 4 rows).'
    """
    usable(data, events=True)
    check("at", at, (at is None) != (fraction is None), "given, or else 'fraction', but not both")
    time = times_of(data, "by_time")
    moment = _moment_before(time, fraction) if at is None else as_moment(at)
    held = time >= moment
    clauses = [f"{unit(data).capitalize()} at or after {_text(moment)} are held out {_of(held, data)}"]
    first, last = time.min(), time.max()
    remedy = f"the times run from {_text(first)} to {_text(last)}: choose a moment after the first, up to the last"
    if first == last:
        remedy = f"all times are {_text(first)}: split at random instead"
    return cut_and_merge(data, _labels(data, np.flatnonzero(held)), clauses, remedy, repeat)


def _moment_before(time: Times, fraction: float | None) -> np.datetime64:
    """The last moment with at least this fraction of all times at or after it."""
    check_fraction("fraction", fraction)
    place = len(time) - max(int(share(fraction or 0, len(time))), 1)
    return np.datetime64(int(np.partition(time.view(np.int64), place)[place]), "us")


def as_moment(at: Any) -> np.datetime64:
    """A moment as datetime64 in microseconds, UTC.

    >>> as_moment("2003-02-28T20:00+02:00"), as_moment(1.5)
    (np.datetime64('2003-02-28T18:00:00.000000'), np.datetime64('1970-01-01T00:00:01.500000'))
    """
    try:
        moment = _as_moment(at)
    except (ValueError, OverflowError, TypeError):
        moment = np.datetime64("NaT")
    seconds = moment.astype("datetime64[s]").astype(np.int64)
    inside = not np.isnat(moment) and 0 <= seconds < YEAR_5138
    expected = "an ISO date such as '2003-02-28', a datetime, or seconds, from 1970 to the year 5138"
    check("at", at, bool(inside), expected)
    return moment.astype(MICROSECONDS)


def _as_moment(at: Any) -> np.datetime64:
    if isinstance(at, str):
        at = datetime.fromisoformat(at)
    if isinstance(at, datetime) and at.tzinfo is not None:
        at = at.astimezone(UTC).replace(tzinfo=None)
    if isinstance(at, date | np.datetime64):
        return np.datetime64(at)
    if isinstance(at, bool) or not isinstance(at, int | float | np.integer | np.floating):
        raise TypeError
    return np.datetime64(round((at if isinstance(at, int) else float(at)) * 1_000_000), "us")


def _text(moment: np.datetime64) -> str:
    return str(np.datetime_as_string(moment, unit="auto"))


def _labels(data: AnyData, held_out: Order, valid: Order | None = None) -> Labels:
    label = np.zeros(len(data), dtype=np.int8)
    label[held_out] = HELD_OUT
    if valid is not None:
        label[valid] = VALID
    return label


def _groups(data: AnyData, eligible: Counts, per_user: bool, seed: int) -> tuple[Order, Counts, Counts]:
    """Shuffled rows in groups, each user's or all as one: their order, where each group ends, how many it offers."""
    key = hash_keys_of(data, seed, ROWS)
    if per_user:
        order = shuffled_by_user(data.user, len(data.users), key)
        return order, np.cumsum(rows_per_user(data)), eligible
    order = shuffled(key)
    order = order[eligible[data.user[order]] > 0]
    return order, np.array([len(order)]), np.array([len(order)])


def _of(taken: NDArray[Any], data: AnyData) -> str:
    return f"({int(taken.sum()):,} of {many(len(data), unit(data))})"


def _staying(users: int, few: str) -> str:
    return f"{many(users, 'users')} with {few} {'stays' if users == 1 else 'stay'} in train" if users else ""
