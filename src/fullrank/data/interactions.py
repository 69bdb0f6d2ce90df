"""Feedback of users on items: ratings, counts, clicks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Floats, frozen, repeats, rising, same_column
from fullrank.data.canonical import (
    Duplicates,
    at_least,
    checked_values,
    highest_reached,
    in_order_of,
    merge,
    sort_rows,
)
from fullrank.data.columns import COLUMNS, check_columns, check_lengths, columns_where, encode_names, tell_columns
from fullrank.data.graded import Graded, by_pauses
from fullrank.data.ids import Ids, Name
from fullrank.data.intake import Intake
from fullrank.data.times import Times, checked_times
from fullrank.errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Meaning: TypeAlias = Literal["ratings", "events"]  # what values are: grades, or counts of what happened


@dataclass(frozen=True, eq=False)
class Interactions:
    """Who did what, when: one row per (user, item), sorted by user, then item.

    Build it with `fullrank.read` or `Interactions.of`; rows in any order give the same object.
    `users` and `items` may name some that have no row. `value` is absent for plain events.
    `kind` says what the values are where that is known ("ratings", or "events" for counts); else see `kind_of`.

    >>> data = Interactions.of(user=["b", "a", "a"], item=[7, 7, 5], value=[4, 5, 1])
    >>> data
    Interactions(3 rows, 2 users, 2 items, values 1..5)
    >>> data.by_user().toarray()
    array([[1., 5.],
           [0., 4.]], dtype=float32)
    """

    user: Codes
    item: Codes
    value: Floats | None
    time: Times | None
    users: Ids
    items: Ids
    intake: Intake = field(default_factory=Intake, repr=False)
    kind: Meaning | None = None

    def __post_init__(self) -> None:
        check_columns(self)
        if not rising(self.user, self.item):
            raise DataError("rows are not sorted by user and item without duplicates; use Interactions.of(...).")

    @classmethod
    def of(
        cls,
        user: Iterable[Name] | NDArray[Any],
        item: Iterable[Name] | NDArray[Any],
        value: Any = None,
        time: Any = None,
        *,
        users: Ids | None = None,
        items: Ids | None = None,
        duplicates: Duplicates = "last",
    ) -> Interactions:
        """From columns of names in any row order.

        Times are seconds since 1970 or datetime64. `users` and `items` give the catalogue and its
        order; without them the names that occur, sorted. `duplicates` says what becomes of several rows
        for one pair: "last", "first" (by time; of values at that same time the largest), "sum", "mean", "max", "error".
        """
        user_codes, users = encode_names(user, users)
        item_codes, items = encode_names(item, items)
        values = None if value is None else checked_values(value)
        times = None if time is None else checked_times(time)
        columns = present(user=user_codes, item=item_codes, value=values, time=times)
        return canonical(columns, users, items, duplicates, Intake(len(user_codes)))

    @property
    def n_users(self) -> int:
        return len(self.users)

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def density(self) -> float:
        """Share of all (user, item) pairs that were observed."""
        return len(self) / (self.n_users * self.n_items) if len(self) else 0.0

    def by_user(self) -> csr_array:
        """Users x items, values as float32 (1 where there are none); shares memory, not to be changed."""
        return self._by_user

    def by_item(self) -> csr_array:
        """Items x users, the transpose of `by_user`."""
        return self._by_item

    @cached_property
    def _by_user(self) -> csr_array:
        from scipy.sparse import csr_array

        data = frozen(np.ones(len(self), dtype=np.float32)) if self.value is None else self.value
        matrix = csr_array((data, self.item, self.starts), shape=(self.n_users, self.n_items), copy=False)
        matrix.has_canonical_format = True
        return matrix

    @cached_property
    def _by_item(self) -> csr_array:
        matrix = self._by_user.T.tocsr()
        matrix.has_canonical_format = True
        for array in (matrix.data, matrix.indices, matrix.indptr):
            frozen(array)
        return matrix

    @cached_property
    def popularity(self) -> NDArray[np.int64]:
        """How many rows every item has."""
        return frozen(np.bincount(self.item, minlength=self.n_items))

    @cached_property
    def popularity_order(self) -> Codes:
        """The place of every item by popularity, from 0; of equally popular ones by code."""
        place = np.empty(self.n_items, dtype=np.int32)
        place[np.argsort(-self.popularity, kind="stable")] = np.arange(self.n_items, dtype=np.int32)
        return frozen(place)

    @cached_property
    def starts(self) -> NDArray[Any]:
        """Rows of user u are starts[u] .. starts[u+1]-1."""
        counts = np.bincount(self.user, minlength=self.n_users)
        dtype = np.int32 if len(self) < 2**31 else np.int64
        return frozen(np.concatenate([[0], np.cumsum(counts)]).astype(dtype))

    def where(self, mask: NDArray[np.bool_]) -> Interactions:
        """The rows where `mask` holds; the catalogue stays."""
        return replace(self, **columns_where(self, mask), intake=Intake())

    def relevant(self, threshold: float | NDArray[Any] | None) -> Interactions:
        """The rows with a value at or above a threshold, or above each user's own (one per user).

        Without values, or with `threshold=None`, every row is relevant.
        """
        if threshold is None or self.value is None:
            return self
        return self.where(at_least(self.value, threshold, self.user, self.n_users))

    def reached_by(self, share: float) -> float:
        """The highest value that at least this share of all rows reach; found once."""
        if self.value is None:
            raise DataError("there are no values to be reached; leave the share out.")
        if share not in self._reached:
            self._reached[share] = highest_reached(self.value, share)
        return self._reached[share]

    @cached_property
    def _reached(self) -> dict[float, float]:
        return {}

    def graded(self) -> Graded:
        """Every user with feedback as one case of items with grades (the values)."""
        counts = np.bincount(self.user, minlength=self.n_users)
        present = np.flatnonzero(counts)
        return Graded(
            start=np.concatenate([[0], np.cumsum(counts[present])]),
            item=self.item,
            grade=np.ones(len(self), dtype=np.float32) if self.value is None else self.value,
            user=present.astype(np.int32),
            users=self.users,
            items=self.items,
        )

    def sessions(self, pause: float | timedelta | np.timedelta64) -> Graded:
        """What a user did without a pause longer than this (seconds, or a timedelta) as one case each, in time order.

        >>> data = Interactions.of(["ann"] * 4, [1, 2, 3, 4], [5, 3, 4, 1], time=[0, 20, 95, 30])
        >>> [data.sessions(pause=60).item[some].tolist() for some in (slice(0, 3), slice(3, 4))]
        [[0, 1, 3], [2]]
        """
        return by_pauses(self.user, self.item, self.value, self.time, (self.users, self.items), pause)

    def catalogue(self, users: Iterable[Name] = (), items: Iterable[Name] = ()) -> Interactions:
        """The same feedback in a larger catalogue: some of it nobody touched."""
        more_users, more_items = self.users.union(users), self.items.union(items)
        columns = present(
            user=more_users.codes(self.users.names)[self.user],
            item=more_items.codes(self.items.names)[self.item],
            value=self.value,
            time=self.time,
        )
        return canonical(columns, more_users, more_items, "error", self.intake, self.kind)

    def __len__(self) -> int:
        return len(self.user)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Interactions)
            and self.users == other.users
            and self.items == other.items
            and all(same_column(getattr(self, c), getattr(other, c)) for c in COLUMNS)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Interactions({len(self):,} rows, {tell_columns(self)})"


def canonical(
    columns: dict[str, NDArray[Any]], users: Ids, items: Ids, duplicates: Duplicates, intake: Intake,
    kind: Meaning | None = None,
) -> Interactions:  # fmt: skip
    """Sort coded columns (user, item, value, time), merge duplicates by the rule and count them.

    The columns are taken out of the dict one by one, so that little more than one of them is in memory twice.
    """
    check_lengths(columns)
    order, (user, item) = sort_rows((columns.pop("user"), len(users)), (columns.pop("item"), len(items)))
    value, time = (in_order_of(columns.pop(name), order) if name in columns else None for name in ("value", "time"))
    del order
    repeat = repeats(user, item)
    merged = int(repeat.sum())
    if merged:
        if duplicates == "error":
            row = int(repeat.argmax())
            pair = f"user {users.name(int(user[row]))!r}, item {items.name(int(item[row]))!r}"
            raise DataError(
                f"{merged:,} rows repeat a (user, item) pair, the first is {pair}; "
                "choose duplicates='last', 'first', 'sum', 'mean' or 'max'."
            )
        value, time = merge(repeat, value, time, duplicates)
        user, item = user[~repeat], item[~repeat]
    intake = replace(intake, merged=intake.merged + merged)
    return Interactions(user, item, value, time, users, items, intake, kind)


def present(**columns: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
    """The columns that are there."""
    return {name: column for name, column in columns.items() if column is not None}
