"""Delimited text, chunk by chunk: the fast way where it is sure, the careful way where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.data.ids import is_canonical_integer
from fullrank.data.reading.columns import Mask, convert, explain
from fullrank.data.reading.dialect import Dialect
from fullrank.data.reading.encoding import Transcoded
from fullrank.data.reading.fields import Field
from fullrank.data.reading.records import LONGEST_FIELD, Record, Unfinished, bytewise, decoded, records
from fullrank.data.reading.refusals import Refusals, Refused
from fullrank.data.reading.stream import Stream
from fullrank.errors import DataError
from fullrank.kernels.threads import in_order

CHUNK = 4 << 20
PIECE = 128 << 10  # what is read carefully when a chunk is in doubt
LONGEST_LINE = 4 << 20
BLOCK = 256 << 10  # bytes that stay in a core's cache


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
        self.wanted = sorted({*fields, dialect.width - 1})  # the last one shows whether fields are missing

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
                yield self._taken(body, batch)
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
            yield self._taken(body, batch)
            return
        while body:
            piece = body if len(body) <= PIECE else body[: last_record_end(body[:PIECE], self.separator) or len(body)]
            body = body[len(piece) :]
            batch = self._fast(piece, self.schema)
            yield self._careful(piece) if batch is None else self._taken(piece, batch)

    def _taken(self, body: bytes, batch: Batch) -> Batch:
        """Count the lines and bytes of records that were read."""
        self.line += body.count(b"\n") + body.count(b"\r") - body.count(b"\r\n") if b"\r" in body else batch.lines
        self.offset += len(body)
        return batch

    def _fast(self, body: bytes, schema: dict[str, pl.DataType]) -> Batch | None:
        """The rows of these records by polars, or None where anything is unusual."""
        text = plain_text(body)
        if text is None:
            return None
        frame = parse(text, self.separator, schema, self.wanted, self.ids)
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
        keep: Mask = np.ones(len(good), dtype=bool)
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
            return self._not_decoded(record, stray)
        if record.fault:
            return record.fault, f"{record.fault}; repair the line."
        if "\0" in record.raw:
            return "NUL character", "the line contains a NUL character; remove it."
        found, expected = len(record.fields), self.dialect.width
        if found != expected:
            return f"{found} fields, expected {expected}", f"{found} fields, expected {expected}; repair the line."
        return None

    def _not_decoded(self, record: Record, stray: int) -> tuple[str, str]:
        """Bytes that are no text: which, and where in the file."""
        if self.encoding != "utf-8":
            what = f"not {self.encoding}"
            return what, f"the line has bytes that are {what}; give the right encoding (--encoding), or repair it."
        at = len(decoded(record.raw)[:stray].encode())
        what = f"byte {ord(record.raw[at]):#x} at offset {self.offset + record.start + at}"
        return "not UTF-8", f"{what} is not UTF-8; convert the file, or pass encoding='latin-1' if it is that."


def selected(column: Any, keep: Mask) -> Any:
    """The rows of a converted column that are kept."""
    return column.filter(keep) if isinstance(column, pl.Series) else column[keep]


def last_record_end(data: bytes, separator: bytes) -> int:
    """Where the last whole record ends: after a line end outside quotes; 0 where there is none."""
    if b'"' not in data:
        end = data.rfind(b"\n") + 1
        return end or data.rfind(b"\r", 0, len(data) - 1) + 1
    quotes = structural_quotes(data, separator)
    if quotes is not None:
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
        outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
        if len(outside) and len(data) - outside[-1] <= LONGEST_FIELD:
            return int(outside[-1]) + 1
    return _careful_end(data, separator)


def _careful_end(data: bytes, separator: bytes) -> int:
    """The same where quotes are not what they seem: one never closed, or one inside a plain field."""
    text = data.decode("latin-1")  # one character a byte
    end = 0
    for record in records(text, separator.decode("latin-1"), final=False):
        if isinstance(record, Unfinished):
            return record.offset
        if record.end == len(text) and not text.endswith("\n"):  # after a carriage return a line feed may come
            return end
        end = record.end
    return end


def plain_text(body: bytes) -> bytes | None:
    r"""Records with \n line ends and no blanks before them, or None where the careful way must decide."""
    if b"\0" in body or b"\x1f" in body:
        return None
    if not body.isascii():
        try:
            body.decode()
        except UnicodeDecodeError:
            return None
    if b"\r" in body:  # in quotes, too: `parse` then finds more lines than records, and the careful way decides
        body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return None if b" " in body and (b" \n" in body or body.endswith(b" ")) else body


def parse(
    text: bytes, separator: bytes, schema: dict[str, pl.DataType], wanted: list[int], ids: list[int]
) -> pl.DataFrame | None:
    """Records by polars, or None unless every record certainly has all its fields, and ids are what they seem."""
    quoted = b'"' in text
    if quoted:
        quotes = structural_quotes(text, separator)
        if quotes is None or len(quotes) % 2 or len(separator) > 1:
            return None
    lines = text.count(b"\n") + (not text.endswith(b"\n")) if quoted else None
    if len(separator) > 1:
        text = text.replace(separator, b"\x1f")
        separator = b"\x1f"
    if any(schema[str(place)] == pl.Int64 for place in ids) and has_odd_integers(text, separator):
        return None
    try:
        frame = pl.read_csv(
            text, has_header=False, separator=separator.decode(), schema=schema, columns=wanted
        )  # fmt: skip
    except (pl.exceptions.PolarsError, ValueError):
        return None
    if lines is not None and frame.height != lines:
        return None
    missing = [column.null_count() for column in frame.get_columns()]
    if missing[-1] and not any(missing[:-1]) and not quoted:  # an empty last field is no missing one
        missing[-1] -= missing[-1] * (text.count(separator) == frame.height * (len(schema) - 1))
    return None if any(missing) else frame


def has_odd_integers(text: bytes, separator: bytes) -> bool:
    """Whether any field starts as no integer is printed: 01, +1, -0, a blank. As ids these are not 1 and 0."""
    if b"+" in text or (b"-" in text and b"-0" in text) or (text[:1] == b"0" and text[1:2].isdigit()):
        return True
    befores = (separator, b"\n", b'"') if b'"' in text else (separator, b"\n")
    for blank in (b" ", b"\t"):
        if blank in text and (text.startswith(blank) or any(before + blank in text for before in befores)):
            return True
    array = np.frombuffer(text, dtype=np.uint8)
    starts = [np.frombuffer(before + b"0", dtype=np.uint16)[0] for before in befores]
    for first in range(0, len(array), BLOCK):
        for shift in (0, 1):  # two bytes at a time, from even and from odd places
            block = array[first + shift : first + shift + BLOCK]
            pairs = block[: len(block) // 2 * 2].view(np.uint16)
            zero = pairs == starts[0]
            for start in starts[1:]:
                zero |= pairs == start
            after = 2 * np.flatnonzero(zero) + first + shift + 2
            if (array[after[after < len(array)]] - np.uint8(ord("0")) < 10).any():  # wraps around below "0"
                return True
    return False


def structural_quotes(text: bytes, separator: bytes) -> NDArray[np.intp] | None:
    """Where the quotes are, if every first, third ... opens a field at its start and every other closes it at its end.

    By induction over the quotes this is how the records are meant: before the first nothing is quoted. None where one
    is doubled, stands inside a plain field, or is followed by a blank.
    """
    array = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(array == ord('"'))
    opening, closing = quotes[::2], quotes[1::2]
    starts = _stands(array, opening - len(separator), separator) | _stands(array, opening - 1, b"\n", b"\r")
    ends = _stands(array, closing + 1, separator) | _stands(array, closing + 1, b"\n", b"\r")
    if (starts | (opening == 0)).all() and (ends | (closing == len(array) - 1)).all():
        return quotes
    return None


def _stands(array: NDArray[np.uint8], places: NDArray[np.intp], *words: bytes) -> Mask:
    """At which places one of these words stands."""
    found = np.zeros(len(places), dtype=bool)
    for word in words:
        inside = (places >= 0) & (places <= len(array) - len(word))
        for step, byte in enumerate(word):
            inside[inside] = array[places[inside] + step] == byte
        found |= inside
    return found
