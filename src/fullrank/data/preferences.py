"""Pairwise preferences: this user would rather have this item than that one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, checked_codes, frozen, repeats, rising, same_column
from fullrank.data.canonical import encode, sort_rows
from fullrank.data.ids import Ids, Name, as_names
from fullrank.data.intake import Intake
from fullrank.errors import DataError


@dataclass(frozen=True, eq=False)
class Preferences:
    """(user, better item, worse item): any partial order per user; cycles are allowed (Ackerman 2012).

    Sorted by user, better, worse; each preference once.

    >>> Preferences.of(user=[1, 1], better=["tea", "milk"], worse=["milk", "jam"])
    Preferences(2 of 1 users over 3 items)
    """

    user: Codes
    better: Codes
    worse: Codes
    users: Ids
    items: Ids
    intake: Intake = field(default_factory=Intake, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "user", checked_codes(self.user, len(self.users), "user"))
        put(self, "better", checked_codes(self.better, len(self.items), "item"))
        put(self, "worse", checked_codes(self.worse, len(self.items), "item"))
        if not len(self.user) == len(self.better) == len(self.worse):
            raise DataError("user, better and worse must be of one length.")
        itself = self.better == self.worse
        if itself.any():
            name = self.items.name(int(self.better[int(itself.argmax())]))
            raise DataError(
                f"{int(itself.sum())} preferences of an item over itself, the first of {name!r}; remove them."
            )
        if not rising(self.user, self.better, self.worse):
            raise DataError("preferences are not sorted without duplicates; use Preferences.of(...).")

    @classmethod
    def of(
        cls,
        user: Iterable[Name] | NDArray[Any],
        better: Iterable[Name] | NDArray[Any],
        worse: Iterable[Name] | NDArray[Any],
    ) -> Preferences:
        """From columns of names in any row order."""
        user_codes, users = encode(as_names(user))
        above, below = as_names(better), as_names(worse)
        if len(above) != len(below):
            raise DataError(f"columns of {len(above)} and {len(below)} rows; give columns of one length.")
        if above.dtype != below.dtype and len(above):
            raise DataError("better and worse must both be integers or both be strings; convert one of them.")
        codes, items = encode(np.concatenate([above, below]))
        half = len(above)
        return preferences(user_codes, codes[:half], codes[half:], Ids(users), Ids(items), Intake(half))

    def where(self, mask: NDArray[np.bool_]) -> Preferences:
        """The preferences where the mask holds; the catalogue stays."""
        if np.shape(mask) != (len(self),) or np.asarray(mask).dtype != bool:
            raise DataError(f"where() needs one True or False per row ({len(self)}), got shape {np.shape(mask)}.")
        return replace(self, user=self.user[mask], better=self.better[mask], worse=self.worse[mask], intake=Intake())

    def __len__(self) -> int:
        return len(self.user)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Preferences)
            and (self.users, self.items) == (other.users, other.items)
            and all(same_column(getattr(self, c), getattr(other, c)) for c in ("user", "better", "worse"))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Preferences({len(self):,} of {len(self.users):,} users over {len(self.items):,} items)"


def preferences(user: Codes, better: Codes, worse: Codes, users: Ids, items: Ids, intake: Intake) -> Preferences:
    """Sort coded columns and merge repeated preferences, counting them."""
    if not len(user) == len(better) == len(worse):
        raise DataError("user, better and worse must be of one length.")
    _, (user, better, worse) = sort_rows((user, len(users)), (better, len(items)), (worse, len(items)))
    repeat = repeats(user, better, worse)
    user, better, worse = (frozen(column[~repeat]) for column in (user, better, worse))
    return Preferences(user, better, worse, users, items, replace(intake, merged=intake.merged + int(repeat.sum())))
