"""Writing feedback to files that `read` gives back exactly."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.events import Events
from fullrank.data.feedback import Feedback
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.times import Times
from fullrank.errors import ParameterError
from fullrank.runtime.atomic import check_writable, write_with

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write(data: Feedback | Events, path: str | Path, *, overwrite: bool = False, excel_safe: bool = False) -> None:
    """Write to .csv, .tsv or .parquet, the first two also with .gz or .zst; whole or not at all.

    `read`, `read_events`, `read_sessions` or `read_preferences` give the same back. Text has no types: string ids that
    all look like integers come back from csv as integers; parquet keeps them strings.
    `excel_safe` puts a ' before ids that a spreadsheet would take for a formula (=, +, -, @), which
    changes those ids.
    """
    suffixes = [suffix for suffix in Path(path).suffixes[-2:] if suffix in (*SEPARATORS, ".parquet", ".gz", ".zst")]
    kind = suffixes[0] if suffixes else ""
    if kind not in (*SEPARATORS, ".parquet") or (kind == ".parquet" and len(suffixes) > 1):
        raise ParameterError(
            f"cannot tell a format from '{path}'; end it with .csv, .tsv or .parquet (.csv.gz, .csv.zst)."
        )
    check_writable(path, overwrite=overwrite)
    frame = to_frame(data)
    if isinstance(data, Interactions) and data.kind is not None and data.value is not None:
        frame = frame.rename({"value": {"events": "count", "ratings": "rating"}[data.kind]})  # a name that tells it
    if excel_safe and kind != ".parquet":
        frame = without_formulas(frame)
    if kind == ".parquet":
        write_with(path, frame.write_parquet, overwrite=overwrite)
    else:
        compress = COMPRESS[suffixes[1] if len(suffixes) > 1 else ""]
        write_with(path, lambda file: compress(file, lambda out: _write_text(frame, out, kind)), overwrite=overwrite)


def to_frame(data: Feedback | Events) -> pl.DataFrame:
    """The rows with their names, as a polars data frame."""
    import polars as pl

    columns: dict[str, Any]
    if isinstance(data, Interactions | Events):
        columns = {"user": names_of(data.users, data.user), "item": names_of(data.items, data.item)}
        columns |= {"value": data.value, "time": data.time}
    elif isinstance(data, Preferences):
        columns = {"user": names_of(data.users, data.user)}
        columns |= {"better": names_of(data.items, data.better), "worse": names_of(data.items, data.worse)}
    else:
        case = data.case
        names = data.names or Ids.numbered(len(data))
        columns = {"session": names_of(names, case), "user": names_of(data.users, data.user[case])}
        columns["item"] = names_of(data.items, data.item)
        if data.scale is None:
            columns["grade"] = data.grade
        else:
            columns["action"] = pl.Series(data.scale, dtype=pl.String)[data.grade.astype(np.int64)]
        columns["time"] = None if data.time is None else data.time[case]
    return pl.DataFrame({name: column for name, column in columns.items() if column is not None})


def names_of(ids: Ids, codes: NDArray[Any]) -> pl.Series:
    """The names of these codes, as strings or integers."""
    import polars as pl

    names = pl.Series(ids.names.tolist(), dtype=pl.String if ids.are_strings else pl.Int64)
    return names[codes.astype(np.int64)] if len(codes) else names.clear()


def _write_text(frame: pl.DataFrame, out: IO[bytes], kind: str) -> None:
    import polars as pl

    if "time" in frame.columns:
        frame = frame.with_columns(_seconds_if_whole(frame["time"].to_numpy()))
    text = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    frame.write_csv(out, separator=SEPARATORS[kind], quote_style="non_numeric" if text else "necessary")


def _seconds_if_whole(time: Times) -> pl.Series:
    """Whole seconds as numbers, finer times as dates; and as dates what might be read as one: 2020, 20200131."""
    import polars as pl

    micros = time.view(np.int64)
    seconds = micros // 1_000_000
    if (micros % 1_000_000 == 0).all() and (seconds >= 10**8).all() and (seconds < 19 * 10**8).all():
        return pl.Series("time", seconds)
    return pl.Series("time", time).dt.strftime("%Y-%m-%d %H:%M:%S%.6f")


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The same table with a ' before text that a spreadsheet would take for a formula."""
    import polars as pl

    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.str.contains(r"^[=+\-@\t\r]")).then("'" + text).otherwise(text).name.keep())


def _gzip(file: IO[bytes], write_to: Callable[[Any], None]) -> None:
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as out:  # the same bytes always
        write_to(out)


def _zstandard(file: IO[bytes], write_to: Callable[[Any], None]) -> None:
    import zstandard

    with zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False) as out:
        write_to(out)


COMPRESS: dict[str, Callable[[IO[bytes], Callable[[Any], None]], None]] = {
    "": lambda file, write_to: write_to(file),
    ".gz": _gzip,
    ".zst": _zstandard,
}
