"""The rows of a table of attributes, all as text: from delimited text with line numbers, or from a parquet file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fullrank.data.ids import is_canonical_integer
from fullrank.data.reading.dialect import MARK, SAMPLE, SEPARATORS
from fullrank.data.reading.encoding import as_utf8
from fullrank.data.reading.names import TITLES, USUAL_NAMES, plain
from fullrank.data.reading.records import Record, bytewise, decoded, records
from fullrank.data.reading.stream import Stream
from fullrank.errors import DataError, shown

if TYPE_CHECKING:
    import polars as pl

Cell: TypeAlias = str | tuple[str, ...]
IsKnown: TypeAlias = Callable[[str], bool]  # whether a cell is an id that the feedback has

GENERAL = ("id", "code", "key")  # what ids are called in a table of their own
LARGEST = 512 << 20  # bytes of text: a table of attributes is kept whole


class Rows(NamedTuple):
    """A table: the names of its columns, its rows, the line or row each stands in, and which of the two that is."""

    names: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    places: Sequence[int]
    word: str = "line"


def id_place(names: Sequence[str], role: str) -> int:
    """Where the ids stand: under a usual name, else in the first column.

    >>> id_place(["title", "SKU", "price"], "item"), id_place(["omschrijving", "prijs"], "item")
    (1, 0)
    """
    there = [plain(name) for name in names]
    return next((there.index(usual) for usual in (*USUAL_NAMES[role], *GENERAL) if usual in there), 0)


class _Attempt(NamedTuple):
    """The first rows cut by one separator, and what speaks for it."""

    known: float = 0.0  # share of rows whose id the feedback has
    even: float = 0.0  # share of rows with as many fields as the first
    separator: str = ","
    header: bool = False


def text_rows(stream: Stream, encoding: str, role: str, is_known: IsKnown) -> Rows:
    """The rows of delimited text. The separator is the one by which the most ids are known."""
    content = as_utf8(stream, encoding).read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DataError(f"{stream.name}: is over {LARGEST >> 20} MiB, which is much for {role}s; leave columns out.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{stream.name}: looks like utf-16; save it as UTF-8.")
    text = content.removeprefix(MARK).decode("latin-1")
    if not text.strip("\r\n "):
        raise DataError(f"{stream.name}: no {role}s; the file is empty.")
    attempts = [_attempt(text, separator, role, is_known) for separator in SEPARATORS]
    best = max(attempts, key=lambda one: (one.known, one.even))
    rows = list(_checked(text, best.separator, stream.name))
    names = rows[0][1] if best.header else [f"column {place}" for place in range(len(rows[0][1]))]
    body = rows[1:] if best.header else rows
    return Rows(names, [cells for _, cells in body], [line for line, _ in body])


def _attempt(text: str, separator: str, role: str, is_known: IsKnown) -> _Attempt:
    some = [one for one in islice(records(text, bytewise(separator)), SAMPLE) if isinstance(one, Record)]
    first = some[0].fields if some else []
    if len(first) < 2:
        return _Attempt(separator=separator)
    rows = [[decoded(cell) for cell in one.fields] for one in some if len(one.fields) == len(first)]
    at = id_place(rows[0], role)
    known = [is_known(row[at]) for row in rows]
    return _Attempt(sum(known) / len(some), len(rows) / len(some), separator, _is_header(rows[0], at, known, role))


def _is_header(first: Sequence[str], at: int, known: Sequence[bool], role: str) -> bool:
    """Whether the first row names the columns: its id is unknown, and it has usual names or most ids are known."""
    if known[0] or is_canonical_integer(first[at]):
        return False
    usual = {*USUAL_NAMES[role], *GENERAL, *TITLES}
    return any(plain(cell) in usual for cell in first) or 2 * sum(known) >= len(known) > 1


def _checked(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Every record with its line; what is broken is refused."""
    width = None
    for record in records(text, bytewise(separator)):
        assert isinstance(record, Record)  # nothing is unfinished in a whole text
        if record.fault:
            raise DataError(f"{name}:{record.line}: {record.fault}; repair the line.")
        cells = [decoded(cell) for cell in record.fields]
        width = width or len(cells)
        if len(cells) != width:
            raise DataError(f"{name}:{record.line}: {len(cells)} fields, expected {width}; repair the line.")
        if "\0" in record.raw:
            raise DataError(f"{name}:{record.line}: the line contains a NUL character; remove it.")
        if any("\udc80" <= c <= "\udcff" for cell in cells for c in cell if not cell.isascii()):
            raise DataError(
                f"{name}:{record.line}: {shown(decoded(record.raw))} is not UTF-8; convert the file, or pass "
                "encoding='latin-1' (--encoding latin-1) if it is that."
            )
        yield record.line, cells


def parquet_rows(path: str) -> Rows:
    """The rows of a parquet file; numbers and dates as they are printed, lists as tuples, nothing as ""."""
    import polars as pl

    try:
        frame = pl.read_parquet(path, glob=False)
        columns = [_printed(frame[name]) for name in frame.columns]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: cannot be read as a table ({shown(reason)}); write it again.") from error
    return Rows(frame.columns, list(zip(*columns, strict=True)), range(frame.height), "row")


def _printed(column: pl.Series) -> list[Cell]:
    import polars as pl

    if isinstance(column.dtype, pl.List):
        lists = column.cast(pl.List(pl.String)).to_list()
        return [tuple(one for one in cell if one is not None) if cell is not None else () for cell in lists]
    return column.cast(pl.String).fill_null("").to_list()
