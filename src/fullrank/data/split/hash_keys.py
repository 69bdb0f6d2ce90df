"""Hash keys: order by chance that depends on a seed and on codes, never on how rows were stored."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Ints
from fullrank.data.events import Events
from fullrank.data.graded import Graded
from fullrank.data.preferences import Preferences
from fullrank.data.split.parts import AnyData
from fullrank.data.times import Times
from fullrank.errors import DataError, check, check_integer, is_number

Keys: TypeAlias = NDArray[np.uint64]
Order: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = Ints

TIES, ROWS, USERS, HALVES, FOLDS = range(5)  # streams: what the keys decide

STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of SplitMix64


def hash_keys(seed: int, stream: int, *columns: NDArray[Any]) -> Keys:
    """A random number per row that depends on (seed, stream, its codes) only.

    SplitMix64 (Steele, Lea and Flood 2014) chained over them, so that it is the same everywhere, always.

    >>> hash_keys(0, TIES, np.array([0, 1]))
    array([ 2558736989570252433, 17913671590881668180], dtype=uint64)
    """
    check_integer("seed", seed, 0, 2**63 - 1)
    key = np.zeros(1, dtype=np.uint64)
    for codes in (np.array([seed]), np.array([stream]), *columns):
        key = key + (codes.astype(np.uint64) + 1) * STEP
        key ^= key >> 30
        key *= FIRST
        key ^= key >> 27
        key *= SECOND
        key ^= key >> 31
    return key


def hash_keys_of(data: AnyData, seed: int, stream: int) -> Keys:
    """A hash key for every row by its user and items, of events also by which time it is, or for every case by its user
    and place.
    """
    if isinstance(data, Graded):
        return hash_keys(seed, stream, data.user, np.arange(len(data)))
    if isinstance(data, Preferences):
        return hash_keys(seed, stream, data.user, data.better, data.worse)
    key = hash_keys(seed, stream, data.user, data.item)
    if isinstance(data, Events) and data.repeats:  # the first time as of interactions, every other with its number
        again = np.flatnonzero(data.occurrence)
        key[again] = hash_keys(seed, stream, data.user[again], data.item[again], data.occurrence[again])
    return key


def shuffled(key: Keys) -> Order:
    """Rows by key. Row numbers replace the last bits: sorting integers is faster than sorting positions."""
    width = max(len(key) - 1, 0).bit_length()
    packed = key >> width << width
    packed |= np.arange(len(key), dtype=np.uint64)
    packed.sort()
    return (packed & ((1 << width) - 1)).astype(np.intp)


def shuffled_by_user(user: Codes, users: int, key: Keys) -> Order:
    """Rows by user, then by key."""
    bits = users.bit_length()
    return np.argsort((user.astype(np.uint64) << (64 - bits)) | (key >> bits), kind="stable")


def timed_by_user(user: Codes, users: int, time: Times, key: Keys) -> Order:
    """Rows by user, then by time; equal times of a user by key."""
    order = shuffled_by_user(user, users, key)
    since = time.view(np.int64) - time.view(np.int64).min()
    room = 63 - users.bit_length()  # bits beside the user in one integer; higher bits of time sort last
    for shift in range(0, int(since.max()).bit_length(), room):
        both = (user.astype(np.int64) << room) | ((since >> shift) & ((1 << room) - 1))
        order = order[np.argsort(both[order], kind="stable")]
    return order


def last_of_users(order: Order, ends: Counts, take: Counts) -> Order:
    """Of rows in order by user, those at the last `take[u]` places before `ends[u]`."""
    places = np.arange(take.sum()) + np.repeat(ends - np.cumsum(take), take)
    rows: Order = order[places]
    return rows


def rows_per_user(data: AnyData) -> Counts:
    """How many rows, or cases, each user has."""
    return np.bincount(data.user, minlength=len(data.users))


def times_of(data: AnyData, what: str) -> Times:
    """The times, or the error that `what` cannot do without."""
    time: Times | None = getattr(data, "time", None)
    if time is None:
        raise DataError(f"{what} needs times, and this data has none; read its time column, or split at random.")
    return time


def share(fraction: float, counts: Any) -> Any:
    """A fraction of counts, rounded, halves up; decimal fractions round as on paper.

    >>> share(0.29, np.array([2, 10, 50])).tolist()
    [1, 3, 15]
    """
    return np.floor(np.multiply(fraction, counts) + 0.5 + 1e-9).astype(np.int64)


def check_fraction(name: str, value: object, zero: bool = False) -> None:
    """Refuse anything but a number strictly between 0 and 1; `zero` allows 0 as well."""
    inside = isinstance(value, float | np.floating) and 0 < float(value) < 1
    none = zero and is_number(value) and value == 0
    check(name, value, inside or none, f"a number between 0 {'(included)' if zero else '(excluded)'} and 1 (excluded)")
