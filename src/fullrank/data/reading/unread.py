"""What is told of columns: what was taken for counts, and which look like what is missing and were not read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from fullrank.data.reading.dates import are_dates
from fullrank.data.reading.dialect import DATE
from fullrank.data.reading.fields import Field
from fullrank.data.reading.names import MONEY_WORDS, TIME_WORDS, USUAL_NAMES, VALUE_WORDS, meaning_of, plain
from fullrank.data.reading.refusals import Refusals
from fullrank.data.times import UNITS

YEAR = re.compile(r"(?<!\d)(19|2[01])\d\d(?!\d)")
YEAR_1980, YEAR_2100 = 315_532_800, 4_102_444_800  # in seconds: what numbers have to be to look like times


class Sample(NamedTuple):
    """The first cells of a column, and where it stands; its name is "" where there is no header."""

    place: int
    name: str
    cells: pl.Series

    def __str__(self) -> str:
        return f"column '{self.name}'" if self.name else f"column {self.place}"


def note_taken(fields: Iterable[Field], names: Mapping[str, str], into: Refusals) -> None:
    """Keep what the columns of these fields are called, and note values that were taken for counts."""
    into.taken = dict(names)
    for field in fields:
        name = names[field.role]
        if field.if_counts is not None and meaning_of(name) == "events":
            into.notes.append(f"{name} taken as counts")


def name_unread(
    unread: Iterable[Sample], places: Mapping[str, str | int], roles: Sequence[str], into: Refusals
) -> None:
    """Note the columns that look like one of these roles and were not read; an unread time is a doubt.

    `places` are the columns that were read, as somebody would name them.
    """
    missing = [role for role in roles if role not in places]
    for sample in unread if missing else ():
        role = next((role for role in missing if _LOOKS[role](sample)), None)
        if role == "session":
            said = f"{sample} looks like a session and was not read; if these are sessions, say --kind sessions"
            into.notes.append(said)
        elif role is not None:
            option = ",".join(f"{one}={place}" for one, place in (*places.items(), (role, _spell(sample))))
            said = f"{sample} looks like a {role} and was not read; name it with --columns {option}"
            (into.doubts if role == "time" else into.notes).append(said)


def spell_columns(places: Mapping[str, int], header: Sequence[str] | None) -> dict[str, str | int]:
    """The columns that are read as somebody would name them with --columns."""
    return {role: spell(place, header[place] if header else "") for role, place in places.items()}


def spell(place: int, name: str) -> str | int:
    """A column by its name where that can be written with --columns, else by its place."""
    writable = name and not name.isdigit() and not set(name) & set(",= ")
    return name if writable else place


def _spell(sample: Sample) -> str | int:
    return spell(sample.place, sample.name)


def looks_like_time(sample: Sample) -> bool:
    """Whether the cells are dates, or numbers since 1970 in a column whose name speaks of time."""
    cells = sample.cells.drop_nulls()
    if cells.dtype == pl.Date or isinstance(cells.dtype, pl.Datetime):
        return True
    if cells.dtype == pl.String:
        cells = cells.filter(cells.str.strip_chars(" \t") != "")
        numbers = cells.cast(pl.Float64, strict=False)
        if numbers.null_count():
            sure = YEAR.search(cells[0]) or _speaks_of_time(sample.name)  # 1.2.03 may as well be a version
            return bool(DATE.search(cells[0]) and sure) and are_dates(cells)
        cells = numbers
    return cells.dtype.is_numeric() and len(cells) > 0 and _are_times(cells, sample.name)


def _are_times(numbers: pl.Series, name: str) -> bool:
    numbers = numbers.cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    if len(numbers) and numbers.is_between(19_000_000, 22_000_000).all() and (numbers == numbers.floor()).all():
        return are_dates(numbers.cast(pl.Int64).cast(pl.String))  # 20200131
    return (not name or _speaks_of_time(name)) and since_1970(numbers)


def _speaks_of_time(name: str) -> bool:
    return any(word in plain(name) for word in TIME_WORDS)


def since_1970(numbers: pl.Series) -> bool:
    """Whether all are times between 1980 and 2100, in one unit."""
    units = (1000.0**step for step in range(len(UNITS)))
    return len(numbers) > 0 and any(numbers.is_between(YEAR_1980 * unit, YEAR_2100 * unit).all() for unit in units)


def looks_like_value(sample: Sample) -> bool:
    """Whether the name speaks of a rating or a count, not of money, above numbers."""
    name = plain(sample.name)
    if not any(word in name for word in VALUE_WORDS) or any(word in name for word in MONEY_WORDS):
        return False
    numbers = sample.cells.drop_nulls().cast(pl.Float64, strict=False) if _castable(sample.cells) else None
    return numbers is not None and len(numbers) > 0 and numbers.null_count() == 0


def _castable(cells: pl.Series) -> bool:
    return cells.dtype == pl.String or cells.dtype.is_numeric()


def looks_like_session(sample: Sample) -> bool:
    """Whether it has a usual name of a session."""
    return plain(sample.name) in USUAL_NAMES["session"]


_LOOKS = {"time": looks_like_time, "value": looks_like_value, "session": looks_like_session}


def unread_samples(
    header: Sequence[str] | None, rows: Sequence[Sequence[str]], read: Iterable[int]
) -> Iterator[Sample]:
    """The columns of the first rows of a text that are not read."""
    for place in sorted(set(range(len(rows[0]) if rows else 0)) - set(read)):
        cells = pl.Series([row[place] for row in rows], dtype=pl.String)
        yield Sample(place, header[place] if header else "", cells)
