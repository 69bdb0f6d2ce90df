"""Events: who did what, when, and did it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Floats, frozen, repeats, rising, same_column
from fullrank.data import interactions
from fullrank.data.canonical import Duplicates, checked_values, count_up, in_order_of, sort_digits, sort_rows
from fullrank.data.columns import COLUMNS, check_columns, check_lengths, columns_where, encode_names, tell_columns
from fullrank.data.ids import Ids, Name
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, present
from fullrank.data.times import Times, checked_times
from fullrank.errors import DataError


@dataclass(frozen=True, eq=False)
class Events:
    """Every event, also where somebody takes the same item again; sorted by user, time, item, value.

    Build it with `fullrank.read_events` or `Events.of`; rows in any order give the same object. `value` is how much
    it was (pieces, plays), above 0; absent where an event is just one. Splits cut events first and merge each part
    then, so that what happened before the cut stays before it.

    >>> events = Events.of(["ann", "ann", "bob"], ["tea", "tea", "jam"], time=[10, 20, 30])
    >>> events
    Events(3 events, 1 repeat, 2 users, 2 items, 1970-01-01..1970-01-01)
    >>> events.merged().value
    array([2., 1.], dtype=float32)
    """

    user: Codes
    item: Codes
    value: Floats | None
    time: Times | None
    users: Ids
    items: Ids
    intake: Intake = field(default_factory=Intake, repr=False)

    def __post_init__(self) -> None:
        check_columns(self)
        if self.value is not None and len(self) and self.value.min() <= 0:
            row = int(self.value.argmin())
            raise DataError(f"the value {self.value[row]:g} of an event (row {row}) is no count above 0; leave it out.")
        order = (self.user, self.time, self.item, self.value)
        if not rising(*(column for column in order if column is not None), ties=True):
            raise DataError("events are not sorted by user, time, item and value; use Events.of(...).")

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
    ) -> Events:
        """From columns of names in any row order.

        Times are seconds since 1970 or datetime64. `users` and `items` give the catalogue and its order; without them
        the names that occur, sorted.
        """
        user_codes, users = encode_names(user, users)
        item_codes, items = encode_names(item, items)
        values = None if value is None else checked_values(value)
        times = None if time is None else checked_times(time)
        columns = present(user=user_codes, item=item_codes, value=values, time=times)
        return canonical(columns, users, items, Intake(len(user_codes)))

    @property
    def n_users(self) -> int:
        return len(self.users)

    @property
    def n_items(self) -> int:
        return len(self.items)

    @cached_property
    def occurrence(self) -> Codes:
        """Of every event, how many events of the same user and item are before it."""
        order, (user, item) = sort_rows((self.user, self.n_users), (self.item, self.n_items))
        first = np.flatnonzero(~repeats(user, item))
        place = np.arange(len(self)) - np.repeat(first, np.diff(np.append(first, len(self))))
        before = np.empty(len(self), dtype=np.int32)
        before[order] = place
        return frozen(before)

    @cached_property
    def repeats(self) -> int:
        """How many events are of an item that the user had before."""
        return int((self.occurrence > 0).sum())

    def where(self, mask: NDArray[np.bool_]) -> Events:
        """The events where `mask` holds; the catalogue stays."""
        return replace(self, **columns_where(self, mask), intake=Intake())

    def merged(self, rule: Duplicates = "sum") -> Interactions:
        """One row for every user and item, at the time of the last event; the rules are those of `Interactions.of`.

        Where events have no value, the sum is their number; but if nobody has anything twice, there is none still.
        """
        counted = self.value is None and rule == "sum" and self.repeats > 0
        value = np.ones(len(self), dtype=np.float32) if counted else self.value
        columns = present(user=self.user, item=self.item, value=value, time=self.time)
        return interactions.canonical(columns, self.users, self.items, rule, self.intake, "events")

    def __len__(self) -> int:
        return len(self.user)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Events)
            and self.users == other.users
            and self.items == other.items
            and all(same_column(getattr(self, c), getattr(other, c)) for c in COLUMNS)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        again = f"{self.repeats:,} repeat{'s' * (self.repeats != 1)}"
        return f"Events({len(self):,} events, {again}, {tell_columns(self)})"


def canonical(columns: dict[str, NDArray[Any]], users: Ids, items: Ids, intake: Intake) -> Events:
    """Sort coded columns (user, item, value, time) by user, time, item, value, taking them out of the dict."""
    check_lengths(columns)
    keys: dict[str, tuple[NDArray[Any], int]] = {"user": (columns["user"], len(users))}
    if "time" in columns:
        keys["time"] = count_up(columns["time"].view(np.int64))
    keys["item"] = columns["item"], len(items)
    if "value" in columns:  # positive floats are in the order of their bits
        keys["value"] = count_up(columns["value"].view(np.int32).astype(np.int64))
    order = sort_digits(*keys.values())
    del keys
    user, item, value, time = (in_order_of(columns.pop(c), order) if c in columns else None for c in COLUMNS)
    return Events(user, item, value, time, users, items, intake)  # type: ignore[arg-type]
