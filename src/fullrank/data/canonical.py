"""One order of rows, no duplicates: the same data however its rows were shuffled."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import CODE, Codes, Floats, check_unmasked, frozen, owned, row_blocks
from fullrank.data.ids import STRING
from fullrank.data.times import Times
from fullrank.errors import DataError, check
from fullrank.runtime.threads import in_parallel

Duplicates: TypeAlias = Literal["last", "first", "sum", "mean", "max", "error"]

TINY, HUGE = 1e-12, 1e12  # values are kept as float32: beyond these, arithmetic on them loses its meaning


def checked_values(values: Any, what: str = "value") -> Floats:
    """Values as float32: finite, and 0 or between 1e-12 and 1e12 in size."""
    check_unmasked(values, what)
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise DataError(f"{what} must be one column of numbers, got {array.dtype} of shape {array.shape}.")
    ok = values_ok(array)
    if not ok.all():
        row = int(ok.argmin())
        raise DataError(f"{what} {value_fault(float(array[row]))} (row {row}).")
    return owned(array, np.float32)


def values_ok(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where numbers can be values."""
    if len(array) and array.min() >= TINY and array.max() <= HUGE:  # as most ratings and counts are
        return np.ones(len(array), dtype=bool)
    size = np.abs(array if array.dtype.kind == "f" else array.astype(np.float64))
    ok: NDArray[np.bool_] = (size <= HUGE) & ((size >= TINY) | (size == 0))
    return ok


def value_fault(value: float) -> str:
    """What is wrong with a number as a value; empty where nothing is."""
    if np.isnan(value):
        return "contains NaN; drop the row or give it a number"
    if np.isinf(value) or abs(value) > HUGE:
        return f"{value!r} is beyond 1e12; rescale the column"
    if 0 < abs(value) < TINY:
        return f"{value!r} is closer to 0 than 1e-12; rescale the column"
    return ""


def sort_rows(*keys: tuple[NDArray[Any], int]) -> tuple[NDArray[np.intp], list[Codes]]:
    """The order of rows by several code columns, first key first, and those columns in that order.

    Each column comes with its number of codes. Row numbers are packed into the sorted integer where
    they fit, since sorting integers is several times faster than sorting positions.
    """
    rows = len(keys[0][0])
    bits = [max(n - 1, 0).bit_length() for _, n in keys]
    row_bits = max(rows - 1, 0).bit_length()
    if sum(bits) + row_bits > 63:
        order = np.lexsort([codes for codes, _ in reversed(keys)])
        return order, [frozen(codes[order].astype(CODE, copy=False)) for codes, _ in keys]
    packed = np.empty(rows, dtype=np.int64)
    columns = [np.empty(rows, dtype=CODE) for _ in keys]

    def pack(part: slice) -> None:
        block = np.zeros(part.stop - part.start, dtype=np.int64)
        for (codes, _), width in zip(keys, bits, strict=True):
            block <<= width
            block |= codes[part]
        block <<= row_bits
        np.bitwise_or(block, np.arange(part.start, part.stop), out=packed[part])

    def unpack(part: slice) -> None:
        block = packed[part] >> row_bits
        for column, width in zip(reversed(columns), reversed(bits), strict=True):
            column[part] = block & ((1 << width) - 1)
            block >>= width
        packed[part] &= (1 << row_bits) - 1

    in_parallel(pack, row_blocks(rows))
    packed.sort()
    in_parallel(unpack, row_blocks(rows))
    return packed.astype(np.intp, copy=False), [frozen(column) for column in columns]


def sort_digits(*keys: tuple[NDArray[Any], int]) -> NDArray[np.intp]:
    """The order of rows by any number of code columns, first key first; equal rows stay as they were.

    As many columns are sorted at once as an integer has room for beside the row number, the last ones first.
    """
    room = 63 - max(len(keys[0][0]) - 1, 0).bit_length()
    order: NDArray[np.intp] | None = None
    group: list[tuple[NDArray[Any], int]] = []
    bits = 0
    for codes, n in reversed([digit for key in keys for digit in _digits(*key, room)]):
        width = max(n - 1, 0).bit_length()
        if group and bits + width > room:
            order, group, bits = _sort_again(order, group), [], 0
        group, bits = [(codes, n), *group], bits + width
    return _sort_again(order, group)


def _sort_again(order: NDArray[np.intp] | None, keys: list[tuple[NDArray[Any], int]]) -> NDArray[np.intp]:
    """Rows that are in an order, by these keys; those equal in them stay in it."""
    if order is None:
        return sort_rows(*keys)[0]
    place, _ = sort_rows(*((in_order_of(codes, order), n) for codes, n in keys))
    return in_order_of(order, place)


def _digits(codes: NDArray[Any], n: int, room: int) -> list[tuple[NDArray[Any], int]]:
    """Codes below n as columns of codes that fit, the highest first."""
    width = min(room, 31)
    if n <= 1 << width:
        return [(codes, n)]
    high, low = codes >> width, codes & ((1 << width) - 1)
    return [*_digits(high, ((n - 1) >> width) + 1, room), (low, 1 << width)]


