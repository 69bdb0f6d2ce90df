"""Tables whose columns have types already: parquet files, data frames, mappings of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.data.reading.columns import convert, explain
from fullrank.data.reading.dates import as_written
from fullrank.data.reading.fields import Field, Hints, locate
from fullrank.data.reading.refusals import Refusals, Refused
from fullrank.data.reading.text import Batch, Prepare, selected
from fullrank.errors import DataError, shown
from fullrank.kernels.threads import in_order

ROWS = 1 << 18  # in a batch


def parquet_batches(
    path: str, fields: Sequence[Field], refusals: Refusals, hints: Hints, prepare: Prepare
) -> Iterator[Batch]:
    """The wanted columns of a parquet file, some rows at a time."""
    try:
        lazy = pl.scan_parquet(path, glob=False)
        columns = lazy.collect_schema().names()
        places = locate(fields, columns, len(columns), path)
        chosen = lazy.select(pl.col(columns[place]) for place in places.values())
        by_role = _by_role(fields, places, columns)
        frames = chosen.collect_batches(chunk_size=ROWS, maintain_order=True)
        yield from typed_batches(frames, by_role, refusals, hints, prepare)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: not a whole parquet file ({shown(reason)}); fetch or write it again.") from error


def frame_batches(
    frame: Any, fields: Sequence[Field], refusals: Refusals, hints: Hints, prepare: Prepare
) -> Iterator[Batch]:
    """The wanted columns of any data frame that narwhals knows, or of a mapping of columns."""
    table = frame if isinstance(frame, Mapping) else narwhals_frame(frame)
    columns = [str(column) for column in (table if isinstance(table, Mapping) else table.columns)]
    places = locate(fields, columns, len(columns), refusals.name)
    chosen = _by_role(fields, places, columns)
    series = [polars_series(table[field_column], field_column) for field_column in chosen]
    if len({len(column) for column in series}) > 1:
        lengths = {column.name: len(column) for column in series}
        raise DataError(f"{refusals.name}: columns of different lengths {lengths}; give columns of one length.")
    whole = pl.DataFrame(series)
    frames = (whole.slice(first, ROWS) for first in range(0, whole.height, ROWS))
    yield from typed_batches(frames, chosen, refusals, hints, prepare)


def _by_role(fields: Sequence[Field], places: dict[str, int], columns: Sequence[str]) -> dict[str, Field]:
    return {columns[places[field.role]]: field for field in fields if field.role in places}


def typed_batches(
    frames: Iterable[pl.DataFrame], fields: dict[str, Field], refusals: Refusals, hints: Hints, prepare: Prepare
) -> Iterator[Batch]:
    """Converted columns of some rows at a time; what cannot be taken is refused with its row number.

    How times are written is found from the first of them.
    """
    frames = iter(frames)
    some = next(frames, None)
    if some is None:
        return
    where = "{}: column '{}'"
    fields = {
        name: as_written(field, some[name], hints, where.format(refusals.name, name)) for name, field in fields.items()
    }
    refusals.notes += [field.form.told for field in fields.values() if field.form.told]
    first = 0
    frames = chain([some], frames)
    for frame, (columns, refused) in in_order(lambda frame: _converted(frame, fields, prepare), frames):
        rows = frame.height - len({fault.place for fault in refused})
        refusals.take([fault._replace(place=fault.place + first) for fault in refused])
        first += frame.height
        yield Batch(columns, rows)


def _converted(frame: pl.DataFrame, fields: dict[str, Field], prepare: Prepare) -> tuple[dict[str, Any], list[Refused]]:
    columns: dict[str, Any] = {}
    keep = np.ones(frame.height, dtype=bool)
    refused: list[Refused] = []
    for name, field in fields.items():
        columns[field.role], bad = convert(frame[name], field)
        for row in np.flatnonzero(bad & keep).tolist():
            reason, message = explain(field, frame[name][row])
            refused.append(Refused(row, reason, f"column '{name}': {message}", str(frame.row(row))))
        keep &= ~bad
    if refused:
        columns = {role: selected(column, keep) for role, column in columns.items()}
    return {role: prepare(role, column) for role, column in columns.items()}, refused


def narwhals_frame(frame: Any) -> Any:
    """Any data frame as narwhals shows it, or a refusal."""
    import narwhals

    try:
        table = narwhals.from_native(frame)
    except TypeError:
        raise DataError(
            f"cannot read a {type(frame).__name__}; pass a path, a data frame, a sparse matrix, "
            "or a dict of columns such as {'user': [...], 'item': [...]}."
        ) from None
    return table.collect() if isinstance(table, narwhals.LazyFrame) else table


def polars_series(column: Any, name: str) -> pl.Series:
    """A column as a polars series; types that cannot hold what is wanted are refused."""
    native = column.to_native() if hasattr(column, "to_native") else column
    if isinstance(native, pl.Series):
        return native.alias(name)
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return _from_array(np.asarray(native), name)
    if hasattr(native, "__arrow_c_stream__") or hasattr(native, "__arrow_c_array__"):
        try:
            return pl.Series(name, native)
        except ImportError:  # pandas hands over Arrow columns only with pyarrow installed
            pass
    cells = list(native)
    if any(isinstance(cell, str) or _is_missing(cell) for cell in cells):
        return _from_objects(cells, name)  # NumPy's fixed-width strings would lose trailing NULs
    return _from_array(np.asarray(cells), name)


def _from_array(array: NDArray[Any], name: str) -> pl.Series:
    if array.ndim != 1:
        raise DataError(f"column '{name}' has shape {array.shape}; expected one column.")
    if array.dtype.kind in "iufb":
        return pl.Series(name, np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)))
    if array.dtype.kind == "M":
        return pl.Series(name, array.astype("datetime64[us]"))
    return _from_objects(array.tolist(), name)


def _from_objects(cells: list[Any], name: str) -> pl.Series:
    cells = [None if _is_missing(cell) else cell for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    try:
        if all(issubclass(kind, str) for kind in kinds):
            return pl.Series(name, cells, dtype=pl.String)
        return pl.Series(name, cells, strict=True)
    except UnicodeEncodeError:
        raise DataError(
            f"column '{name}' has text with a lone surrogate, which is no valid unicode; repair it."
        ) from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"column '{name}' mixes {found}; convert it to one type (1 is not '1').") from None


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
