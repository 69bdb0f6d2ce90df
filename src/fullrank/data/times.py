"""When it happened: datetime64 in microseconds, UTC."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import check_unmasked
from fullrank.errors import DataError

Times: TypeAlias = NDArray[np.datetime64]

MICROSECONDS = np.dtype("datetime64[us]")
LATEST = np.datetime64(2**63 - 1, "us")
YEAR_5138 = 10**11  # seconds; a later time is one given in milliseconds
UNIT_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
UNITS = tuple(UNIT_NAMES)
MISSING = "{}; is it a mark for a missing time? Drop the row or read without times"


def checked_times(times: Any) -> Times:
    """Times as read-only datetime64[us]: seconds since 1970, or datetime64; from 1970 to the year 5138.

    >>> checked_times([0, 1.5])
    array(['1970-01-01T00:00:00.000000', '1970-01-01T00:00:01.500000'],
          dtype='datetime64[us]')
    """
    check_unmasked(times, "time")
    array = np.asarray(times)
    if array.ndim != 1 or array.dtype.kind not in "iufM":
        raise DataError(f"time must be one column of numbers or datetime64, got {array.dtype} of shape {array.shape}.")
    if array.dtype.kind != "M":
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), dtype=bool)
        bad = missing | (array < 0) | (array >= YEAR_5138)
        seconds = array
    else:
        array = in_microseconds(array)
        bad = ~times_ok(array)
        seconds = np.where(np.isnat(array), np.nan, array.view(np.int64) / 1e6) if bad.any() else array
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"time {time_fault(float(seconds[row]))} (row {row}).")
    if array.dtype.kind != "M":
        array = _from_seconds(array)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def in_microseconds(times: Times) -> Times:
    """Times of any unit as datetime64[us]; those that would not fit become the latest there is, and are refused so.

    >>> in_microseconds(np.array(["2026-01-31", "900000-01-01"], dtype="datetime64[D]")).astype(int) > 2**62
    array([False,  True])
    """
    micros = times.astype(MICROSECONDS)
    wrapped = ~np.isnat(times) & (micros.astype(times.dtype) != times) if coarser(times.dtype) else np.False_
    return np.where(wrapped, LATEST, micros) if wrapped.any() else micros


def coarser(dtype: np.dtype[Any]) -> bool:
    """Whether a unit of time is longer than a microsecond."""
    return np.datetime_data(dtype)[0] in ("Y", "M", "W", "D", "h", "m", "s", "ms")


def times_ok(times: Times) -> NDArray[np.bool_]:
    """Where datetime64[us] are between 1970 and the year 5138 (a missing one is the smallest integer)."""
    micros = times.view(np.int64)
    if len(micros) and micros.min() >= 0 and micros.max() < YEAR_5138 * 1_000_000:
        return np.ones(len(micros), dtype=bool)
    ok: NDArray[np.bool_] = (micros >= 0) & (micros < YEAR_5138 * 1_000_000)
    return ok


def _from_seconds(seconds: NDArray[Any]) -> Times:
    if seconds.dtype.kind == "f":
        return np.rint(seconds.astype(np.float64) * 1e6).astype(np.int64).view(MICROSECONDS)
    return (seconds.astype(np.int64) * 1_000_000).view(MICROSECONDS)


def time_fault(number: float, unit: str = "s") -> str:
    """What is wrong with a number of seconds (or another unit) since 1970; empty where nothing is."""
    if np.isnan(number):
        return "is missing; give every row a time, or read without the time column"
    if number < 0:
        return f"{number:.15g} is {MISSING.format('before 1970')}"
    finer = UNITS[UNITS.index(unit) :]
    beyond = number / (YEAR_5138 * 1000.0 ** UNITS.index(unit))
    if beyond < 1:
        return ""
    steps = 1 + int(np.log10(beyond) / 3) if np.isfinite(beyond) else len(UNITS)
    if steps >= len(finer):
        return f"{number:.15g} is beyond the year 5138 in every unit; correct it"
    likely = finer[steps]
    return f"{number:.15g} is beyond the year 5138 and looks like {UNIT_NAMES[likely]}; give time_unit='{likely}'"


def date_fault(seconds: float) -> str:
    """What is wrong with a date, in seconds since 1970, that is outside 1970 to 5138."""
    return f"is {MISSING.format('before 1970' if seconds < 0 else 'beyond the year 5138')}"
