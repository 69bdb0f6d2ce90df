"""One set of names for arrays, and the habits with them: frozen, owned, checked, taken a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.errors import DataError

Codes: TypeAlias = NDArray[np.int32]  # of users or items
Floats: TypeAlias = NDArray[np.float32]  # vectors, scores, values
Doubles: TypeAlias = NDArray[np.float64]  # metrics, statistics, long sums
Ints: TypeAlias = NDArray[np.int64]  # counts, starts
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]  # of whatever type
Lists: TypeAlias = tuple[Ints, Codes, Floats]  # rows as kernels take them: where each starts, columns, values

CODE = np.int32


class Csr(Protocol):
    """What is used of a CSR matrix of scipy's, which has no types."""

    indptr: Array
    indices: Array
    data: Array
    shape: tuple[int, int]

    @property
    def T(self) -> Csr:  # noqa: N802
        """The transpose, which is a CSC matrix."""

    def tocsr(self) -> Csr:
        """As CSR."""


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only: containers share it and never change."""
    array.flags.writeable = False
    return array


def owned(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The array as a read-only one of ours: a copy, unless it cannot change any more."""
    if array.dtype == dtype and not array.flags.writeable:
        return array
    return frozen(array.astype(dtype))


def same_column(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Whether two columns hold the same, or both are absent."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def check_unmasked(column: Any, what: str) -> None:
    """Refuse masked cells: NumPy would give what lies below the mask."""
    if isinstance(column, np.ma.MaskedArray) and (mask := np.ma.getmaskarray(column)).any():
        raise DataError(f"{what} is masked in row {int(mask.argmax())}; give every row one, or leave the row out.")


def checked_codes(codes: NDArray[Any], n: int, what: str) -> Codes:
    """Codes as read-only int32 inside 0..n-1, or an error: compiled loops trust them."""
    check_unmasked(codes, f"{what} code")
    array = np.asarray(codes)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise DataError(f"{what} codes must be one column of integers, got {array.dtype} of shape {array.shape}.")
    low, high = (int(array.min()), int(array.max())) if len(array) else (0, -1)
    if low < 0 or high >= n:
        raise DataError(f"{what} code {low if low < 0 else high} is outside 0..{n - 1}.")
    return owned(array, CODE)


def row_blocks(rows: int, size: int = 1 << 17) -> Iterator[slice]:
    """Slices of some rows at a time: temporary columns that stay in a core's cache."""
    for first in range(0, rows, size):
        yield slice(first, min(first + size, rows))


def repeats(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """True where a row of sorted columns has the same codes as the row before it."""
    same = np.zeros(len(columns[0]), dtype=bool)
    if len(same):
        same[1:] = True
        for column in columns:
            same[1:] &= column[1:] == column[:-1]
    return same


def rising(*columns: NDArray[Any], ties: bool = False) -> bool:
    """Whether every row is after the row before it, by the first column that differs; with `ties` or equal to it."""
    later = np.full(max(len(columns[0]) - 1, 0), ties)
    for column in reversed(columns):
        later &= column[1:] == column[:-1]
        later |= column[1:] > column[:-1]
    return bool(later.all())


def lists(matrix: Any) -> Lists:
    """The rows of a CSR matrix as the kernels take them: start, column, value; read-only, always of the same types."""
    return as_lists(matrix.indptr, matrix.indices, matrix.data)


def as_lists(start: Any, code: Any, value: Any) -> Lists:
    """The same from its three arrays, without copies where possible."""
    types = (start, np.int64), (code, np.int32), (value, np.float32)
    first, second, third = (frozen(np.ascontiguousarray(array, dtype=dtype).view()) for array, dtype in types)
    return first, second, third


def stored(pairs: Any, keep: NDArray[np.bool_]) -> Any:
    """These of the stored pairs of a CSR matrix."""
    from scipy.sparse import csr_array

    start = np.concatenate([[0], np.cumsum(keep)])[pairs.indptr]
    return csr_array((pairs.data[keep], pairs.indices[keep], start), shape=pairs.shape)