def count_up(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Numbers as codes in the same order, from 0 in steps of what divides all differences; and how many codes.

    >>> count_up(np.array([1_000_000, 61_000_000, 31_000_000]))
    (array([0, 2, 1]), 3)
    """
    if not len(numbers):
        return numbers, 0
    since = numbers - numbers.min()
    step = int(np.gcd.reduce(since))
    if step > 1:
        since //= step
    return since, int(since.max()) + 1


def in_order_of(column: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]:
    """The rows of a column in this order, gathered by several threads; read-only."""
    whole = np.empty(len(order), dtype=column.dtype)

    def gather(part: slice) -> None:
        np.take(column, order[part], out=whole[part], mode="clip")  # every place is inside; "raise" would buffer

    in_parallel(gather, row_blocks(len(order)))
    return frozen(whole)


def merge(
    repeat: NDArray[np.bool_], value: Floats | None, time: Times | None, rule: Duplicates
) -> tuple[Floats | None, Times | None]:
    """Value and time of each group of duplicate rows, by the declared rule.

    `repeat` marks rows that repeat the row before. The time of a merged row is the latest, by "first" the earliest.
    "last" and "first" take the value at that time; of several the largest.
    """
    check("duplicates", rule, rule in get_args(Duplicates), f"one of {', '.join(get_args(Duplicates))}")
    starts = np.flatnonzero(~repeat)
    extreme = np.minimum if rule == "first" else np.maximum
    moment = None if time is None else extreme.reduceat(time, starts)
    if value is None:
        return None, moment
    largest: Floats = np.maximum.reduceat(value, starts)
    if rule == "max":
        return largest, moment
    counts = np.diff(np.append(starts, len(value)))
    if rule in ("last", "first") and (time is None or moment is None):
        if (largest != np.minimum.reduceat(value, starts)).any():
            raise DataError(
                "some (user, item) pairs occur more than once with different values, and there is no time "
                f"to tell the {rule}; choose duplicates='max', 'mean' or 'sum'."
            )
        return largest, None
    if rule in ("last", "first"):
        at_it = time == np.repeat(moment, counts)  # type: ignore[arg-type]
        return np.maximum.reduceat(np.where(at_it, value, np.float32(-np.inf)), starts), moment
    total = _sums(value, starts, counts)
    return checked_values(total / counts if rule == "mean" else total, "merged value"), moment


def _sums(value: Floats, starts: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Sums of groups that do not depend on row order: exact, or added in order of size."""
    units = value.astype(np.float64) * 1024
    if not ((units == np.rint(units)).all() and np.abs(units).sum() < 2.0**52):
        units = units[np.lexsort((value, np.repeat(np.arange(len(starts)), counts)))]
    sums: NDArray[np.float64] = np.add.reduceat(units, starts) / 1024
    return sums


def encode(names: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Codes into the distinct names in canonical order, and those names.

    >>> encode(np.array([30, 10, 30]))
    (array([1, 0, 1], dtype=int32), array([10, 30]))
    """
    if names.dtype == STRING:
        return _encode_strings(names)
    low, high = (int(names.min()), int(names.max())) if len(names) else (0, -1)
    if high - low < 4 * len(names) + 1_000_000:  # a table of the whole range is the fastest
        present = np.zeros(high - low + 1, dtype=bool)
        codes = np.empty(len(names), dtype=CODE)

        def mark(part: slice) -> None:
            present[names[part] - low] = True

        def look_up(part: slice) -> None:
            np.take(table, names[part] - low, out=codes[part], mode="clip")

        in_parallel(mark, row_blocks(len(names)))
        table = np.cumsum(present, dtype=CODE) - CODE(1)
        in_parallel(look_up, row_blocks(len(names)))
        return codes, np.flatnonzero(present) + low
    distinct = np.unique(names)
    return np.searchsorted(distinct, names).astype(CODE), distinct


def _encode_strings(names: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    import polars as pl

    from fullrank.data.strings import Dictionary, sorted_numbers, to_numpy

    dictionary = Dictionary()
    numbers = dictionary.numbers(pl.Series(names, dtype=pl.String))
    place, ordered = sorted_numbers(dictionary.names())
    return place[numbers], to_numpy(ordered)


def at_least(values: Floats, threshold: Any, user: Codes, n_users: int) -> NDArray[np.bool_]:
    """Which values reach a threshold, one for all or one per user."""
    least = np.asarray(threshold, dtype=np.float32)  # as the values are kept: 3.3 is at 3.3
    if least.ndim and least.shape != (n_users,):
        raise DataError(f"thresholds per user: expected {n_users}, got shape {least.shape}.")
    if np.isnan(least).any():
        raise DataError("a relevance threshold is NaN; give a number.")
    reached: NDArray[np.bool_] = values >= (least[user] if least.ndim else least)
    return reached


def highest_reached(values: Floats, share: float) -> float:
    """The highest value that at least this share of all values reach.

    >>> highest_reached(np.array([1, 2, 3, 4, 5, 5], dtype=np.float32), 0.5)
    4.0
    """
    place = len(values) - max(math.ceil(share * len(values)), 1)
    return float(np.partition(values, place)[place])
