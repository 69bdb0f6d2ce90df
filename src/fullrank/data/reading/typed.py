"""Tables whose columns have types already: parquet files, data frames, mappings of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from fullrank.arrays import Bools
from fullrank.data.reading.columns import convert, explain
from fullrank.data.reading.dates import as_written
from fullrank.data.reading.fields import Field, Hints, as_named, locate
from fullrank.data.reading.refusals import Refusals, Refused
from fullrank.data.reading.series import polars_series
from fullrank.data.reading.text import Batch, Prepare, selected
from fullrank.data.reading.unread import Sample, name_unread, note_taken, spell_columns
from fullrank.errors import DataError, shown
from fullrank.runtime.memory import check_fits
from fullrank.runtime.threads import in_order

__all__ = ["frame_batches", "narwhals_frame", "parquet_batches", "polars_series"]

ROWS = 1 << 18  # in a batch
SAMPLE = 300  # rows of a column that is not read, to see what it is
ROW = 40  # bytes a row takes while it is read
YEARS = -62_135_596_800, 253_402_300_800  # seconds from 1970 to the years 1 and 10000: Python knows no others
PER_SECOND = {"ms": 1_000, "us": 1_000_000}


def parquet_batches(
    path: str, fields: Sequence[Field], refusals: Refusals, hints: Hints, prepare: Prepare, roles: Sequence[str] = ()
) -> Iterator[Batch]:
    """The wanted columns of a parquet file, some rows at a time."""
    try:
        lazy = pl.scan_parquet(path, glob=False)
        columns = lazy.collect_schema().names()
        rows = lazy.select(pl.len()).collect().item()
        check_fits(rows * ROW, f"{path}: {rows:,} rows")
        places = locate(fields, columns, len(columns), path)
        chosen = lazy.select(pl.col(columns[place]) for place in places.values())
        by_role = _by_role(fields, places, columns, refusals)
        unread = [column for place, column in enumerate(columns) if place not in places.values()]
        some = lazy.select(unread).head(SAMPLE).collect() if unread and set(roles) - set(places) else pl.DataFrame()
        samples = (Sample(columns.index(column.name), column.name, column) for column in some.get_columns())
        name_unread(samples, spell_columns(places, columns), roles, refusals)
        frames = chosen.collect_batches(chunk_size=ROWS, maintain_order=True)
        yield from typed_batches(frames, by_role, refusals, hints, prepare)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: not a whole parquet file ({shown(reason)}); fetch or write it again.") from error


def frame_batches(
    frame: Any, fields: Sequence[Field], refusals: Refusals, hints: Hints, prepare: Prepare, roles: Sequence[str] = ()
) -> Iterator[Batch]:
    """The wanted columns of any data frame that narwhals knows, or of a mapping of columns."""
    table = frame if isinstance(frame, Mapping) else narwhals_frame(frame)
    names = list(table if isinstance(table, Mapping) else table.columns)
    columns = [str(name) for name in names]
    if any(isinstance(name, int) for name in names):  # an integer is such a name, no position
        fields = [replace(field, column=None if field.column is None else str(field.column)) for field in fields]
    places = locate(fields, columns, len(columns), refusals.name)
    chosen = _by_role(fields, places, columns, refusals)
    series = [polars_series(_column(table, names, columns.index(column)), column) for column in chosen]
    others = (place for place in range(len(columns)) if place not in places.values())
    samples = (Sample(place, columns[place], _first_cells(_column(table, names, place))) for place in others)
    name_unread(samples, spell_columns(places, columns), roles, refusals)
    if len({len(column) for column in series}) > 1:
        lengths = {column.name: len(column) for column in series}
        raise DataError(f"{refusals.name}: columns of different lengths {lengths}; give columns of one length.")
    whole = pl.DataFrame(series)
    frames = (whole.slice(first, ROWS) for first in range(0, whole.height, ROWS))
    yield from typed_batches(frames, chosen, refusals, hints, prepare)


def _column(table: Any, names: Sequence[Any], place: int) -> Any:
    """A column by its place: names need be no strings."""
    return table[names[place]] if isinstance(table, Mapping) else table[:, place]


def _first_cells(column: Any) -> pl.Series:
    """Some cells of a column that is not read; none where it is nothing that could be."""
    with suppress(DataError, TypeError, KeyError, IndexError, ValueError, pl.exceptions.PolarsError):
        return polars_series(column[:SAMPLE], "")
    return pl.Series([], dtype=pl.Null)


def _by_role(
    fields: Sequence[Field], places: dict[str, int], columns: Sequence[str], refusals: Refusals
) -> dict[str, Field]:
    """The fields by the names of their columns, which may say what is in them."""
    names = {field.role: columns[places[field.role]] for field in fields if field.role in places}
    chosen = {names[field.role]: as_named(field, names[field.role]) for field in fields if field.role in places}
    note_taken(chosen.values(), names, refusals)
    return chosen


def typed_batches(
    frames: Iterable[pl.DataFrame], fields: dict[str, Field], refusals: Refusals, hints: Hints, prepare: Prepare
) -> Iterator[Batch]:
    """Converted columns of some rows at a time; what cannot be taken is refused with its row number.

    How times are written is found from the first of them, and from as many more as it takes.
    """
    frames = iter(frames)
    some = next(frames, None)
    if some is None:
        return
    where = "{}: column '{}'"
    ahead = [some]

    def later(name: str) -> Iterator[pl.Series]:
        for frame in frames:
            ahead.append(frame)
            if frame[name].dtype == pl.String:
                yield frame[name]

    fields = {
        name: as_written(field, some[name], hints, where.format(refusals.name, name), later(name))
        for name, field in fields.items()
    }
    refusals.notes += [field.form.note for field in fields.values() if field.form.note]
    first = 0
    frames = chain(ahead, frames)
    for frame, (columns, refused) in in_order(lambda frame: _convert(frame, fields, prepare), frames):
        rows = frame.height - len({fault.place for fault in refused})
        refusals.take([fault._replace(place=fault.place + first) for fault in refused])
        first += frame.height
        yield Batch(columns, rows)


def _convert(frame: pl.DataFrame, fields: dict[str, Field], prepare: Prepare) -> tuple[dict[str, Any], list[Refused]]:
    columns: dict[str, Any] = {}
    keep = np.ones(frame.height, dtype=bool)
    refused: list[Refused] = []
    for name, field in fields.items():
        column, beyond = _within_years(_within_64_bits(frame[name], field))
        frame = frame.with_columns(column)
        columns[field.role], bad = convert(column, field)
        for row in np.flatnonzero(bad & keep).tolist():
            reason, message = explain(field, column[row])
            if beyond[row]:
                reason = f"{field.role} out of range"
                message = f"{field.role} is outside the years 1 to 9999; correct or remove it."
            refused.append(Refused(row, reason, f"column '{name}': {message}", str(frame.row(row))))
        keep &= ~bad
    if refused:
        columns = {role: selected(column, keep) for role, column in columns.items()}
    return {role: prepare(role, column) for role, column in columns.items()}, refused


def _within_64_bits(column: pl.Series, field: Field) -> pl.Series:
    """The same column; ids that no code could be put to are refused."""
    if field.kind == "id" and column.dtype in (pl.Int128, pl.UInt128) and len(column.drop_nulls()):
        low, high = int(column.min()), int(column.max())  # type: ignore[arg-type]
        if low < -(2**63) or high >= 2**63:
            raise DataError(f"column '{column.name}' has ids beyond 63 bits; convert it to strings.")
    return column


def _within_years(column: pl.Series) -> tuple[pl.Series, Bools]:
    """Times outside the years that Python knows as missing ones, and where they are."""
    if column.dtype == pl.Date:
        low, high = (seconds // 86_400 for seconds in YEARS)
    elif isinstance(column.dtype, pl.Datetime) and column.dtype.time_unit != "ns":  # those reach from 1677 to 2262
        low, high = (seconds * PER_SECOND[column.dtype.time_unit] for seconds in YEARS)
    else:
        return column, np.zeros(len(column), dtype=bool)
    within = column.to_physical().is_between(low, high, closed="left").fill_null(True)
    if within.all():
        return column, ~within.to_numpy()
    return column.to_frame().select(pl.when(within).then(pl.col(column.name)))[column.name], ~within.to_numpy()


def narwhals_frame(frame: Any) -> Any:
    """Any data frame as narwhals shows it, or a refusal."""
    import narwhals

    try:
        table = narwhals.from_native(frame)
        _ = table.columns if isinstance(table, narwhals.DataFrame) else None
    except narwhals.exceptions.DuplicateError:
        names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{type(frame).__name__}: column {shown(twice)} occurs twice; rename one of them.") from None
    except TypeError:
        raise DataError(
            f"cannot read a {type(frame).__name__}; pass a path, a data frame, a sparse matrix, "
            "or a dict of columns such as {'user': [...], 'item': [...]}."
        ) from None
    return table.collect() if isinstance(table, narwhals.LazyFrame) else table
