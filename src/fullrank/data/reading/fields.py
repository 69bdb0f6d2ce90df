"""Which column is which: what is wanted from a table, the names it usually has, where it stands."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from fullrank.data.times import UNIT_NAMES, UNITS
from fullrank.errors import DataError, shown

Kind: TypeAlias = Literal["id", "number", "time"]
REMARK = re.compile(r"[:,(\[]")
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


@dataclass(frozen=True)
class Field:
    """A column wanted from a table: what it is for, what it holds, where it is."""

    role: str
    kind: Kind
    column: Column | None = None  # None: by the usual names, or by position
    required: bool = True
    least: float = -math.inf  # of numbers
    most: float = math.inf
    allowed: tuple[str, ...] | None = None  # of ids: the only ones there may be
    rule: str = ""  # what a number or an id breaks that is not allowed
    decimal: str = "."  # of numbers in text
    form: TimeForm = SECONDS  # of times

    @property
    def space(self) -> str:
        """Ids of one space share their numbers: better and worse are both items."""
        return {"better": "item", "worse": "item"}.get(self.role, self.role)


USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "customer", "customerid", "visitorid", "reviewerid", "person", "member"),
    "item": (
        "item", "itemid", "iid", "movie", "movieid", "artist", "artistid", "product", "productid", "asin",
        "parentasin", "video", "videoid", "song", "songid", "track", "trackid", "book", "bookid", "isbn",
    ),
    "value": ("value", "rating", "ratings", "score", "stars", "overall", "weight", "count", "playcount", "plays",
              "watchratio", "quantity"),
    "time": ("time", "timestamp", "ts", "date", "datetime", "unixreviewtime", "created", "createdat", "eventtime"),
    "session": ("session", "sessionid", "case", "query", "queryid", "impression", "impressionid"),
    "grade": ("grade", "relevance", "class", "level", "value", "rating"),
    "action": ("action", "event", "eventtype", "feedback"),
    "better": ("better", "preferred", "winner", "chosen", "over"),
    "worse": ("worse", "other", "loser", "rejected", "under"),
}  # fmt: skip


def plain(name: str) -> str:
    """A column name for comparison: User_ID and userId are one; what follows a colon, comma or bracket is a remark.

    >>> plain("User_ID"), plain("userId:token"), plain("Rating (1-5)")
    ('userid', 'userid', 'rating')
    """
    return "".join(c for c in REMARK.split(name, maxsplit=1)[0].lower() if c.isalnum())


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
            raise _not_found(field, columns, width, name)
    if len(set(places.values())) < len(places):
        raise DataError(f"{name}: one column is wanted for two purposes: {places}; name the columns.")
    return places


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


def _not_found(field: Field, columns: Sequence[str] | None, width: int, name: str) -> DataError:
    if columns is None:
        what = f"no column {field.column if field.column is not None else f'for {field.role}'}"
        return DataError(f"{name}: {what}: the file has {width} columns and no header; give positions from 0.")
    there = ", ".join(columns)
    usual = f"a name such as {', '.join(USUAL_NAMES[field.role][:3])}"
    expected = shown(field.column) if field.column is not None else usual
    return DataError(
        f"{name}: no {field.role} column: expected {expected}, found {there[:200]}; "
        f"name it with {field.role}='...' (--columns {field.role}=... on the command line)."
    )
