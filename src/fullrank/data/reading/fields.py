"""Which column is which: what is wanted from a table, the names it usually has, where it stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from fullrank.data.reading.names import USUAL_NAMES, meaning_of, plain
from fullrank.data.times import UNIT_NAMES, UNITS
from fullrank.errors import DataError, shown

Kind: TypeAlias = Literal["id", "number", "time"]
Column: TypeAlias = str | int  # a column by its name, or by its position from 0


class TimeForm(NamedTuple):
    """How the times of a column are written: numbers of a unit, or dates in one of some strftime forms."""

    unit: str = ""
    forms: tuple[str, ...] = ()
    note: str = ""  # what a reader should know of it; empty where it is seconds or ISO 8601
    given: bool = False  # by the reader, to the letter

    @property
    def micros(self) -> float:
        """Microseconds in one number."""
        return 1e6 / 1000.0 ** UNITS.index(self.unit)

    def __str__(self) -> str:
        return f"{UNIT_NAMES[self.unit]} since 1970" if self.unit else self.forms[0]


SECONDS = TimeForm("s")


class Hints(NamedTuple):
    """What was said of how numbers and times are written."""

    decimal: str = "."
    time_unit: str | None = None
    time_format: str | None = None


class Limits(NamedTuple):
    """What numbers may be, and the rule that others break."""

    least: float = -math.inf
    most: float = math.inf
    rule: str = ""


ANY_NUMBER = Limits()


@dataclass(frozen=True)
class Field:
    """A column wanted from a table: what it is for, what it holds, where it is."""

    role: str
    kind: Kind
    column: Column | None = None  # None: by the usual names, or by position
    required: bool = True
    limits: Limits = ANY_NUMBER
    exact: bool = False  # of numbers: any finite one, kept as float64
    if_counts: Limits | None = None  # of numbers whose column has the name of a count, where that is to matter
    allowed: tuple[str, ...] | None = None  # of ids: the only ones there may be
    rule: str = ""  # what an id breaks that is not allowed
    decimal: str = "."  # of numbers in text
    form: TimeForm = SECONDS  # of times

    @property
    def space(self) -> str:
        """Ids of one space share their numbers: better and worse are both items."""
        return {"better": "item", "worse": "item"}.get(self.role, self.role)


def locate(fields: Sequence[Field], columns: Sequence[str] | None, width: int, name: str) -> dict[str, int]:
    """The position of every wanted column; optional ones that are not there are left out."""
    if columns is not None:
        twice = sorted({column for column in columns if column and list(columns).count(column) > 1})
        if twice:
            raise DataError(f"{name}: column {shown(twice[0])} occurs twice in the header; rename one of them.")
    places: dict[str, int] = {}
    for order, field in enumerate(fields):
        place = _place(field, order, columns, width, set(places.values()))
        if place is not None:
            places[field.role] = place
        elif field.required or field.column is not None:
            needed = [one.role for one in fields if one.required or one.column is not None]
            raise _not_found(field, needed, columns, width, name)
    if len(set(places.values())) < len(places):
        raise DataError(f"{name}: one column is wanted for two purposes: {places}; name the columns.")
    return places


def as_named(field: Field, name: str) -> Field:
    """The field as its column is called: the values of one with the name of a count are counts."""
    counts = field.if_counts is not None and meaning_of(name) == "events"
    return replace(field, limits=field.if_counts) if counts and field.if_counts else field


def _place(field: Field, order: int, columns: Sequence[str] | None, width: int, taken: set[int]) -> int | None:
    if isinstance(field.column, int):
        return field.column if 0 <= field.column < width else None
    if columns is None:
        return None if isinstance(field.column, str) else order if order < width else None
    if field.column is not None:
        return list(columns).index(field.column) if field.column in columns else None
    for usual in USUAL_NAMES[field.role]:
        for place, column in enumerate(columns):
            if plain(column) == usual and place not in taken:
                return place
    return None


def _not_found(
    field: Field, needed: Sequence[str], columns: Sequence[str] | None, width: int, name: str
) -> DataError:  # fmt: skip
    """What to say of a column that is not there; `needed` are the roles that have to be named with it."""
    if columns is None:
        what = f"no column {field.column if field.column is not None else f'for {field.role}'}"
        return DataError(f"{name}: {what}: the file has {width} columns and no header; give positions from 0.")
    there = ", ".join(columns)
    usual = USUAL_NAMES.get(field.role, ())
    examples = ", ".join(dict.fromkeys([field.role, *usual[:2]]))
    expected = shown(field.column) if field.column is not None else f"a name such as {examples}"
    named = ",".join(f"{role}=..." for role in needed)
    return DataError(
        f"{name}: no {field.role} column: expected {expected}, found {there[:200]}; name the columns with "
        f"--columns {named} (in Python columns={{'{field.role}': ...}})."
    )
