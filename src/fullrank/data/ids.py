"""Names of users and items, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, check_unmasked
from fullrank.errors import DataError, shown

Name: TypeAlias = int | str

STRING = np.dtypes.StringDType()
LONGEST_NAME = 1024  # bytes of UTF-8


class Ids:
    """Names and their numbers 0..n-1, kept exactly: "01" is not 1, and "nan" is a name.

    All names are integers (64 bit) or all are strings. The numbers are positions in `names`.

    >>> ids = Ids(["b", "a", "nan"])
    >>> ids.code("nan"), ids.name(0), "c" in ids
    (2, 'b', False)
    >>> ids.codes(["a", "c"], missing=-1)
    array([ 1, -1], dtype=int32)
    """

    names: NDArray[Any]  # int64, or strings

    def __init__(self, names: Iterable[Name] | NDArray[Any]) -> None:
        self.names = as_names(names)
        self.names.flags.writeable = False
        if not _increasing(self.names) and len(unique_sorted(self.names)) != len(self):
            raise DataError(f"id {shown(_first_repeated(self.names))} is given twice; ids must be distinct.")

    @classmethod
    def numbered(cls, n: int) -> Ids:
        """The names 0..n-1."""
        return cls(np.arange(n, dtype=np.int64))

    @property
    def are_strings(self) -> bool:
        return self.names.dtype == STRING

    @cached_property
    def _code(self) -> dict[Name, int]:
        return {name: code for code, name in enumerate(self.names.tolist())}

    def name(self, code: int) -> Name:
        """The name with this number."""
        name: Name = self.names[code] if self.are_strings else int(self.names[code])
        return name

    def code(self, name: Name) -> int:
        """The number of this name; an unknown one is an error that says so."""
        code = self._code.get(_plain(name), -1)
        if code < 0:
            raise DataError(f"unknown id {shown(name)}.{self._hint(name)}")
        return code

    def codes(self, names: Iterable[Name] | NDArray[Any], missing: int | None = None) -> Codes:
        """The numbers of many names; unknown ones become `missing`, or an error without it."""
        column = names.tolist() if isinstance(names, np.ndarray) else names
        get = self._code.get
        codes = np.fromiter((get(_plain(name), -1) for name in column), dtype=np.int32)
        unknown = codes < 0
        if missing is None and unknown.any():
            first = list(column)[int(unknown.argmax())]
            raise DataError(f"{int(unknown.sum())} unknown ids, the first is {shown(first)}.{self._hint(first)}")
        if missing is not None:
            codes[unknown] = missing
        return codes

    def _hint(self, name: Name) -> str:
        twin: Name | None = None
        if isinstance(name, str) and not self.are_strings and is_canonical_integer(name):
            twin = int(name)
        elif not isinstance(name, str) and self.are_strings:
            twin = str(name)
        if twin is None or twin not in self._code:
            return ""
        kind = "strings" if self.are_strings else "integers"
        return f" The ids here are {kind}: use {twin!r}."

    def union(self, more: Iterable[Name] | NDArray[Any]) -> Ids:
        """These names and more, in canonical order (see `sorted`)."""
        added = as_names(more)
        if len(added) == 0:
            return self.sorted()
        if len(self) and (added.dtype == STRING) != self.are_strings:
            raise DataError(
                f"cannot add ids such as {shown(added.tolist()[0])} to ids such as {shown(self.name(0))}: "
                "integers and strings do not mix; convert one of them."
            )
        return Ids(unique_sorted(np.concatenate([self.names.astype(added.dtype), added])))

    def sorted(self) -> Ids:
        """The same names in canonical order: integers by value, strings by code point."""
        return Ids(unique_sorted(self.names))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Name]:
        return iter(self.names.tolist())

    def __contains__(self, name: object) -> bool:
        return _plain(name) in self._code

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Ids)
            and len(self) == len(other)
            and self.are_strings == other.are_strings
            and bool((self.names == other.names).all())
        )

    def __hash__(self) -> int:
        return hash((len(self), self.name(0) if len(self) else None))

    def __repr__(self) -> str:
        few = ", ".join(repr(name) for name in self.names[:3].tolist())
        return f"Ids({len(self)}: {few}{', ...' if len(self) > 3 else ''})"


def _plain(name: Any) -> Any:
    """NumPy scalars as Python's own; a bool or a float never equals an integer id."""
    if isinstance(name, np.generic):
        name = name.item()
    return None if isinstance(name, bool | float) else name


