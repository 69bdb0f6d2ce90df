"""A split, its parts, and how they become the whole again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import Duplicates
from fullrank.data.events import Events
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, canonical, present
from fullrank.data.preferences import Preferences, preferences
from fullrank.errors import DataError, check

AnyData: TypeAlias = Interactions | Events | Graded | Preferences
Data = TypeVar("Data", Interactions, Graded, Preferences)
Labels: TypeAlias = NDArray[np.int8]  # the part of every row

TRAIN, VISIBLE, VALID, HELD_OUT = range(4)


@dataclass(frozen=True)
class Repeats:
    """Held-out events of items that the person had before: left out of the held-out part, or kept in it."""

    #: held-out events in all
    events: int
    #: those that repeat what the person had before
    repeated: int
    #: people all of whose held-out events do
    users: int
    #: whether they are held out like the others; train and held-out parts overlap then, by intent
    kept: bool

    @property
    def share(self) -> float:
        """The part of the held-out events that repeat others."""
        return self.repeated / self.events


@dataclass(frozen=True, repr=False)
class Split(Generic[Data]):
    """Training and held-out parts of one data set: disjoint, and together the whole.

    `valid` is a second held-out part, to choose hyper-parameters on. `visible` is what a model sees of
    users it was not trained on before it must rank for them (strong generalisation).
    Of events `repeats` tells which were held out although the person had the item before; they are left out, and
    missing in the whole, or kept, and the parts overlap.
    """

    train: Data
    held_out: Data
    valid: Data | None = None
    visible: Data | None = None
    how: str = ""  # one sentence for the report
    repeats: Repeats | None = None  # of a split of events
    train_events: Events | None = None  # that train was merged from, and valid where it was cut from them

    @property
    def overlaps(self) -> bool:
        """Whether what was held out may also be in the training part, by intent."""
        return self.repeats is not None and self.repeats.kept

    @property
    def parts(self) -> tuple[Data, ...]:
        """All parts there are, train first."""
        return tuple(part for part in (self.train, self.visible, self.valid, self.held_out) if part is not None)

    def whole(self) -> Data:
        """The data that was split, put together again; parts that overlap are an error, unless they do by intent.

        Graded cases come in the order of their names, or without names in that of their users. Kept repeats are added
        up: the whole of events is what they are `merged`.
        """
        return joined(self.parts, "sum" if self.overlaps else "error")

    def __post_init__(self) -> None:
        parts: list[AnyData] = [*self.parts, *([] if self.train_events is None else [self.train_events])]
        for part in parts:
            if part.users != self.train.users or part.items != self.train.items:
                raise DataError("the parts of a split must share their users and items; split one data set.")

    def __repr__(self) -> str:
        names = ("train", "visible", "valid", "held_out")
        parts = ((getattr(self, name), name) for name in names)
        return f"Split({', '.join(f'{len(part):,} {name}' for part, name in parts if part is not None)})"


def usable(data: AnyData, events: bool = False) -> None:
    """Refuse what is no data (events where they cannot be taken apart, too), and data without rows."""
    known = isinstance(data, Interactions | Graded | Preferences) or (events and isinstance(data, Events))
    check("data", data, known, f"Interactions, {'Events, ' * events}Graded or Preferences")
    if not len(data):
        raise DataError("there are no rows to split; bring at least two.")


def cut(data: Data, label: Labels, clauses: Sequence[str], remedy: str) -> Split[Data]:
    """Every row in the part its label names: disjoint and complete by construction.

    `how` is made of the clauses and of what every split must admit: users without anything to learn from.
    """
    sizes = sizes_of(label, remedy)
    return Split(
        train=data.where(label == TRAIN),
        held_out=data.where(label == HELD_OUT),
        valid=data.where(label == VALID) if sizes[VALID] else None,
        visible=data.where(label == VISIBLE) if sizes[VISIBLE] else None,
        how=sentence(*clauses, new_users(data, label)),
    )


def sentence(*clauses: str) -> str:
    """The clauses that say something, as one."""
    return "; ".join(filter(None, clauses)) + "."


def sizes_of(label: Labels, remedy: str) -> NDArray[np.int64]:
    """How many rows each part has; nothing to train on or nothing held out is an error."""
    sizes = np.bincount(label, minlength=4)
    for part, what in ((TRAIN, "left to train on"), (HELD_OUT, "held out")):
        if not sizes[part]:
            raise DataError(f"nothing is {what}; {remedy}.")
    return sizes


def new_users(data: AnyData, label: Labels) -> str:
    """A clause on users with something held out of whom nothing is known."""
    known = np.zeros(len(data.users), dtype=bool)
    judged = known.copy()
    known[data.user[label <= VISIBLE]] = True
    judged[data.user[label == HELD_OUT]] = True
    new = int((judged & ~known).sum())
    return f"for {many(new, 'users')} with held-out {unit(data)} there are none to learn from" if new else ""


def unit(data: AnyData) -> str:
    """What the data is made of, for sentences."""
    return {Interactions: "rows", Events: "events", Graded: "cases", Preferences: "preferences"}[type(data)]


def many(n: int, things: str) -> str:
    """A number of things, in words of a report.

    >>> many(1, "rows"), many(2000, "rows")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {things if n != 1 else things.removesuffix('s')}"


def joined(parts: Sequence[Data], duplicates: Duplicates = "error") -> Data:
    """The parts as one, in canonical order; a row in two of them is an error, or is merged where interactions are."""
    join: Any = {Graded: _join_graded, Preferences: _join_preferences}
    if isinstance(parts[0], Interactions):
        return _join_interactions(parts, duplicates)
    whole: Data = join[type(parts[0])](parts)
    return whole


def _column(parts: Sequence[Any], name: str) -> Any:
    columns = [getattr(part, name) for part in parts]
    return None if columns[0] is None else np.concatenate(columns)


def _join_interactions(parts: Sequence[Interactions], duplicates: Duplicates) -> Interactions:
    columns = present(**{name: _column(parts, name) for name in ("user", "item", "value", "time")})
    whole = canonical(columns, parts[0].users, parts[0].items, duplicates, Intake(), parts[0].kind)
    return replace(whole, intake=Intake())


def _join_preferences(parts: Sequence[Preferences]) -> Preferences:
    user, better, worse = (_column(parts, name) for name in ("user", "better", "worse"))
    whole = preferences(user, better, worse, parts[0].users, parts[0].items, Intake())
    if whole.intake.merged:
        raise DataError(f"{whole.intake.merged:,} preferences are in more than one part; the parts must be disjoint.")
    return replace(whole, intake=Intake())


def _join_graded(parts: Sequence[Graded]) -> Graded:
    user, time = _column(parts, "user"), _column(parts, "time")
    sizes = np.concatenate([np.diff(part.start) for part in parts])
    names = None
    if parts[0].names is None:
        order = np.argsort(user, kind="stable")
    else:
        every = np.concatenate([part.names.names for part in parts if part.names is not None])
        order = np.argsort(every, kind="stable")
        names = Ids(every[order])
    start = np.concatenate([[0], np.cumsum(sizes[order])])
    first = np.concatenate([[0], np.cumsum(sizes)])[:-1][order]  # of each case among all rows of the parts
    rows = np.arange(start[-1]) + np.repeat(first - start[:-1], sizes[order])
    return replace(
        parts[0],
        start=start,
        item=_column(parts, "item")[rows],
        grade=_column(parts, "grade")[rows],
        user=user[order],
        time=None if time is None else time[order],
        names=names,
        intake=Intake(),
    )
