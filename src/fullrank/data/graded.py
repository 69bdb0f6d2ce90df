"""Cases of items with grades: a rating history, or a session's offer set with relevance classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Floats, checked_codes, frozen, owned, repeats, rising, same_column
from fullrank.data.canonical import checked_values, encode, sort_rows
from fullrank.data.ids import Ids, Name, as_names
from fullrank.data.intake import Intake
from fullrank.data.preferences import Preferences, preferences
from fullrank.data.times import YEAR_5138, Times, checked_times
from fullrank.errors import DataError, StorageError, check, is_number, shown


@dataclass(frozen=True, eq=False)
class Graded:
    """Cases of items with grades, higher is better (sessions with relevance classes, Ackerman 2012).

    Case c is of user `user[c]` and holds items start[c] .. start[c+1]-1, sorted, with their grades.
    Equal grades form one relevance class. `scale` names the grades 0, 1, ... where they are actions.

    >>> shop = Graded.of(
    ...     session=["s1", "s1", "s1"], item=["tea", "milk", "jam"], action=["shown", "bought", "clicked"],
    ...     user=["ann"] * 3, scale=["shown", "clicked", "bought"])
    >>> shop
    Graded(1 cases, 3 offers, 1 users, 3 items)
    >>> [(shop.items.name(b), shop.items.name(w)) for b, w in zip(shop.pairs().better, shop.pairs().worse)]
    [('jam', 'tea'), ('milk', 'jam'), ('milk', 'tea')]
    """

    start: NDArray[np.int64]
    item: Codes
    grade: Floats
    user: Codes
    users: Ids
    items: Ids
    time: Times | None = None  # of each case
    names: Ids | None = None  # of the cases: session ids
    scale: tuple[str, ...] | None = None
    intake: Intake = field(default_factory=Intake, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", owned(np.asarray(self.start), np.int64))
        put(self, "item", checked_codes(self.item, len(self.items), "item"))
        put(self, "user", checked_codes(self.user, len(self.users), "user"))
        put(self, "grade", checked_values(self.grade, "grade"))
        if self.time is not None:
            put(self, "time", checked_times(self.time))
        sizes = np.diff(self.start)
        if self.start.ndim != 1 or len(self.start) != len(self.user) + 1 or self.start[0] or (sizes < 0).any():
            raise DataError("case starts must rise from 0, one more of them than cases.")
        if self.start[-1] != len(self.item) or len(self.item) != len(self.grade):
            raise DataError(
                f"starts end at {self.start[-1]}, but there are {len(self.item)} items, {len(self.grade)} grades."
            )
        for name, column in (("time", self.time), ("name", self.names)):
            if column is not None and len(column) != len(self.user):
                raise DataError(f"{len(column)} case {name}s for {len(self.user)} cases.")
        if not rising(self.case, self.item):
            raise DataError("the items of a case are not sorted without duplicates; use Graded.of(...).")

    @classmethod
    def of(
        cls,
        session: Iterable[Name] | NDArray[Any],
        item: Iterable[Name] | NDArray[Any],
        grade: Any = None,
        *,
        action: Sequence[str] | None = None,
        scale: Sequence[str] | None = None,
        user: Iterable[Name] | NDArray[Any] | None = None,
        time: Any = None,
    ) -> Graded:
        """From columns in any row order, with a grade, or an action on an ordinal scale, worst first.

        An item that occurs several times in a session keeps its best grade (shown, then clicked, then
        bought is bought). A session belongs to one user; without `user` every session is its own user's.
        The time of a session is its earliest.
        """
        if (grade is None) == (action is None) or (action is not None and scale is None):
            raise DataError("sessions need either `grade`, or `action` and its `scale` from worst to best.")
        session_names, item_names = as_names(session), as_names(item)
        session_codes, sessions = encode(session_names)
        item_codes, items = encode(item_names)
        user_codes, users = (session_codes, sessions) if user is None else encode(as_names(user))
        grades = checked_values(grade, "grade") if action is None else levels(action, scale or ())
        times = None if time is None else checked_times(time)
        return canonical(
            session_codes, item_codes, grades, user_codes, times,
            names=Ids(sessions), users=Ids(users), items=Ids(items),
            scale=None if action is None else tuple(scale or ()), intake=Intake(len(item_codes)),
        )  # fmt: skip

    @property
    def case(self) -> NDArray[np.intp]:
        """The case of every offer."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def where(self, cases: NDArray[np.bool_]) -> Graded:
        """The cases where the mask holds; the catalogue stays."""
        if np.shape(cases) != (len(self),) or np.asarray(cases).dtype != bool:
            raise DataError(f"where() needs one True or False per case ({len(self)}), got shape {np.shape(cases)}.")
        rows = np.repeat(cases, np.diff(self.start))
        return replace(
            self,
            start=np.concatenate([[0], np.cumsum(np.diff(self.start)[cases])]),
            item=self.item[rows],
            grade=self.grade[rows],
            user=self.user[cases],
            time=None if self.time is None else self.time[cases],
            names=None if self.names is None else Ids(self.names.names[cases]),
            intake=Intake(),
        )

    def count_pairs(self) -> NDArray[np.int64]:
        """Preferences implied by each case: pairs of its items with different grades, never enumerated.

        (n^2 - sum over classes of n_c^2) / 2
        """
        case = self.case
        order = np.lexsort((self.grade, case))
        same = repeats(case[order], self.grade[order])
        first = np.flatnonzero(~same)
        classes = np.diff(np.append(first, len(order)))
        squares = np.zeros(len(self), dtype=np.int64)
        np.add.at(squares, case[order][first], classes**2)
        return (np.diff(self.start) ** 2 - squares) // 2

    def pairs(self, limit: int = 500_000_000) -> Preferences:
        """Every pair of a case's items with different grades as a preference.

        Twelve bytes each and quadratic in the size of a case: what can work on grades should.
        The same preference from two sessions of a user counts once.
        """
        from fullrank.kernels.preference_pairs import enumerate_pairs

        counts = self.count_pairs()
        total = int(counts.sum())
        if total > limit:
            raise StorageError(
                f"{total:,} pairs need about {total * 24 / 1e9:.1f} GB; work on the graded cases, or raise the limit."
            )
        better, worse = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
        enumerate_pairs(self.start, self.item, self.grade, better, worse)
        user = np.repeat(self.user, counts)
        return preferences(user, better, worse, self.users, self.items, Intake(total))

    def __len__(self) -> int:
        return len(self.user)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Graded)
            and (self.users, self.items, self.names, self.scale) == (other.users, other.items, other.names, other.scale)
            and all(
                same_column(getattr(self, c), getattr(other, c)) for c in ("start", "item", "grade", "user", "time")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        who = f"{len(self.users):,} users, {len(self.items):,} items"
        return f"Graded({len(self):,} cases, {len(self.item):,} offers, {who})"


def levels(action: Sequence[str] | NDArray[Any], scale: Sequence[str]) -> Floats:
    """Actions as their places on an ordinal scale, worst first: 0, 1, ..."""
    place = {name: float(level) for level, name in enumerate(scale)}
    if len(place) != len(scale) or not place:
        raise DataError(f"the scale must name each action once, from worst to best; got {shown(list(scale))}.")
    try:
        return np.array([place[name] for name in action], dtype=np.float32)
    except KeyError:
        row = next(row for row, name in enumerate(action) if name not in place)
        raise DataError(f"action {shown(action[row])} (row {row}) is not on the scale {', '.join(scale)}.") from None


def by_pauses(
    user: Codes, item: Codes, value: Floats | None, time: Times | None, ids: tuple[Ids, Ids], pause: Any
) -> Graded:
    """The rows of every user cut where they paused for longer than this: `Interactions.sessions`."""
    if time is None:
        raise DataError("the feedback has no times to cut sessions by; give a column of them.")
    longest = np.timedelta64(pause) if isinstance(pause, timedelta) else pause
    if not isinstance(longest, np.timedelta64):
        check("pause", pause, is_number(pause) and 0 <= pause < YEAR_5138, "seconds >= 0, or a timedelta")
        longest = np.timedelta64(round(pause * 1e6), "us")
    check("pause", pause, bool(longest >= np.timedelta64(0)), "seconds >= 0, or a timedelta")
    order = np.lexsort((time, user))
    user, time = user[order], time[order]
    begins = ~repeats(user)
    begins[1:] |= np.diff(time) > longest
    session = np.cumsum(begins) - 1
    order = order[np.lexsort((item[order], session))]
    starts = np.flatnonzero(begins)
    return Graded(
        start=np.append(starts, len(user)),
        item=item[order],
        grade=np.ones(len(user), dtype=np.float32) if value is None else value[order],
        user=user[starts],
        users=ids[0],
        items=ids[1],
        time=time[starts],
    )


def canonical(
    session: Codes,
    item: Codes,
    grade: Floats,
    user: Codes,
    time: Times | None,
    *,
    names: Ids,
    users: Ids,
    items: Ids,
    scale: tuple[str, ...] | None,
    intake: Intake,
) -> Graded:
    """Sort coded columns into cases; of an item's several grades in a session the best counts."""
    for column in (item, grade, user, time):
        if column is not None and len(column) != len(session):
            raise DataError(f"columns of {len(session)} and {len(column)} rows; give columns of one length.")
    order, (session, item) = sort_rows((session, len(names)), (item, len(items)))
    grade, user = grade[order], user[order]
    begins = np.flatnonzero(~repeats(session))
    if (np.maximum.reduceat(user, begins) != np.minimum.reduceat(user, begins)).any() if len(begins) else False:
        several = int((np.maximum.reduceat(user, begins) != np.minimum.reduceat(user, begins)).argmax())
        raise DataError(f"session {names.name(several)!r} has rows of several users; a session belongs to one user.")
    repeat = repeats(session, item)
    starts = np.flatnonzero(~repeat)
    kept = len(starts)
    return Graded(
        start=np.append(np.searchsorted(starts, begins), kept),
        item=frozen(item[starts]),
        grade=frozen(np.maximum.reduceat(grade, starts) if kept else grade),
        user=user[begins],
        users=users,
        items=items,
        time=None if time is None else np.minimum.reduceat(time[order], begins) if kept else time,
        names=names,
        scale=scale,
        intake=replace(intake, merged=intake.merged + len(item) - kept),
    )
