"""The columns of a text: where those stand that are wanted, how they are written, and what is told of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import polars as pl

from fullrank.data.reading.dates import as_written
from fullrank.data.reading.dialect import HEAD, Dialect
from fullrank.data.reading.encoding import as_utf8
from fullrank.data.reading.fields import Field, Hints, as_named, locate
from fullrank.data.reading.refusals import Refusals
from fullrank.data.reading.stream import Stream
from fullrank.data.reading.text import TextReader
from fullrank.data.reading.unread import name_unread, note_taken, since_1970, spell_columns, unread_samples
from fullrank.errors import shown

Later = Callable[[int], Iterator[pl.Series]]  # the cells of a column from its first row on


def place_columns(dialect: Dialect, hints: Hints, name: str, later: Later | None) -> dict[int, Field]:
    """Where the wanted columns of a text stand, and how they are written."""
    columns: dict[int, Field] = {}
    places = locate(dialect.fields, dialect.header, dialect.width, name)
    for field in dialect.fields:
        if field.role in places:
            place = places[field.role]
            sample = pl.Series([row[place] for row in dialect.sample], dtype=pl.String)
            rest = later(place) if later is not None else ()
            columns[place] = as_named(as_written(field, sample, hints, name, rest), _name(dialect, place))
    return columns


def _name(dialect: Dialect, place: int) -> str:
    return dialect.header[place] if dialect.header is not None else ""


def later_cells(source: str | os.PathLike[str], dialect: Dialect, encoding: str, place: int) -> Iterator[pl.Series]:
    """The cells of one column of a file, read once more, some megabytes at a time."""
    with Stream(source) as stream:
        text = as_utf8(stream, encoding)
        head = text.read(HEAD)
        passed = Refusals(stream.name, "skip")  # bad rows are told of when they are read for good
        reader = TextReader(
            text, dialect, {place: Field("time", "id")}, prepare=lambda _, column: column, refusals=passed,
            encoding=encoding,
        )  # fmt: skip
        for batch in reader.batches(head):
            yield batch.columns["time"].cast(pl.String)


def note_columns(
    dialect: Dialect, at: dict[int, Field], into: Refusals, *, header_found: bool, roles: Sequence[str]
) -> None:
    """Tell of the columns: the header, how times are written, what was not read although it looks like these roles."""
    if dialect.header is not None and header_found:
        into.notes.append(f"first line taken as the header: {shown(', '.join(dialect.header))}")
    into.notes += [field.form.note for field in at.values() if field.form.note]
    places = {field.role: place for place, field in at.items()}
    if dialect.header is None:
        note_positions(dialect, at, into)
    note_taken(at.values(), {role: _name(dialect, place) for role, place in places.items()}, into)
    unread = dialect.width - len(at)
    into.notes += [f"{unread} further column{'s' * (unread > 1)} not read"] * bool(unread)
    others = unread_samples(dialect.header, dialect.sample, at)
    name_unread(others, spell_columns(places, dialect.header), roles, into)


def note_positions(dialect: Dialect, at: dict[int, Field], into: Refusals) -> None:
    """Tell where columns that stand in their order, without a header, were taken for something else, or should be."""
    order = [field.role for field in dialect.fields]
    places = {field.role: place for place, field in at.items() if field.column is None}
    if "time" in places and "value" not in order[: order.index("time")]:
        into.notes.append(f"column {places['time']} holds dates and is taken as the time")
    if "value" in places and "time" not in places:
        place = places["value"]
        cells = pl.Series([row[place] for row in dialect.sample], dtype=pl.String).cast(pl.Float64, strict=False)
        if cells.null_count() == 0 and since_1970(cells):
            option = ",".join(
                f"{role}={place}" for role, place in (places | {"time": place}).items() if role != "value"
            )
            doubt = f"column {place} was read as the value and looks like a time; if it is one, say --columns {option}"
            into.doubts.append(doubt)
