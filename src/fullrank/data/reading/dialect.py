"""What a text file looks like: separator and header, where they are not given.

Every separator is tried on the first records. A reading is possible where the records have as many fields as the first
and the columns hold what they must; numbers and times where they belong speak for it. Two readings that are equally
good are an error that shows both: nobody's rows are guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from fullrank.data.reading.fields import Field, locate
from fullrank.data.reading.names import USUAL_NAMES, plain
from fullrank.data.reading.records import UNCLOSED, Record, bytewise, decoded, lines_in, records
from fullrank.errors import DataError, check, shown

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
SPELLED = {"\t": "\\t"}  # as it is written on a command line
HEAD = 64 << 10
SAMPLE = 300  # records that are looked at
MARK = b"\xef\xbb\xbf"  # of byte order
MOSTLY = 0.9  # of the records, where some may be broken
NUMBER = {
    mark: re.compile(rf"[ \t]*[+-]?(\d+{sign}?\d*|{sign}\d+)([eE][+-]?\d+)?[ \t]*", re.ASCII)
    for mark, sign in ((".", r"\."), (",", ","))
}
DATE = re.compile(r"\d+[-/. ](\d+|[A-Za-z]{3,9})[-/. ]\d+|[A-Za-z]{3,9},? \d+|\d{4}-?\d\d-?\d\dT\d")

Row = Sequence[str]


@dataclass(frozen=True)
class Dialect:
    """How to read a text file."""

    separator: str
    header: tuple[str, ...] | None
    width: int  # fields in a record
    skip: int  # bytes before the first record: a byte order mark, a header
    line: int  # of the first record
    sample: tuple[Row, ...]  # the fields of the first records
    fields: tuple[Field, ...] = ()  # what is wanted, in the order in which it stands where there is no header


def sniff(
    head: bytes, name: str, fields: Sequence[Field], *,
    separator: str | None = None, header: bool | None = None, decimal: str = ".", final: bool = True,
) -> Dialect:  # fmt: skip
    """Separator and header of a file from its first bytes (UTF-8), where they are not given.

    `final`: these are all its bytes.
    """
    check("separator", separator, separator is None or (len(separator) > 0 and '"' not in separator), "text or None")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{name}: looks like utf-16; pass encoding='utf-16' (--encoding utf-16).")
    text = head.removeprefix(MARK).decode("latin-1")
    if not final:  # what may be cut off is left out
        text = text[: max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1] or text
    if not text.strip("\r\n "):
        raise DataError(f"{name}: no interactions; the file is empty.")
    tried = [_reading(text, candidate, fields, header, decimal) for candidate in _candidates(separator)]
    chosen = tried[0] if separator else _choose(tried, name)
    first = chosen.first
    if first.fault:
        raise DataError(f"{name}:{first.line}: {first.fault}; repair the file.")
    if chosen.header is None:
        raise DataError(
            f"{name}:{first.line}: {_show(chosen.rows[0])} may be a header or a row; say header=True or header=False "
            "(--header or --no-header)."
        )
    skip = len(MARK) * head.startswith(MARK)
    if not chosen.header:
        ordered = tuple(order_by_content(fields, chosen.rows, decimal))
        return Dialect(chosen.separator, None, chosen.width, skip, 1, tuple(chosen.rows), ordered)
    line = first.line + lines_in(text[first.start : first.end])
    names, rows = tuple(chosen.rows[0]), tuple(chosen.rows[1:])
    return Dialect(chosen.separator, names, chosen.width, skip + first.end, line, rows, tuple(fields))


@dataclass(frozen=True)
class Reading:
    """The first records, cut by one separator, and what speaks for it."""

    separator: str
    first: Record
    rows: Sequence[Row] = ()  # that have as many fields as the first
    share: float = 0.0  # of all
    header: bool | None = False  # whether the first is one; None: it may be
    located: bool = False  # whether every column that is wanted is there
    typed: int = 0  # columns of numbers or times that hold such
    broken: int = 0  # and that do not
    decimal: str = ""  # the mark with which they do, where it is another than was given

    @property
    def width(self) -> int:
        return len(self.first.fields)

    @property
    def possible(self) -> bool:
        """Whether somebody may have meant this."""
        return self.width > 1 and self.share > 0.5 and self.located and not self.broken

    @property
    def weight(self) -> tuple[bool, int, float]:
        """What speaks for it, most important first."""
        return self.share >= MOSTLY, self.typed, self.share

    def __str__(self) -> str:
        row = self.rows[1 if self.header and len(self.rows) > 1 else 0]
        mark = f" and --decimal '{self.decimal}'" if self.decimal else ""
        return f"{_show(row)} with --separator '{SPELLED.get(self.separator, self.separator)}'{mark}"


def _reading(text: str, separator: str, fields: Sequence[Field], header: bool | None, decimal: str) -> Reading:
    every = records(text, bytewise(separator), final=False)
    some = [record for record in islice(every, SAMPLE) if isinstance(record, Record)]
    first = some[0] if some else Record(1, 0, 0, "", [], UNCLOSED)
    if first.fault:
        return Reading(separator, first)
    rows = [
        [cell.encode("latin-1").decode(errors="replace") for cell in record.fields]
        for record in some
        if not record.fault and len(record.fields) == len(first.fields)
    ]
    header = has_header(rows, fields, decimal) if header is None else header
    share, body = len(rows) / len(some), rows[1:] if header else rows
    fields = fields if header else order_by_content(fields, rows, decimal)
    try:
        places = locate(fields, rows[0] if header else None, len(rows[0]), "")
    except DataError:
        return Reading(separator, first, rows, share, header)
    held = {mark: _held_columns(fields, places, body, mark) for mark in (decimal, ",")}  # a comma is never assumed
    mark = next((mark for mark, columns in held.items() if all(columns)), decimal)
    typed, broken = sum(held[mark]), len(held[mark]) - sum(held[mark])
    return Reading(separator, first, rows, share, header, True, typed, broken, "" if mark == decimal else mark)


def order_by_content(fields: Sequence[Field], rows: Sequence[Row], decimal: str = ".") -> Sequence[Field]:
    """The fields as they stand in rows without a header: dates where the value is expected are the time.

    A value may then follow, if numbers do.
    """
    roles = {field.role: field for field in fields if field.column is None}
    place = next((order for order, field in enumerate(fields) if field.role == "value"), None)
    if place is None or len(roles) < len(fields) or "time" not in roles or not _are_dates(rows, place, decimal):
        return fields
    rest = [field for field in fields if field.role not in ("value", "time")]
    after = [row[place + 1] for row in rows] if len(rows[0]) > place + 1 else []
    return [*rest, roles["time"], *([roles["value"]] if mostly_holds(roles["value"], after, decimal) else [])]


def _are_dates(rows: Sequence[Row], place: int, decimal: str = ".") -> bool:
    """Whether most cells of a column are dates, and no numbers."""
    cells = [row[place] for row in rows if place < len(row)]
    dates = [cell for cell in cells if DATE.search(cell) and not _fits(cell, NUMBER[decimal])]
    return 2 * len(dates) > len(cells)


def _held_columns(fields: Sequence[Field], places: dict[str, int], rows: Sequence[Row], decimal: str) -> list[bool]:
    """Of every column of numbers or times, whether it holds such."""
    typed = [field for field in fields if field.kind != "id" and field.role in places and rows]
    return [mostly_holds(field, [row[places[field.role]] for row in rows], decimal) for field in typed]


def _choose(tried: Sequence[Reading], name: str) -> Reading:
    """The reading for which most speaks; an error where another is as good, or a decimal comma must be told."""
    possible = sorted((one for one in tried if one.possible), key=lambda one: one.weight, reverse=True)
    even = [one for one in tried if one.width > 1 and one.share >= MOSTLY and one.separator != " "]
    if not possible or (even and possible[0].separator == " " and not possible[0].typed):  # blanks stand in text, too
        return max(even or tried, key=lambda one: (one.width > 1, one.share, one.located))
    best = [one for one in possible if one.weight == possible[0].weight]
    best = [one for one in best if one.separator != " "] or best
    if len(best) == 1 and not best[0].decimal:
        return best[0]
    other = next((one for one in (*best, *possible) if one is not best[0]), None)
    line = f"{name}:{best[0].first.line}"
    if other is None:
        raise DataError(f"{line}: numbers have a comma where a point is expected; read it as {best[0]}.")
    raise DataError(f"{line}: this can be read in two ways: {best[0]}, or {other}; say which.")


def has_header(rows: Sequence[Row], fields: Sequence[Field], decimal: str = ".") -> bool | None:
    """Whether the first row names the columns; None where it may as well be a row like the others.

    It does where columns are asked for by name, where every one that is needed has a usual name, or where words stand
    above numbers or times, or above dates wherever these are. Words above the numbers of ids alone leave it open.
    """
    first, rest = rows[0], rows[1:]
    fields = order_by_content(fields, rest, decimal)
    if any(isinstance(field.column, str) for field in fields):
        return True
    places = {
        field.role: field.column if isinstance(field.column, int) else order for order, field in enumerate(fields)
    }
    typed = [field for field in fields if field.kind != "id" and places[field.role] < len(first)]
    above = [field for field in typed if mostly_holds(field, [row[places[field.role]] for row in rest], decimal)]
    a_row = any(_holds(field, first[places[field.role]], decimal) for field in above)
    if all(_usually(field, first, places[field.role]) for field in fields if field.required):
        return None if a_row else True
    words = not any(_fits(cell, NUMBER[decimal]) or not cell for cell in first)
    if a_row or not words or not rest:
        return False
    if above or any(_are_dates(rest, place) and not _are_dates([first], place) for place in range(len(first))):
        return True
    ids = [[row[place] for row in rest] for place in range(len(first))]
    return None if len(rest) > 1 and any(all(_fits(cell, NUMBER["."]) for cell in column) for column in ids) else False


def _usually(field: Field, first: Row, place: int) -> bool:
    """Whether a usual name of this column is in the first row: in its place, if there is one."""
    cells = first[place : place + 1] if isinstance(field.column, int) else first
    return any(plain(cell) in USUAL_NAMES[field.role] for cell in cells)


def mostly_holds(field: Field, cells: Sequence[str], decimal: str = ".") -> bool:
    """Whether most of these cells hold what the column must: some may be broken."""
    return bool(cells) and 2 * sum(_holds(field, cell, decimal) for cell in cells) > len(cells)


def _holds(field: Field, cell: str, decimal: str = ".") -> bool:
    number = _fits(cell, NUMBER[decimal])
    return number or DATE.search(cell) is not None if field.kind == "time" else number


def _fits(cell: str, pattern: re.Pattern[str]) -> bool:
    return pattern.fullmatch(cell) is not None


def first_names(head: bytes, separator: str | None = None) -> set[str]:
    """The names that may stand in the first line, whatever separates them, as they are compared."""
    names: set[str] = set()
    text = head.removeprefix(MARK).decode("latin-1")
    for candidate in _candidates(separator):
        record = next(records(text, bytewise(candidate), final=False), None)
        if isinstance(record, Record):
            names.update(plain(decoded(cell)) for cell in record.fields)
    return names


def _candidates(separator: str | None) -> tuple[str, ...]:
    """The separators to try: all, or the one that is given, which may be spelled."""
    if separator is None:
        return SEPARATORS
    return (next((sign for sign, spelled in SPELLED.items() if spelled == separator), separator),)


def _show(row: Row) -> str:
    return shown(" | ".join(row))
