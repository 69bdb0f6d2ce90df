"""What a text file looks like: encoding, separator, header; and which column is which."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fullrank.data.reading.records import UNCLOSED, Record, lines_in, records
from fullrank.errors import DataError, check, shown

Kind: TypeAlias = Literal["id", "number", "time"]
Column: TypeAlias = str | int  # a column by its name, or by its position from 0

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
HEAD = 64 << 10
QUOTED = re.compile(r'"(?:[^"]|"")*"')


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
    """A column name for comparison: User_ID and userId are one.

    >>> plain("User_ID"), plain("userId:token")
    ('userid', 'userid')
    """
    return "".join(c for c in name.split(":", maxsplit=1)[0].lower() if c.isalnum())


@dataclass(frozen=True)
class Dialect:
    """How to read a text file."""

    separator: str
    header: tuple[str, ...] | None
    width: int  # fields in a record
    skip: int  # bytes before the first record: a byte order mark, a header
    line: int  # of the first record
    sample: tuple[str, ...]  # the fields of the first record
    encoding: str = "utf-8"


def decoded_head(head: bytes, encoding: str, name: str) -> str:
    """The first bytes as text, without a byte order mark."""
    for mark, hint in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if head.startswith(mark):
            raise DataError(f"{name}: looks like {hint}; convert it to UTF-8.")
    return head.decode(encoding, errors="surrogateescape").removeprefix("\ufeff")


def sniff(head: bytes, name: str, fields: Sequence[Field], separator: str | None, header: bool | None,
          encoding: str = "utf-8") -> Dialect:  # fmt: skip
    """Separator and header of a file from its first bytes, where they are not given."""
    check("separator", separator, separator is None or (len(separator) > 0 and '"' not in separator), "text or None")
    text = decoded_head(head, encoding, name)
    mark = len(head) - len(text.encode(encoding, errors="surrogateescape"))
    if not text.strip("\r\n "):
        raise DataError(f"{name}: no interactions; the file is empty.")
    separator = separator or _separator(text)
    found = (record for record in records(text, separator, final=False) if isinstance(record, Record))
    first = next(found, Record(1, 0, 0, "", [], UNCLOSED))
    if first.fault:
        raise DataError(f"{name}:{first.line}: {first.fault}; repair the file.")
    if not (_looks_like_header(first.fields, fields) if header is None else header):
        return Dialect(separator, None, len(first.fields), mark, 1, tuple(first.fields), encoding)
    second = next(found, Record(first.line + 1, 0, 0, "", []))
    skip = mark + len(text[: first.end].encode(encoding, errors="surrogateescape"))
    line = 1 + lines_in(text[: first.end])
    return Dialect(separator, tuple(first.fields), len(first.fields), skip, line, tuple(second.fields), encoding)


def _separator(text: str) -> str:
    """The first separator that cuts the first lines into the same number of fields, at least two."""
    text = QUOTED.sub('""', text)
    lines = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip()][:20]
    lines = lines[:-1] or lines  # the last may be cut off
    for separator in SEPARATORS:
        if min(line.count(separator) for line in lines) > 0:
            return separator
    return ","


def _looks_like_header(first: Sequence[str], fields: Sequence[Field]) -> bool:
    """A usual or wanted name anywhere, or words where a number must stand."""
    wanted = {plain(str(field.column)) for field in fields if isinstance(field.column, str)}
    usual = {name for field in fields for name in USUAL_NAMES[field.role]}
    if any(plain(cell) in wanted | usual for cell in first):
        return True
    numbers = [place for place, field in enumerate(fields) if field.kind == "number" and place < len(first)]
    return any(not is_number(first[place]) for place in numbers) and all(cell and not is_number(cell) for cell in first)


def is_number(text: str) -> bool:
    """Whether this reads as a number (nan and inf do, as Python reads them)."""
    try:
        float(text)
    except ValueError:
        return False
    return True


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
