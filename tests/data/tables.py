"""Text files of feedback as people have them, from a random number generator, with what is in them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from random import Random
from typing import Any

from fullrank.data.ids import is_canonical_integer
from fullrank.data.read import _fields
from fullrank.data.reading.table import read_table
from fullrank.errors import DataError

SEPARATORS = (",", ",", "\t", ";", "|", "::", " ")
ODD = (
    "01", "+7", "-0", "nan", "None", "1.0", " 10", "10 ", "\t3", "tea, green", "a::b", "x\ty", "1;2", "a|b", 'a"b',
    '5" nail', '"', '""', "say \"hi\"", "é", "e\u0301", "👨‍👩‍👧", "two\nlines", "cr\r\nlf", "lone\rcr",
    "=cmd()", "#1", "'", "\\", "book", "artist", "NULL", "0x10", "1e3", "9" * 19, "x" * 300,
)  # fmt: skip
UNCLEAR = ("two ways", "may be a header", "reads as", "read as")  # what an honest reader says where it cannot know


@dataclass(frozen=True)
class File:
    """A file, how it is to be read, and its rows."""

    content: bytes
    separator: str
    header: bool
    rows: list[list[str]]
    plain: bool  # no blanks at the ends of lines, so that Python's csv module reads it alike


def make(random: Random) -> File:
    """Some rows in some dialect."""
    separator = random.choice(SEPARATORS)
    width, header = random.choice((2, 3, 3, 4, 4)), random.random() < 0.6
    users, items = (_ids(random) for _ in range(2))
    rows = []
    for _ in range(random.choice((1, 2, 5, 12, 40))):
        row = [random.choice(users), random.choice(items), random.choice(("1", "5", "3.5", "4")), _time(random)]
        rows.append(row[:width])
    table = [["user", "item", "rating", "timestamp"][:width], *rows] if header else rows
    trailing, always = random.random() < 0.2, random.random() < 0.2
    end = random.choice(("\n", "\n", "\n", "\r\n", "\r"))
    lines = []
    for row in table:
        cells = [_cell(random, cell, separator, always, last=place == width - 1) for place, cell in enumerate(row)]
        lines.append(separator.join(cells) + " " * (trailing * random.choice((0, 1, 2)) if separator != " " else 0))
        if random.random() < 0.05:
            lines.append("")
    text = "\ufeff" * (random.random() < 0.1) + end.join(lines) + end * (random.random() < 0.8)
    return File(text.encode(), separator, header, rows, not trailing)


def _ids(random: Random) -> list[str]:
    kind = random.random()
    if kind < 0.4:
        return [str(random.choice((random.randrange(30), random.randrange(2**62)))) for _ in range(6)]
    words = ["ann", "bob", "green tea", "jam", "x1", "Übel"]
    return words + (random.choices(ODD, k=random.choice((1, 3))) if kind < 0.8 else [])


def _time(random: Random) -> str:
    return str(random.randrange(10**9, 16 * 10**8))


def _cell(random: Random, cell: str, separator: str, always: bool, *, last: bool) -> str:
    """As it stands in the file: in quotes where it must, or for no reason."""
    must = separator in cell or any(c in cell for c in "\r\n") or cell.startswith('"') or (last and cell.endswith(" "))
    must = must or (len(separator) > 1 and (cell.endswith(separator[0]) or cell.startswith(separator[0])))
    if must or always or random.random() < 0.1:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def by_csv_module(file: File) -> list[list[str]]:
    """The rows as Python's csv module reads them."""
    text = file.content.decode().removeprefix("\ufeff")
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=file.separator) if row]
    return rows[1:] if file.header else rows


def read_rows(path: Any, **options: Any) -> list[list[str]]:
    """The rows as the reader has them, as text again."""
    table = read_table(path, _fields("interactions", None), **options)
    columns = []
    for role in ("user", "item"):
        columns.append([str(name) for name in table.ids[role].names[table.columns[role]].tolist()])
    for role, shown in (("value", "{:g}"), ("time", "{:d}")):
        if role in table.columns:
            numbers = table.columns[role]
            numbers = numbers if role == "value" else numbers.astype("datetime64[s]").astype(int)
            columns.append([shown.format(number) for number in numbers.tolist()])
    return [list(row) for row in zip(*columns, strict=True)]


def check(file: File, path: Any) -> bool:
    """Whether the reader finds these rows with nothing said; or says that it cannot know, and finds them when told."""
    path.write_bytes(file.content)
    try:
        found = read_rows(path)
    except DataError as error:
        if not any(word in str(error) for word in UNCLEAR):
            raise
        found = read_rows(path, separator=file.separator, header=file.header)
        assert found == file.rows, file
        return False
    assert found == file.rows, file
    for place, ids in enumerate(zip(*(row[:2] for row in file.rows), strict=True)):
        integers = all(is_canonical_integer(name) for name in ids)
        kept = (read_table(path, _fields("interactions", None)).ids[("user", "item")[place]]).names.dtype.kind
        assert (kept == "i") == integers, file
    return True
