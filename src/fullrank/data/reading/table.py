"""Any source as columns by role, with the ids they are codes of: files, data frames, mappings."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.reading.dialect import HEAD, first_names, sniff
from fullrank.data.reading.fields import Field, Hints
from fullrank.data.reading.names import plain
from fullrank.data.reading.refusals import OnBad, Refusals
from fullrank.errors import DataError
from fullrank.runtime.memory import check_address_space, check_fits

if TYPE_CHECKING:
    from fullrank.data.reading.text import Batch, TextReader


def column_names(source: str | os.PathLike[str], separator: str | None = None, encoding: str = "utf-8") -> set[str]:
    """The names in the first line of a text file, or of the columns of a parquet file, as they are compared."""
    from fullrank.data.reading.encoding import as_utf8
    from fullrank.data.reading.stream import Stream

    with Stream(source) as stream:
        if stream.magic.startswith(b"PAR1") and stream.regular:
            check_address_space()
            import polars as pl

            return {plain(name) for name in pl.scan_parquet(stream.name).collect_schema().names()}
        return first_names(as_utf8(stream, encoding).read(HEAD), separator)


@dataclass
class Table:
    """Columns by role (ids as codes), the ids they are codes of, what happened on the way, what columns are called."""

    name: str
    columns: dict[str, Any]
    ids: dict[str, Ids]
    intake: Intake
    taken: dict[str, str] = dataclasses.field(default_factory=dict)


def read_table(
    source: Any,
    fields: Sequence[Field],
    *,
    separator: str | None = None,
    header: bool | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    time_unit: str | None = None,
    time_format: str | None = None,
    on_bad: OnBad = "error",
    quarantine: str | Path | None = None,
    name_unread: Sequence[str] = (),
) -> Table:
    """The wanted columns of any source; the ground of `read`, `read_sessions` and `read_preferences`.

    Of text: `separator` between fields; `header`, whether the first line names the columns; `decimal`, the mark in
    numbers ("." or ","); `encoding`. Of times: `time_unit` of numbers ("s", "ms", "us", "ns") or `time_format` of
    dates (strftime, such as "%d/%m/%Y"). What is not given is found by looking, and told in the intake; what can be
    read in two ways is an error. `on_bad`: the first bad row is an "error", or all are left out and counted ("skip"),
    or also listed in the file `quarantine` ("quarantine"). `name_unread`: roles ("value", "time", "session") of which
    a column that looks like one is named in the intake where none is read.
    """
    from fullrank.data.reading.encoding import as_utf8
    from fullrank.data.reading.stream import Stream, check_room

    check_room(source)
    hints = Hints(decimal, time_unit, time_format)
    if not isinstance(source, str | os.PathLike):
        from fullrank.data.reading.typed import frame_batches

        refusals = Refusals(type(source).__name__, on_bad, quarantine, places="row")
        into = _Collector(fields, refusals, text=False)
        return into.collect(frame_batches(source, fields, refusals, hints, into.prepare, name_unread))
    with Stream(source) as stream:
        if stream.magic.startswith(b"PAR1") and stream.regular:
            from fullrank.data.reading.typed import parquet_batches

            refusals = Refusals(stream.name, on_bad, quarantine, places="row")
            into = _Collector(fields, refusals, text=False)
            return into.collect(parquet_batches(stream.name, fields, refusals, hints, into.prepare, name_unread))
        from fullrank.data.reading.placing import later_cells, note_columns, place_columns
        from fullrank.data.reading.text import TextReader

        text, refusals = as_utf8(stream, encoding), Refusals(stream.name, on_bad, quarantine)
        into, head = _Collector(fields, refusals, text=True), text.read(HEAD)
        given: dict[str, Any] = {"separator": separator, "header": header, "decimal": decimal}
        dialect = sniff(head, stream.name, fields, final=len(head) < HEAD, **given)
        later = partial(later_cells, source, dialect, encoding) if stream.regular else None
        at = place_columns(dialect, hints, stream.name, later)
        note_columns(dialect, at, refusals, header_found=header is None, roles=name_unread)
        reader = TextReader(text, dialect, at, prepare=into.prepare, refusals=refusals, encoding=encoding)
        return into.collect(_watch(reader.batches(head), reader, into))


def _watch(batches: Iterator[Batch], reader: TextReader, into: _Collector) -> Iterator[Batch]:
    """The same batches; the first tells how many rows to expect, and whether they will fit into memory."""
    stream = reader.stream
    for batch in batches:
        if not into.expected and batch.rows and stream.size and stream.consumed:
            expanded = stream.size * stream.expanded / stream.consumed  # bytes of text in all
            rows = batch.rows * max(1.0, expanded / reader.offset)
            check_fits(rows * 40, f"{stream.name}: about {rows:,.0f} rows")
            into.expected = int(1.02 * rows)
        yield batch


class _Collector:
    """Batches of columns into a table: ids by space, numbers and times as they come."""

    def __init__(self, fields: Sequence[Field], refusals: Refusals, *, text: bool) -> None:
        from fullrank.data.reading.columns import IdColumn

        self.fields = {field.role: field for field in fields}
        self.refusals = refusals
        self.expected = 0  # rows, where that can be told early
        roles: dict[str, list[str]] = {}
        for field in fields:
            if field.kind == "id":
                roles.setdefault(field.space, []).append(field.role)
        self.spaces = {space: IdColumn(shared, text) for space, shared in roles.items()}

    def prepare(self, role: str, column: Any) -> Any:
        """What can be done to a column in any thread and any order: numbering its strings."""
        field = self.fields[role]
        return self.spaces[field.space].numbered(column) if field.kind == "id" else column

    def collect(self, batches: Iterator[Batch]) -> Table:
        """All batches, in order, as one table."""
        from fullrank.data.reading.columns import Growing

        plain: dict[str, Growing] = {}
        rows = 0
        for batch in batches:
            rows += batch.rows
            for role, column in batch.columns.items():
                field = self.fields[role]
                if field.kind == "id":
                    self.spaces[field.space].add(role, column, self.expected)
                else:
                    plain.setdefault(role, Growing(column.dtype)).append(column, self.expected)
        refusals = self.refusals
        dropped, notes = sum(refusals.counts.values()), refusals.finish()
        if rows == 0:
            why = f"all {dropped:,} rows were refused" if dropped else "there is a header at most"
            raise DataError(f"{refusals.name}: no interactions; {why}.")
        columns: dict[str, Any] = {}
        ids: dict[str, Ids] = {}
        for space, column in self.spaces.items():
            if column.used:
                codes, ids[space] = column.finish()
                columns.update(codes)
        columns.update((role, growing.whole()) for role, growing in plain.items())
        intake = Intake(rows + dropped, 0, dict(refusals.counts), notes, tuple(refusals.doubts))
        return Table(refusals.name, columns, ids, intake, refusals.taken)
