"""The careful way to take text apart: record by record, with line numbers and what is wrong.

This is the definition of the format. The fast way (polars, in text.py) is used wherever it is sure
to give the same. Text is taken bytewise here (a character for every byte: `bytewise`, `decoded`), so that offsets and
limits are those of the file and what is no valid UTF-8 hurts nobody but its own record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_FIELD = 64 << 10
LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Record(NamedTuple):
    """One record: where it starts and ends, its raw text, its fields, or what is wrong with it."""

    line: int
    start: int
    end: int  # offset of what follows
    raw: str
    fields: list[str]
    fault: str = ""


class Unfinished(NamedTuple):
    """The text ends inside a quoted field: what is left starts here."""

    offset: int


def bytewise(text: str) -> str:
    """The UTF-8 bytes of a text, a character for each."""
    return text.encode().decode("latin-1")


def decoded(text: str) -> str:
    """Such bytes as text again; what is no UTF-8 as lone surrogates.

    >>> decoded(bytewise("é")), decoded("\\xe9")
    ('é', '\\udce9')
    """
    return text if text.isascii() else text.encode("latin-1").decode(errors="surrogateescape")


def records(text: str, separator: str, line: int = 1, final: bool = True) -> Iterator[Record | Unfinished]:
    r"""Records of delimited text: quotes as in RFC 4180, lines ended by \n, \r\n or \r.

    Blanks at the end of a line and blank lines are no data. A quote opens a field only at its start.
    Unless `final`, a text that ends inside quotes is not a fault yet.

    >>> [r.fields for r in records('1,"a,""b"\n\n2,c  ', ",")]
    [['1', 'a,"b'], ['2', 'c']]
    """
    position = 0
    while position < len(text):
        raw, after = _line(text, position).group(1), _line(text, position).end()
        if '"' in raw:
            fields, after_record, fault = _quoted(text, position, separator)
            if fault == UNCLOSED and not final and len(text) - after_record <= LONGEST_FIELD:
                yield Unfinished(position)
                return
            if fault == UNCLOSED:  # give up this line only: the next may be whole
                yield Record(line, position, after, raw, [], fault)
            else:
                raw, after = text[position:after_record].rstrip("\r\n"), after_record
                yield Record(line, position, after, raw, fields, fault)
        elif raw.strip(" "):
            fields = raw.rstrip(" ").split(separator)
            long = len(raw) > LONGEST_FIELD and max(map(len, fields)) > LONGEST_FIELD
            yield Record(line, position, after, raw, fields, TOO_LONG if long else "")
        line += lines_in(text[position:after])
        position = after


UNCLOSED = "a quote opens here and is never closed"
TOO_LONG = f"a field is longer than {LONGEST_FIELD:,} bytes"
JUNK = "text follows a closing quote"


def lines_in(text: str) -> int:
    r"""How many line ends: \r\n is one."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _quoted(text: str, position: int, separator: str) -> tuple[list[str], int, str]:
    """Fields of the record at `position`, where it ends (a quote that is never closed: where that opens), its fault."""
    fields: list[str] = []
    fault = ""
    while True:
        bare = not text.startswith('"', position)
        if bare:
            end = _field_end(text, position, separator)
            value = text[position:end]
        else:
            value, after = _quoted_field(text, position + 1)
            if after < 0:
                return [], position, UNCLOSED
            position = after
            end = _field_end(text, position, separator)
            fault = JUNK if text[position:end].strip(" ") else fault
        fault = TOO_LONG if len(value) > LONGEST_FIELD else fault
        if not text.startswith(separator, end):
            fields.append(value.rstrip(" ") if bare else value)
            return fields, _line(text, end).end(), fault
        fields.append(value)
        position = end + len(separator)


def _line(text: str, position: int) -> re.Match[str]:
    line = LINE.match(text, position)
    assert line is not None  # the pattern matches everywhere
    return line


def _quoted_field(text: str, position: int) -> tuple[str, int]:
    """The text up to the closing quote and the position after it (-1: never closed)."""
    parts, limit = [], position + LONGEST_FIELD
    while True:
        close = text.find('"', position, limit)
        if close < 0:
            return "", -1
        parts.append(text[position:close])
        if not text.startswith('"', close + 1):
            return '"'.join(parts), close + 1
        position = close + 2


def _field_end(text: str, position: int, separator: str) -> int:
    line_end = _line(text, position).end(1)
    end = text.find(separator, position, line_end)
    return line_end if end < 0 else end
