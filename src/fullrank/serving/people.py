"""One outcome per person from rows of what was shown and done: people are the unit of an experiment, not lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.arrays import Array, Doubles, Ints
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
    user, order, seconds = _coded(rows["user"]), _in_time(rows), _seconds(rows)
    first = np.full(int(user.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, user, seconds)
    counts = np.ones(len(user), dtype=bool)
    over = np.ones(len(first), dtype=bool)
    if window is not None:
        check("window", window, is_number(window) and window > 0, "a number of seconds > 0")
        counts = seconds <= first[user] + window
        over = first + window <= (_moment(now) if now is not None else seconds.max(initial=-np.inf))
    arm, code = np.asarray(rows["arm"]), _coded(rows["arm"])
    low, high = (np.full(len(first), fill) for fill in (len(code), -1))
    np.minimum.at(low, user[counts], code[counts])
    np.maximum.at(high, user[counts], code[counts])
    several = low != high
    _, start = np.unique(user[order], return_index=True)
    came = order[np.sort(start)]  # the first row of everybody, in time
    kept = came[over[user[came]] & ~several[user[came]]]
    above, below = (np.bincount(user[counts], column[counts], len(first)) for column in outcome)
    left_out = {BOTH: int((several & over).sum()), WAITING: int((~over).sum()), LATE: int((~counts).sum())}
    return People(
        arm[kept], above[user[kept]] / below[user[kept]], {why: n for why, n in left_out.items() if n},
        returning=window is None and len(user) > len(first),
    )  # fmt: skip


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
    return np.array([code.setdefault(name, len(code)) for name in names], dtype=np.int64)


def _seconds(rows: Any) -> Doubles:
    if "time" not in getattr(rows, "columns", rows):
        return np.zeros(len(rows["user"]))
    time = np.asarray(rows["time"])
    if time.dtype.kind == "M":
        return np.asarray(time.astype("datetime64[us]").astype(np.int64) / 1e6)
    return numbers(rows, "time")


def _moment(now: Any) -> float:
    return float(now) if is_number(now) else float(np.datetime64(now, "us").astype(np.int64) / 1e6)


def _in_time(rows: Any) -> Ints:
    return np.argsort(_seconds(rows), kind="stable")
