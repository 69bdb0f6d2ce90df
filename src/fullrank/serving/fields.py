"""What the fields of an event may hold: checked one by one, each refusal a sentence."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, TypeAlias

from fullrank.data.ids import Name, name_fault
from fullrank.data.times import YEAR_5138, time_fault
from fullrank.errors import DataError, shown

Time: TypeAlias = int | float | str | None  # as the client gave it: seconds since 1970, ISO 8601 text, or nothing

LONGEST_ID = 128  # characters of an event's id, of a recommendation's and of an action's name
LONGEST_TIME = 64
MOST_ITEMS = 1000  # of a list or an offer set


def check_name(field: str, value: Any) -> Name:
    """A user or an item, kept exactly: "7" is not 7.

    >>> check_name("user", 7), check_name("user", "7")
    (7, '7')
    >>> check_name("item", 7.0)
    Traceback (most recent call last):
    fullrank.errors.DataError: the item 7.0 is neither an integer nor a string; give it as one of them.
    """
    if isinstance(value, str):
        return _text(field, value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise DataError(f"the {field} {shown(value)} is neither an integer nor a string; give it as one of them.")
    if not -(2**63) <= value < 2**63:
        raise DataError(f"the {field} {_short(value)} does not fit in 63 bits; give it as a string.")
    return value


def check_id(field: str, value: Any) -> str:
    """An id that the client or the service made: text of at most 128 characters."""
    if not isinstance(value, str):
        raise DataError(f"the {field} {shown(value)} is no text; give a string of at most {LONGEST_ID} characters.")
    if len(value) > LONGEST_ID:
        raise DataError(f"the {field} {shown(value)} has {len(value)} characters; {LONGEST_ID} are allowed.")
    return _text(field, value)


def check_text(field: str, value: Any) -> str:
    """Text that may be empty, as an arm of no experiment is."""
    return value if value == "" else check_id(field, value)


def check_number(field: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"the {field} {shown(value)} is no number; give one.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DataError(f"the {field} {_short(value)} is not finite; give a number.")
    return number


def check_time(field: str, value: Any) -> Time:
    """The client's time, as it was given, once it is known to be one."""
    seconds(value, field)
    kept: Time = value
    return kept


def check_items(field: str, value: Any) -> tuple[Name, ...]:
    """The items of a list, each once."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_ITEMS:
        raise DataError(f"the {field} {shown(value)} must be a list of 1 to {MOST_ITEMS} items.")
    items = tuple(check_name("item", item) for item in value)
    check_distinct(field, items)
    return items


def check_distinct(field: str, items: tuple[Name, ...]) -> None:
    """Refuse an item that is there twice (1 and "1" are two items)."""
    if len(set(items)) < len(items):
        twice = next(item for place, item in enumerate(items) if item in items[:place])
        raise DataError(f"the {field} hold the item {shown(twice)} twice; give every item once.")


def seconds(time: Time, field: str = "time") -> float | None:
    """Seconds since 1970 of a client's time; a date without a zone is one of UTC.

    >>> seconds("2026-01-31T12:00:00+01:00"), seconds(1.5), seconds(None)
    (1769857200.0, 1.5, None)
    """
    if time is None:
        return None
    number = _from_text(time, field) if isinstance(time, str) else check_number(field, time)
    if not 0 <= number < YEAR_5138:
        raise DataError(f"the {field} {shown(time)} is outside 1970 to 5138; {_remedy(number)}.")
    return number


def _remedy(number: float) -> str:
    looks = time_fault(number)
    unit = next((name for name in ("milli", "micro", "nano") if f"{name}seconds" in looks), None)
    return f"give seconds since 1970, not {unit}seconds" if unit else "correct it or leave it out"


def _from_text(text: str, field: str) -> float:
    try:
        if len(text) > LONGEST_TIME or not (text.isascii() and text.isprintable()):  # Python takes any separator
            raise ValueError
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DataError(f"the {field} {shown(text)} is no date as 2026-01-31T12:00:00Z; correct it.") from None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):  # the year 1 in a zone east of Greenwich
        return -1.0


def _text(field: str, value: str) -> str:
    fault = name_fault(value)
    if fault:
        raise DataError(f"the {field} {shown(value)} {fault}.")
    return value


def _short(value: Any) -> str:
    """A number as text, also one whose digits Python would not print."""
    big = isinstance(value, int) and value.bit_length() > 128
    return f"of {value.bit_length()} bits" if big else shown(value)
