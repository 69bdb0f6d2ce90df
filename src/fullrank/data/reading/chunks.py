"""Bytes of delimited text: where their last record ends, and when polars can be trusted to parse them."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.arrays import Bools
from fullrank.data.reading.records import LONGEST_FIELD, Unfinished, records

BLOCK = 256 << 10  # bytes that stay in a core's cache


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
    text: bytes, separator: bytes, schema: dict[str, pl.DataType], columns_read: list[int], ids: list[int]
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
            text, has_header=False, separator=separator.decode(), schema=schema, columns=columns_read
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
    starts = _find_words(array, opening - len(separator), separator) | _find_words(array, opening - 1, b"\n", b"\r")
    ends = _find_words(array, closing + 1, separator) | _find_words(array, closing + 1, b"\n", b"\r")
    if (starts | (opening == 0)).all() and (ends | (closing == len(array) - 1)).all():
        return quotes
    return None


def _find_words(array: NDArray[np.uint8], places: NDArray[np.intp], *words: bytes) -> Bools:
    """At which places one of these words stands."""
    here = np.zeros(len(places), dtype=bool)
    for word in words:
        inside = (places >= 0) & (places <= len(array) - len(word))
        for step, byte in enumerate(word):
            inside[inside] = array[places[inside] + step] == byte
        here |= inside
    return here
