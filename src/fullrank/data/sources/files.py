"""The files of a data set: found, compressed or not, and read by polars."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fullrank.data.reading.stream import Stream
from fullrank.data.sources.source import Dataset
from fullrank.errors import DataError, NoInputError, NotAllowedError, shown
from fullrank.runtime.memory import check_address_space

if TYPE_CHECKING:
    import polars as pl

Folder: TypeAlias = str | os.PathLike[str] | None

SUFFIXES = ("", ".gz", ".zst", ".zip")
BLOCK = 8 << 20
LARGEST_TABLE = 1 << 30  # bytes of a file that is read at once
LONGEST_LINE = 4 << 20
UNIT = "\x1f"  # a separator that text does not have


def roots() -> list[Path]:
    """The folders that hold data sets by name, in the order they are looked through.

    $FULLRANK_DATA; $XDG_CACHE_HOME/fullrank or ~/.cache/fullrank.
    """
    return list(dict.fromkeys([*_from_environment(), *_cache()]))


def home() -> Path | None:
    """Where downloads go unless told otherwise: $FULLRANK_DATA, or the cache."""
    return next(iter([*_from_environment(), *_cache()]), None)


def _from_environment() -> list[Path]:
    chosen = os.environ.get("FULLRANK_DATA")
    return [Path(chosen)] if chosen else []


def _cache() -> list[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    try:
        return [cache.expanduser() / "fullrank"]
    except RuntimeError:  # nobody is at home
        return []


class Files:
    """The files of one data set in its folder, or one or two folders below it; compressed or not."""

    def __init__(self, dataset: Dataset, folder: Folder) -> None:
        self.dataset = dataset
        self.folder = _locate(dataset) if folder is None else Path(folder)
        if not self.folder.is_dir():
            raise NoInputError(f"{self.folder}: no such folder; for {dataset.title}, {dataset.how_to_get}.")
        if not os.access(self.folder, os.R_OK | os.X_OK):
            raise NotAllowedError(f"{self.folder}: permission denied; make it readable for this user.")

    def all(self, pattern: str) -> list[Path]:
        """Every file of this name or pattern."""
        return matching(self.folder, pattern)

    def find(self, *names: str) -> Path | None:
        """The file with the first of these names that is there."""
        for name in names:
            paths = self.all(name)
            if len(paths) > 1:
                raise DataError(f"{self.folder}: both {paths[0]} and {paths[1]} are there; pass the folder of one.")
            if paths:
                return paths[0]
        return None

    def file(self, *names: str) -> Path:
        """The same; where there is none, an error that says what was expected and how to get it."""
        return self.find(*names) or self.missing(*names)

    def missing(self, *names: str) -> Path:
        """Raise the error for files that are not there."""
        raise NoInputError(
            f"{self.folder}: no {' or '.join(names)} (nor compressed as .gz) in it; "
            f"for {self.dataset.title}, {self.dataset.how_to_get}."
        )


def matching(folder: Path, pattern: str) -> list[Path]:
    """Files of this name or pattern, at the first depth that has any; of a file and its .gz, the file."""
    for depth in ("", "*/", "*/*/"):
        paths: dict[str, Path] = {}
        for suffix in SUFFIXES:
            for path in folder.glob(f"{depth}{pattern}{suffix}"):
                if path.is_file():
                    paths.setdefault(str(path).removesuffix(suffix), path)
        if paths:
            return [paths[name] for name in sorted(paths)]
    return []


def _locate(dataset: Dataset) -> Path:
    """Where the data set is: a folder with its files, or else one that has at least its name."""
    named = [root / dataset.name for root in roots()]
    places = [*named, *(root / other for root in roots() for other in dataset.folders)]
    marked = (place for place in places if place.is_dir() and is_marked(place, dataset))
    place = next(marked, None) or next((place for place in named if place.is_dir()), None)
    if place is None:
        raise NoInputError(
            f"{dataset.name} ({dataset.title}) is not here; looked for {', '.join(map(str, places))}. "
            f"Set FULLRANK_DATA to the folder above it, pass its folder, or {dataset.how_to_get}."
        )
    return place


def is_marked(folder: Path, dataset: Dataset) -> bool:
    """Whether the folder has the files by which this data set is known."""
    return any(all(matching(folder, pattern) for pattern in group) for group in dataset.marks)


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """A text file as whole lines, some megabytes at a time, each with the number of its first line."""
    line, rest = 1, b""
    with Stream(path) as stream:
        while fresh := stream.read(BLOCK):
            rest = (rest + fresh).replace(b"\r\n", b"\n")
            end = rest.rfind(b"\n") + 1
            if end:
                yield line, rest[:end]
                line += rest.count(b"\n", 0, end)
                rest = rest[end:]
            if len(rest) > LONGEST_LINE:
                raise DataError(f"{path}:{line}: a line of over {LONGEST_LINE:,} bytes; is this text?")
    if rest.strip():
        yield line, rest


def content(path: Path) -> bytes:
    """All of a file that is small."""
    with Stream(path) as stream:
        data = stream.read(LARGEST_TABLE + 1)
    if len(data) > LARGEST_TABLE:
        raise DataError(f"{path}: more than {LARGEST_TABLE:,} bytes, which is too much for a table of this kind.")
    return data


def table(
    path: Path, columns: Sequence[str], separator: str, *, header: bool = False, quote: str | None = None,
    encoding: str = "utf-8",
) -> pl.DataFrame:  # fmt: skip
    """A small table as strings: with a header the columns are found by name, else by position."""
    check_address_space()
    import polars as pl

    text = decoded(path, encoding).rstrip("\n")
    if len(separator) > 1:
        text, separator = text.replace(separator, UNIT), UNIT
    if quote is None:
        _check_width(text, separator, path)
    try:
        frame = pl.read_csv(
            text.encode(), has_header=header, separator=separator, quote_char=quote, infer_schema=False
        )  # fmt: skip
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {shown(str(error).splitlines()[0])}; fetch the file again.") from error
    if not header and frame.width >= len(columns):
        frame = frame.rename(dict(zip(frame.columns, columns, strict=False)))
    absent = [column for column in columns if column not in frame.columns]
    if absent:
        there = ", ".join(frame.columns) if header else f"{frame.width} columns"
        raise DataError(f"{path}: no column {shown(absent[0])}: expected {', '.join(columns)}, found {there[:200]}.")
    empty = frame[columns[0]].is_null()
    if empty.any():
        at = int(empty.arg_max() or 0) + 1 + header
        raise DataError(f"{path}:{at}: the {columns[0]} is empty; fetch the file again.")
    return frame.select(columns).fill_null("")


def _check_width(text: str, separator: str, path: Path) -> None:
    """Every line has as many fields as the first."""
    import polars as pl

    fields = pl.Series(text.split("\n")).str.count_matches(separator, literal=True) + 1
    wrong = fields != fields[0]
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        raise DataError(f"{path}:{at + 1}: {fields[at]} fields, expected {fields[0]}; fetch the file again.")


def decoded(path: Path, encoding: str) -> str:
    r"""A whole small text, without a byte order mark, lines ended by \n."""
    data = content(path)
    try:
        return data.decode(encoding).removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {data[error.start]:#x} at offset {error.start} is not {encoding}.") from error
