"""Any column as a polars series: of an array, a data frame of any library, Arrow, or a plain list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.data.times import in_microseconds
from fullrank.errors import DataError, shown


def polars_series(column: Any, name: str) -> pl.Series:
    """A column as a polars series; types that cannot hold what is wanted are refused."""
    native = column.to_native() if hasattr(column, "to_native") else column
    if isinstance(native, pl.Series):
        return native.alias(name)
    if hasattr(native, "sparse"):  # a sparse column of pandas
        native = native.sparse.to_dense()
    if isinstance(native, np.ma.MaskedArray):
        return _from_masked(native, name)
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return _from_array(np.asarray(native), name)
    if hasattr(native, "__arrow_c_stream__") or hasattr(native, "__arrow_c_array__"):
        try:
            return _from_arrow(native, name)
        except ImportError:  # pandas hands over Arrow columns only with pyarrow installed
            pass
    if isinstance(native, str | bytes | Mapping | Set) or not isinstance(native, Iterable):
        raise DataError(f"column '{name}' is {shown(native)}, which is no column; give a list or an array of cells.")
    cells = list(native)
    if any(isinstance(cell, str) or _is_missing(cell) for cell in cells):
        return _from_objects(cells, name)  # NumPy's fixed-width strings would lose trailing NULs
    try:
        array = np.asarray(cells)
    except ValueError:
        raise DataError(f"column '{name}' has lists of different lengths for cells; expected one column.") from None
    if array.dtype.kind == "f" and all(isinstance(cell, int) for cell in cells):
        return _from_objects(cells, name)  # NumPy rounds integers of over 64 bits
    return _from_array(array, name)


def _from_masked(array: np.ma.MaskedArray[Any, Any], name: str) -> pl.Series:
    """Masked cells are missing, whatever lies below the mask."""
    whole, mask = _from_array(array.data, name), pl.Series(np.ma.getmaskarray(array))
    return whole.to_frame().select(pl.when(~mask).then(pl.col(name)).alias(name))[name]


def _from_array(array: NDArray[Any], name: str) -> pl.Series:
    if array.ndim != 1:
        raise DataError(f"column '{name}' has shape {array.shape}; expected one column.")
    if array.dtype.kind in "iufb":
        return pl.Series(name, np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)))
    if array.dtype.kind == "M":
        return pl.Series(name, in_microseconds(array))
    if array.dtype.kind in "mcV":
        raise DataError(f"column '{name}' is {array.dtype}; convert it to numbers, dates or strings.")
    return _from_objects(array.tolist(), name)


def _from_arrow(native: Any, name: str) -> pl.Series:
    dtype = getattr(native, "type", None) or getattr(getattr(native, "dtype", None), "pyarrow_dtype", None)
    if "decimal256" in str(dtype):  # polars would panic
        raise DataError(f"column '{name}' is {dtype}, wider than can be read; convert it to decimal128 or float64.")
    if str(dtype).startswith("timestamp[s"):  # polars would let it wrap around in milliseconds
        seconds = native if hasattr(native, "type") else native.array.__arrow_array__()
        return _from_array(seconds.to_numpy(zero_copy_only=False), name)
    try:
        return pl.Series(name, native)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError):
        raise DataError(f"column '{name}' is {dtype}, which cannot be read; convert it to a plain type.") from None


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
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        if kinds == {int}:
            raise DataError(f"column '{name}' has integers beyond 128 bits; convert it to strings.") from None
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"column '{name}' mixes {names}; convert it to one type (1 is not '1').") from None


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")
