"""Columns as they grow, batch by batch: ids numbered, numbers and times checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fullrank.arrays import Bools, Codes, Doubles, Floats, row_blocks
from fullrank.data.canonical import encode, value_fault, values_ok
from fullrank.data.ids import LONGEST_NAME, Ids, name_fault
from fullrank.data.reading.dates import dates_in_text
from fullrank.data.reading.fields import Field, TimeForm
from fullrank.data.strings import Dictionary, as_integers, sorted_numbers, to_numpy
from fullrank.data.times import MICROSECONDS, date_fault, time_fault, times_ok
from fullrank.errors import DataError, shown
from fullrank.runtime.threads import in_parallel


def convert(column: pl.Series, field: Field, *, text: bool = False) -> tuple[Any, Bools]:
    """A column as ids (a series), numbers (float32, or float64 where exact) or times, and where it cannot be.

    In `text` that was split into lines there is no NUL any more.
    """
    if field.kind == "id" and field.allowed is not None:
        ids, bad = _ids(column, field, text)
        return ids, bad | ~ids.cast(pl.String).is_in(list(field.allowed)).fill_null(False).to_numpy()
    if field.kind == "id":
        return _ids(column, field, text)
    if field.kind == "number":
        return _numbers(column, field)
    return _times(column, field)


def _ids(column: pl.Series, field: Field, text: bool) -> tuple[pl.Series, Bools]:
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


def _numbers(column: pl.Series, field: Field) -> tuple[Floats | Doubles, Bools]:
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean)):
        raise DataError(f"column '{column.name}' is {column.dtype}, expected numbers for the {field.role}.")
    if column.dtype == pl.String:
        column = _plain_numbers(column, field.decimal)
    numbers = column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    if field.exact:
        return numbers, ~np.isfinite(numbers)
    with np.errstate(over="ignore"):
        kept = numbers.astype(np.float32)
    least, most = np.float32(field.limits.least), np.float32(field.limits.most)  # as the values are kept: 3.3 is at 3.3
    return kept, ~values_ok(numbers) | (kept < least) | (kept > most)


def _plain_numbers(text: pl.Series, decimal: str) -> pl.Series:
    """Numbers in text as they are parsed: no blanks around them, a point as the decimal mark."""
    text = text.str.strip_chars(" \t")
    if decimal == ".":
        return text
    pointed = text.str.contains(".", literal=True).fill_null(False)
    comma = text.str.replace_all(decimal, ".", literal=True)
    return comma.set(pointed, None)  # a point that is no decimal mark is no part of a number


def _times(column: pl.Series, field: Field) -> tuple[NDArray[np.datetime64], Bools]:
    micros = _micros(column, field.form)
    if micros is None:
        raise DataError(f"column '{column.name}' is {column.dtype}, expected a {field.role}: numbers or dates.")
    times = micros.fill_null(-1).to_numpy().view(MICROSECONDS)
    return times, ~times_ok(times)


def _micros(column: pl.Series, form: TimeForm) -> pl.Series | None:
    """Microseconds since 1970: from numbers or text of a form, or from dates."""
    if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        return column.cast(pl.Datetime("us")).to_physical()
    if column.dtype != pl.String and not column.dtype.is_numeric():
        return None
    if form.forms:
        return dates_in_text(column.cast(pl.String), form)
    return _scale_numbers(_numbers_in_text(column) if column.dtype == pl.String else column, form)


def _numbers_in_text(text: pl.Series) -> pl.Series:
    """Integers exactly, where all are."""
    text = text.str.strip_chars(" \t")
    whole = text.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == text.null_count() else text.cast(pl.Float64, strict=False)


def _scale_numbers(column: pl.Series, form: TimeForm) -> pl.Series:
    """Microseconds from numbers of a unit; what is out of all bounds stays so, without overflow."""
    if column.dtype.is_integer() and form.micros >= 1:
        factor = int(form.micros)
        limit = 2**62 // factor
        whole = column.cast(pl.Int64, strict=False)
        low, high = whole.min(), whole.max()
        if low is not None and (int(low) < -limit or int(high) > limit):  # type: ignore[arg-type]
            whole = whole.clip(-limit, limit)
        return whole * factor
    scaled = column.cast(pl.Float64, strict=False).fill_nan(None) * form.micros
    return scaled.clip(-(2.0**62), 2.0**62).round().cast(pl.Int64)


def explain(field: Field, cell: Any) -> tuple[str, str]:
    """Why a cell cannot be taken: the reason to count it under, and the whole sentence."""
    role = field.role
    if cell is None or cell == "":
        return f"{role} is missing", f"{role} is empty; give every row one."
    if field.kind == "id" and name_fault(str(cell)):
        return f"{role} id refused", f"{role} id {shown(cell)} {name_fault(str(cell))}."
    if field.kind == "id":
        return f"{role} not allowed", f"{role} {shown(cell)} {field.rule}."
    return _explain_time(field, cell) if field.kind == "time" else _explain_number(field, cell)


def _explain_number(field: Field, cell: Any) -> tuple[str, str]:
    role, number = field.role, _number(cell, field.decimal)
    if number is not None:
        fault = value_fault(number) or f"{number:g} {field.limits.rule}"
        return f"{role} out of range", f"{role} {fault}."
    other = "," if field.decimal == "." else "."
    hint = f", or say decimal='{other}' (--decimal {other})" if _number(cell, other) is not None else ""
    return f"{role} is not a number", f"{role} {shown(cell)} is not a number; correct or remove it{hint}."


def _number(cell: Any, decimal: str) -> float | None:
    """The number in a cell, as columns are read."""
    column = pl.Series([cell])
    text = _plain_numbers(column, decimal) if column.dtype == pl.String else column
    number: float | None = text.cast(pl.Float64, strict=False)[0]
    return number


def _explain_time(field: Field, cell: Any) -> tuple[str, str]:
    role, column = field.role, pl.Series([cell])
    if _number(cell, ".") is not None and field.form.unit:
        number = float(column.cast(pl.Float64)[0])
        return f"{role} out of range", f"{role} {time_fault(number, field.form.unit)}."
    micros = _micros(column, field.form)
    if micros is not None and micros[0] is not None:
        return f"{role} out of range", f"{role} {shown(cell)} {date_fault(micros[0] / 1e6)}."
    form = field.form.forms[0] if field.form.forms else "numbers since 1970"
    return (
        f"{role} is not a time",
        f"{role} {shown(cell)} is not a time like the others ({form}); correct or remove it.",
    )


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
