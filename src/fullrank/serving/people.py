"""One outcome per person from rows of what was shown and done: people are the unit of an experiment, not lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from fullrank.arrays import Array, Bools, Doubles, Ints
from fullrank.errors import DataError, check, is_number, shown

BOTH, WAITING, LATE = "people in several arms", "people whose window is not over", "rows after a person's window"


@dataclass(frozen=True)
class People:
    """Who took part, in the order in which they came: arm and outcome of each, and who or what was left out."""

    arm: Array
    outcome: Doubles
    left_out: Mapping[str, int]
    returning: bool  # whether anybody has several rows, and no window says when they count


def gather(rows: Any, outcome: tuple[Array, Array], window: float | None, now: Any) -> People:
    """The outcome of a person is a sum over all their rows by another, such as actions by offers.

    With a window, rows within so many seconds of a person's first count, and people whose window is over by `now`.
    """
    user, seconds = _coded(rows["user"]), _seconds(rows)
    people = int(user.max(initial=-1)) + 1
    counts, over = _within(user, seconds, people, window, now)
    alone = _in_one(_coded(rows["arm"])[counts], user[counts], people)
    order = np.argsort(seconds, kind="stable")
    _, start = np.unique(user[order], return_index=True)
    came = order[np.sort(start)]  # the first row of everybody, in time
    kept = came[(over & alone)[user[came]]]
    above, below = (np.bincount(user[counts], column[counts], people)[user[kept]] for column in outcome)
    left_out = {BOTH: int((~alone & over).sum()), WAITING: int((~over).sum()), LATE: int((~counts).sum())}
    return People(
        np.asarray(rows["arm"])[kept], above / below, {why: n for why, n in left_out.items() if n},
        returning=window is None and len(user) > people,
    )  # fmt: skip


def _within(user: Ints, seconds: Doubles, people: int, window: float | None, now: Any) -> tuple[Bools, Bools]:
    """Which rows count, and of which people the window is over."""
    if window is None:
        return np.ones(len(user), dtype=bool), np.ones(people, dtype=bool)
    check("window", window, is_number(window) and window > 0, "a number of seconds > 0")
    first = np.full(people, np.inf)
    np.minimum.at(first, user, seconds)
    return seconds <= first[user] + window, first + window <= (
        seconds.max(initial=-np.inf) if now is None else _moment(now)
    )


def _in_one(arm: Ints, user: Ints, people: int) -> Bools:
    """Who has rows in one arm only."""
    low, high = np.full(people, len(arm)), np.full(people, -1)
    np.minimum.at(low, user, arm)
    np.maximum.at(high, user, arm)
    alone: Bools = low == high
    return alone


def numbers(rows: Any, name: str) -> Doubles:
    """A column of finite numbers."""
    column = np.asarray(rows[name])
    if column.dtype.kind not in "fiub":
        raise DataError(f"column {name!r} must hold numbers, got {column.dtype}.")
    values = column.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.isfinite(values).argmin())
        raise DataError(f"column {name!r}: {shown(values[row].item())} (row {row}) is not a finite number.")
    return values


def has(rows: Any, name: str) -> bool:
    """Whether a frame or a dict has this column."""
    return name in getattr(rows, "columns", rows)


def check_columns(rows: Any, *names: str) -> None:
    """Refuse rows without these columns, or with columns of different lengths."""
    there = list(getattr(rows, "columns", rows))
    for name in names:
        if name not in there:
            raise DataError(f"there is no column {name!r} among {', '.join(map(str, there))}; add it.")
        if len(rows[name]) != len(rows[names[0]]):
            raise DataError(f"columns of {len(rows[names[0]])} and {len(rows[name])} rows; give columns of one length.")


def _coded(column: Any) -> Ints:
    """Numbers from 0 in order of appearance; names may be of any kind."""
    code: dict[Any, int] = {}
    names = column.tolist() if isinstance(column, np.ndarray) else list(column)
    for row, name in enumerate(names):
        if name is None or (isinstance(name, float) and isnan(name)):
            raise DataError(f"row {row} has no user or arm; leave it out, or say whose it is.")
    return np.array([code.setdefault(name, len(code)) for name in names], dtype=np.int64)


def _seconds(rows: Any) -> Doubles:
    if not has(rows, "time"):
        return np.zeros(len(rows["user"]))
    check_columns(rows, "user", "time")
    time = np.asarray(rows["time"])
    if time.dtype.kind == "M":
        if np.isnat(time).any():
            raise DataError(f"column 'time' is empty in row {int(np.isnat(time).argmax())}; give every row its time.")
        return np.asarray(time.astype("datetime64[us]").astype(np.int64) / 1e6)
    return numbers(rows, "time")


def _moment(now: Any) -> float:
    return float(now) if is_number(now) else float(np.datetime64(now, "us").astype(np.int64) / 1e6)