def _first_repeated(array: NDArray[Any]) -> Name:
    seen: set[Name] = set()
    for name in array.tolist():
        if name in seen:
            break
        seen.add(name)
    repeated: Name = name
    return repeated


def _increasing(names: NDArray[Any]) -> bool:
    return bool((names[1:] > names[:-1]).all())


def unique_sorted(names: NDArray[Any]) -> NDArray[Any]:
    """Distinct names in canonical order."""
    ordered = np.sort(names)
    if len(ordered) == 0:
        return ordered
    distinct: NDArray[Any] = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return distinct


def is_canonical_integer(text: str) -> bool:
    """Whether this is how Python prints a 64-bit integer: "01", "+1", "-0" and "1.0" are not."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or (digits[0] == "0" and text != "0"):
        return False
    return len(digits) < 19 or -(2**63) <= int(text) < 2**63


def as_names(names: Iterable[Name] | NDArray[Any]) -> NDArray[Any]:
    """A fresh column of names as int64 or as strings; floats, blanks and mixtures are refused."""
    check_unmasked(names, "id")
    if isinstance(names, np.ndarray) and names.ndim != 1:
        raise DataError(f"ids must be one column, got an array of shape {names.shape}.")
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu":
        return _as_int64(names)
    if isinstance(names, np.ndarray) and names.dtype == STRING:
        return _checked_strings(names.copy())
    column: Sequence[Any] = names.tolist() if isinstance(names, np.ndarray) else list(names)
    kinds = set(map(type, column))
    if all(issubclass(kind, str) for kind in kinds):
        return _as_strings(column)
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        if all(-(2**63) <= name < 2**63 for name in column):
            return np.array(column, dtype=np.int64)
        raise DataError("an integer id does not fit in 64 bits; pass these ids as strings.")
    raise _mixture(column)


def _as_int64(names: NDArray[Any]) -> NDArray[np.int64]:
    if names.dtype.kind == "u" and len(names) and int(names.max()) >= 2**63:
        raise DataError(f"id {int(names.max())} does not fit in 63 bits; pass these ids as strings.")
    return names.astype(np.int64)  # a copy in native byte order


def _as_strings(column: Sequence[str]) -> NDArray[Any]:
    try:
        return _checked_strings(np.array(column, dtype=STRING))
    except UnicodeEncodeError as error:
        row = next(row for row, name in enumerate(column) if name_fault(name))
        raise DataError(f"id {shown(column[row])} (row {row}) {name_fault(column[row])}.") from error


def _checked_strings(names: NDArray[Any]) -> NDArray[Any]:
    """Refuse an empty id, a NUL, and an id over 1 KiB, naming the row."""
    length = np.strings.str_len(names)
    has_nul = np.fromiter(("\0" in name for name in names.tolist()), dtype=bool, count=len(names))
    suspicious = (length == 0) | (length > LONGEST_NAME // 4) | has_nul  # np.strings.find cannot look for NUL
    for row in np.flatnonzero(suspicious).tolist():
        fault = name_fault(names[row])
        if fault:
            raise DataError(f"id {shown(names[row])} (row {row}) {fault}.")
    return names


def name_fault(name: str) -> str:
    """What is wrong with a string as an id; empty where nothing is."""
    if not name:
        return "is empty; give every row an id"
    if "\0" in name:
        return "contains a NUL character; remove it"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "has a lone surrogate and is no valid unicode; repair it"
    return f"is longer than {LONGEST_NAME} bytes; shorten or hash it" if size > LONGEST_NAME else ""


def _mixture(column: Sequence[Any]) -> DataError:
    for row, name in enumerate(column):
        if name is None or (isinstance(name, float) and np.isnan(name)):
            return DataError(f"id missing in row {row}; give every row an id or drop it.")
        if isinstance(name, float):
            return DataError(
                f"id {shown(name)} (row {row}) is a float, which cannot hold every id exactly; "
                "convert the column to integers or strings."
            )
        if not isinstance(name, int | str | np.integer) or isinstance(name, bool):
            return DataError(f"id {shown(name)} (row {row}) is neither an integer nor a string; convert the column.")
    return DataError("the ids mix integers and strings, and 1 is not '1'; convert the column to one of them.")
