"""Columns as they grow, batch by batch: ids numbered, numbers and times checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.data.canonical import encode, row_blocks, value_fault, values_ok
from fullrank.data.ids import LONGEST_NAME, Codes, Ids, name_fault
from fullrank.data.reading.dialect import Field
from fullrank.data.strings import Dictionary, as_integers, sorted_numbers, to_numpy
from fullrank.data.times import MICROSECONDS, time_fault, times_ok
from fullrank.errors import DataError, check, shown
from fullrank.kernels.threads import in_parallel

UNITS = {"s": 1_000_000.0, "ms": 1_000.0, "us": 1.0, "ns": 0.001}  # in microseconds
Mask = NDArray[np.bool_]


def convert(column: pl.Series, field: Field, unit: str, *, text: bool = False) -> tuple[Any, Mask]:
    """A column as ids (a series), numbers (float32) or times, and where it cannot be.

    In `text` that was split into lines there is no NUL any more.
    """
    if field.kind == "id" and field.allowed is not None:
        ids, bad = _ids(column, field, text)
        return ids, bad | ~ids.cast(pl.String).is_in(list(field.allowed)).fill_null(False).to_numpy()
    if field.kind == "id":
        return _ids(column, field, text)
    if field.kind == "number":
        return _numbers(column, field)
    return _times(column, field, unit)


def _ids(column: pl.Series, field: Field, text: bool) -> tuple[pl.Series, Mask]:
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.UInt64 and column.max() is not None and int(column.max()) >= 2**63:  # type: ignore[arg-type]
        raise DataError(f"column '{column.name}' has ids beyond 63 bits; convert it to strings.")
    if column.dtype.is_integer():
        return column.cast(pl.Int64), column.is_null().to_numpy()
    if column.dtype != pl.String:
        raise DataError(
            f"column '{column.name}' is {column.dtype}, which is no type for {field.role} ids; "
            "convert it to integers or strings."
        )
    length = column.str.len_bytes()
    shortest, longest = length.min(), length.max()
    if text and column.null_count() == 0 and shortest and int(longest) <= LONGEST_NAME:  # type: ignore[arg-type]
        return column, np.zeros(len(column), dtype=bool)
    bad = (length == 0) | (length > LONGEST_NAME) | column.str.contains("\0", literal=True)
    return column, bad.fill_null(True).to_numpy()


def _numbers(column: pl.Series, field: Field) -> tuple[NDArray[np.float32], Mask]:
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean)):
        raise DataError(f"column '{column.name}' is {column.dtype}, expected numbers for the {field.role}.")
    if column.dtype == pl.String:
        column = column.str.strip_chars(" ")
    numbers = column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    with np.errstate(over="ignore"):
        kept = numbers.astype(np.float32)
    least, most = np.float32(field.least), np.float32(field.most)  # as the values are kept: 3.3 is at 3.3
    return kept, ~values_ok(numbers) | (kept < least) | (kept > most)


def _times(column: pl.Series, field: Field, unit: str) -> tuple[NDArray[np.datetime64], Mask]:
    check("time_unit", unit, unit in UNITS, f"one of {', '.join(UNITS)}")
    micros = _micros(column, unit)
    if micros is None:
        raise DataError(f"column '{column.name}' is {column.dtype}, expected a {field.role}: numbers or dates.")
    times = micros.fill_null(-1).to_numpy().view(MICROSECONDS)
    return times, ~times_ok(times)


def _micros(column: pl.Series, unit: str) -> pl.Series | None:
    """Microseconds since 1970: from numbers in the given unit, from dates, or from either as text."""
    if column.dtype == pl.String:
        return _micros_from_text(column.str.strip_chars(" "), unit)
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        return column.cast(pl.Datetime("us")).to_physical()
    if column.dtype.is_integer() and UNITS[unit] >= 1:
        whole, limit = column.cast(pl.Int64, strict=False), 2**62 // int(UNITS[unit])
        low, high = whole.min(), whole.max()
        if low is not None and (int(low) < -limit or int(high) > limit):  # type: ignore[arg-type]
            whole = whole.clip(-limit, limit)  # still refused by the check, but no overflow
        return whole * int(UNITS[unit])
    if column.dtype.is_numeric():
        scaled = column.cast(pl.Float64).fill_nan(None) * UNITS[unit]
        return scaled.clip(-(2.0**62), 2.0**62).round().cast(pl.Int64)
    return None


def _micros_from_text(text: pl.Series, unit: str) -> pl.Series:
    whole = text.cast(pl.Int64, strict=False)
    found = _micros(whole, unit)
    if found is None or whole.null_count() == text.null_count():
        return whole if found is None else found
    decimal = _micros(text.cast(pl.Float64, strict=False), unit)
    dates = text.str.replace("T", " ", literal=True).str.replace("Z$", "+00:00")
    for attempt in (decimal, *(_dates(dates, form) for form in DATE_FORMS)):
        if attempt is not None:
            found = found.zip_with(found.is_not_null(), attempt)
    return found


def _dates(text: pl.Series, form: str) -> pl.Series:
    zone = "UTC" if "%:z" in form else None
    return text.str.to_datetime(form, time_unit="us", strict=False, time_zone=zone).to_physical()


DATE_FORMS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%d %H:%M")


def explain(field: Field, cell: Any, unit: str) -> tuple[str, str]:
    """Why a cell cannot be taken: the reason to count it under, and the whole sentence."""
    role = field.role
    if cell is None or cell == "":
        return f"{role} is missing", f"{role} is empty; give every row one."
    if field.kind == "id" and name_fault(str(cell)):
        return f"{role} id refused", f"{role} id {shown(cell)} {name_fault(str(cell))}."
    if field.kind == "id":
        return f"{role} not allowed", f"{role} {shown(cell)} {field.rule}."
    kind = "a number" if field.kind == "number" else "a time"
    try:
        number = float(cell)
    except (TypeError, ValueError):
        number = math.nan
    if field.kind == "number":
        fault = value_fault(number) or (f"{number:g} {field.rule}" if not field.least <= number <= field.most else "")
    else:
        fault = time_fault(number * UNITS[unit] / 1e6)
    if fault and (not math.isnan(number) or str(cell).strip(" +-").lower() == "nan"):
        return f"{role} out of range", f"{role} {fault}."
    hint = "" if field.kind == "number" else " (seconds since 1970, or a date like 2026-01-31)"
    return f"{role} is not {kind}", f"{role} {shown(cell)} is not {kind}{hint}; correct or remove it."


class Growing:
    """A column that grows in place: its memory is moved by the operating system, not copied."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype=dtype)
        self._size = 0

    def append(self, part: NDArray[Any], expected: int = 0) -> None:
        """Add some rows; the type widens where it must. `expected` rows in all save growing many times."""
        if np.promote_types(part.dtype, self._array.dtype) != self._array.dtype:
            self._array = self._array.astype(np.promote_types(part.dtype, self._array.dtype))
        end = self._size + len(part)
        if self._size == 0:
            self._array = np.empty(max(end, expected), dtype=self._array.dtype)  # untouched, it takes no memory
        elif end > len(self._array):
            self._array.resize(max(end, 3 * len(self._array) // 2), refcheck=False)
        self._array[self._size : end] = part
        self._size = end

    def whole(self) -> NDArray[Any]:
        """The column, which does not grow any more."""
        self._array.resize(self._size, refcheck=False)
        return self._array


class Numbered(NamedTuple):
    """A column of ids as numbers: integers as they are, or strings as the dictionary numbers them."""

    name: str
    strings: bool
    numbers: NDArray[Any]


class IdColumn:
    """Ids of one space as they come in: strings are numbered by polars, integers kept until the end.

    Of a text file, where everything is a string, ids become integers if every one of them is printed
    exactly so: "7" is, "07" is not.
    """

    def __init__(self, roles: Sequence[str], text: bool) -> None:
        self.text = text
        self.columns = {role: Growing(np.int32) for role in roles}
        self._dictionary = Dictionary()
        self._strings: bool | None = None

    @property
    def used(self) -> bool:
        """Whether any row came in: an optional column may not be there."""
        return self._strings is not None

    def numbered(self, column: pl.Series) -> Numbered:
        """Strings as numbers, integers as they are; by any thread, since the end sorts them anyway."""
        if column.dtype == pl.String:
            return Numbered(column.name, True, self._dictionary.numbers(column).view(np.int32))
        low, high = column.min(), column.max()
        small = low is not None and int(low) >= -(2**31) and int(high) < 2**31  # type: ignore[arg-type]
        return Numbered(column.name, False, column.cast(pl.Int32 if small else pl.Int64).to_numpy())

    def add(self, role: str, column: Numbered, expected: int = 0) -> None:
        """Append a column of one role."""
        if self._strings is None:
            self._strings = column.strings
        if self._strings != column.strings:
            column = self._agree(column)
        self.columns[role].append(column.numbers, expected)

    def _agree(self, column: Numbered) -> Numbered:
        """Integers met strings: in a text file all of them are strings, elsewhere it is an error."""
        if not self.text:
            raise DataError(f"column '{column.name}': ids mix integers and strings; convert to one of them.")
        if self._strings:
            return self.numbered(pl.Series(column.name, column.numbers).cast(pl.String))
        self._strings = True
        for role, integers in self.columns.items():
            self.columns[role] = Growing(np.int32)
            column_so_far = integers.whole()
            for part in row_blocks(len(column_so_far)):
                words = pl.Series(column_so_far[part]).cast(pl.String)
                self.columns[role].append(self.numbered(words).numbers)
        return column

    def finish(self) -> tuple[dict[str, Codes], Ids]:
        """The codes of every role, and the ids in canonical order."""
        columns = {role: column.whole() for role, column in self.columns.items()}
        self.columns = {}
        if self._strings:
            names = self._dictionary.names()
            integers = as_integers(names) if self.text else None
            place, ordered = sorted_numbers(names if integers is None else integers)
            for column in columns.values():
                in_parallel(partial(_look_up, place, column), row_blocks(len(column)))
            return columns, Ids(to_numpy(ordered))
        together = next(iter(columns.values())) if len(columns) == 1 else np.concatenate(list(columns.values()))
        codes, distinct = encode(together)
        bounds = np.cumsum([len(column) for column in columns.values()])[:-1]
        return dict(zip(columns, np.split(codes, bounds), strict=True)), Ids(distinct)


def _look_up(table: NDArray[Any], column: NDArray[Any], part: slice) -> None:
    column[part] = table[column[part]]
