"""Delimited text, chunk by chunk: the fast way where it is sure, the careful way where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from fullrank.arrays import Bools
from fullrank.data.ids import is_canonical_integer
from fullrank.data.reading.chunks import last_record_end, parse, plain_text
from fullrank.data.reading.columns import convert, explain
from fullrank.data.reading.dialect import Dialect
from fullrank.data.reading.encoding import Transcoded
from fullrank.data.reading.fields import Field
from fullrank.data.reading.records import Record, bytewise, decoded, records
from fullrank.data.reading.refusals import Refusals, Refused
from fullrank.data.reading.stream import Stream
from fullrank.errors import DataError
from fullrank.runtime.threads import in_order

CHUNK = 4 << 20
PIECE = 128 << 10  # what is read carefully when a chunk is in doubt
LONGEST_LINE = 4 << 20


class Batch(NamedTuple):
    """Some rows: a converted column for every role."""

    columns: dict[str, Any]
    rows: int
    lines: int = 0  # of text they stood in


Prepare: TypeAlias = Callable[[str, Any], Any]  # what is done to a converted column (role, column) in a thread


class TextReader:
    """The records of a text file as batches of converted columns."""

    def __init__(
        self, stream: Stream | Transcoded, dialect: Dialect, fields: dict[int, Field],
        *, prepare: Prepare, refusals: Refusals, encoding: str = "utf-8",
    ) -> None:  # fmt: skip
        self.stream, self.dialect, self.fields = stream, dialect, fields
        self.prepare, self.refusals, self.encoding = prepare, refusals, encoding
        self.line = dialect.line
        self.offset = dialect.skip  # of the next record's first byte in the expanded file
        self.separator = dialect.separator.encode()
        self.schema = {str(place): self._type(place) for place in range(dialect.width)}
        self.ids = [place for place, field in fields.items() if field.kind == "id"]
        self.columns_read = sorted({*fields, dialect.width - 1})  # the last one shows whether fields are missing

    def _type(self, place: int) -> pl.DataType:
        field = self.fields.get(place)
        sample = self.dialect.sample[0][place] if self.dialect.sample else ""
        if field is not None and field.kind == "number" and field.decimal == ".":
            return pl.Float64()
        integer = field is not None and (field.kind == "id" or (field.kind == "time" and not field.form.forms))
        return pl.Int64() if integer and is_canonical_integer(sample) else pl.String()

    def batches(self, head: bytes) -> Iterator[Batch]:
        """All records after `head`'s skipped bytes, in order."""
        for body, batch in in_order(lambda body: self._fast(body, self.schema), self._bodies(head)):
            if batch is not None:
                yield self._advance(body, batch)
            else:
                yield from self._doubtful(body)

    def _bodies(self, head: bytes) -> Iterator[bytes]:
        """Whole records, some megabytes at a time."""
        rest = head[self.dialect.skip :]
        final = False
        while not final:
            fresh = self.stream.read(CHUNK)
            final = len(fresh) < CHUNK
            rest = rest + fresh
            body = rest if final else rest[: last_record_end(rest, self.separator)]
            rest = rest[len(body) :]
            if len(rest) > LONGEST_LINE:
                raise DataError(
                    f"{self.stream.name}: a line of over {LONGEST_LINE:,} bytes near the end; is this text?"
                )
            if body:
                yield body

    def _doubtful(self, body: bytes) -> Iterator[Batch]:
        """Smaller pieces the fast way, those still in doubt the careful way."""
        words = {str(place): pl.String() for place, field in self.fields.items() if field.kind == "id"}
        batch = self._fast(body, self.schema | words)
        if batch is not None:  # there are other ids among the integers
            self.schema = self.schema | words
            yield self._advance(body, batch)
            return
        while body:
            piece = body if len(body) <= PIECE else body[: last_record_end(body[:PIECE], self.separator) or len(body)]
            body = body[len(piece) :]
            batch = self._fast(piece, self.schema)
            yield self._careful(piece) if batch is None else self._advance(piece, batch)

    def _advance(self, body: bytes, batch: Batch) -> Batch:
        """Count the lines and bytes of records that were read."""
        self.line += body.count(b"\n") + body.count(b"\r") - body.count(b"\r\n") if b"\r" in body else batch.lines
        self.offset += len(body)
        return batch

    def _fast(self, body: bytes, schema: dict[str, pl.DataType]) -> Batch | None:
        """The rows of these records by polars, or None where anything is unusual."""
        text = plain_text(body)
        if text is None:
            return None
        frame = parse(text, self.separator, schema, self.columns_read, self.ids)
        if frame is None:
            return None
        columns: dict[str, Any] = {}
        for place, field in self.fields.items():
            columns[field.role], bad = convert(frame[str(place)], field, text=True)
            if bad.any():
                return None
        return Batch({role: self.prepare(role, column) for role, column in columns.items()}, frame.height, frame.height)

    def _careful(self, piece: bytes) -> Batch:
        """The rows of these records one by one; what cannot be taken is refused with its line."""
        text = piece.decode("latin-1")
        good: list[Record] = []
        refused: list[Refused] = []
        for record in records(text, bytewise(self.dialect.separator), self.line):
            assert isinstance(record, Record)  # records end where pieces do
            fault = self._fault(record)
            if fault:
                refused.append(Refused(record.line, fault[0], fault[1], decoded(record.raw)))
            else:
                good.append(record)
        columns: dict[str, Any] = {}
        keep: Bools = np.ones(len(good), dtype=bool)
        for place, field in self.fields.items():
            cells = pl.Series(str(place), [decoded(record.fields[place]) for record in good], dtype=pl.String)
            columns[field.role], bad = convert(cells, field)
            for row in np.flatnonzero(bad & keep).tolist():
                reason, message = explain(field, cells[row])
                refused.append(Refused(good[row].line, reason, message, decoded(good[row].raw)))
            keep &= ~bad
        self.refusals.take(refused)
        self.line += piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")
        self.offset += len(piece)
        kept = {role: self.prepare(role, selected(column, keep)) for role, column in columns.items()}
        return Batch(kept, int(keep.sum()))

    def _fault(self, record: Record) -> tuple[str, str] | None:
        """What is wrong with a whole record: the reason to count it under, and the sentence."""
        stray = next((place for place, c in enumerate(decoded(record.raw)) if "\udc80" <= c <= "\udcff"), None)
        if stray is not None:
            return self._explain_stray(record, stray)
        if record.fault:
            return record.fault, f"{record.fault}; repair the line."
        if "\0" in record.raw:
            return "NUL character", "the line contains a NUL character; remove it."
        fields, expected = len(record.fields), self.dialect.width
        if fields != expected:
            return f"{fields} fields, expected {expected}", f"{fields} fields, expected {expected}; repair the line."
        return None

    def _explain_stray(self, record: Record, stray: int) -> tuple[str, str]:
        """Bytes that are no text: which, and where in the file."""
        if self.encoding != "utf-8":
            what = f"not {self.encoding}"
            return what, f"the line has bytes that are {what}; give the right encoding (--encoding), or repair it."
        at = len(decoded(record.raw)[:stray].encode())
        what = f"byte {ord(record.raw[at]):#x} at offset {self.offset + record.start + at}"
        return "not UTF-8", f"{what} is not UTF-8; convert the file, or pass encoding='latin-1' if it is that."


def selected(column: Any, keep: Bools) -> Any:
    """The rows of a converted column that are kept."""
    return column.filter(keep) if isinstance(column, pl.Series) else column[keep]
