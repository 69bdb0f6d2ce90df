"""A split, its parts, and how they become the whole again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, canonical, present
from fullrank.data.preferences import Preferences, preferences
from fullrank.errors import DataError, check

AnyData: TypeAlias = Interactions | Graded | Preferences
Data = TypeVar("Data", Interactions, Graded, Preferences)
Labels: TypeAlias = NDArray[np.int8]  # the part of every row

TRAIN, VISIBLE, VALID, HELD_OUT = range(4)


@dataclass(frozen=True, repr=False)
class Split(Generic[Data]):
    """Training and held-out parts of one data set: disjoint, and together the whole.

    `valid` is a second held-out part, to choose hyper-parameters on. `visible` is what a model sees of
    users it was not trained on before it must rank for them (strong generalisation).
    """

    train: Data
    held_out: Data
    valid: Data | None = None
    visible: Data | None = None
    how: str = ""  # one sentence for the report

    @property
    def parts(self) -> tuple[Data, ...]:
        """All parts there are, train first."""
        return tuple(part for part in (self.train, self.visible, self.valid, self.held_out) if part is not None)

    def whole(self) -> Data:
        """The data that was split, put together again; parts that overlap are an error.

        Graded cases come in the order of their names, or without names in that of their users.
        """
        return joined(self.parts)

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.users != self.train.users or part.items != self.train.items:
                raise DataError("the parts of a split must share their users and items; split one data set.")

    def __repr__(self) -> str:
        names = ("train", "visible", "valid", "held_out")
        parts = ((getattr(self, name), name) for name in names)
        return f"Split({', '.join(f'{len(part):,} {name}' for part, name in parts if part is not None)})"


def usable(data: AnyData) -> None:
    """Refuse what is no data, and data without rows."""
    known = isinstance(data, Interactions | Graded | Preferences)
    check("data", data, known, "Interactions, Graded or Preferences")
    if not len(data):
        raise DataError("there are no rows to split; bring at least two.")


def cut(data: Data, label: Labels, clauses: Sequence[str], remedy: str) -> Split[Data]:
    """Every row in the part its label names: disjoint and complete by construction.

    `how` is made of the clauses and of what every split must admit: users without anything to learn from.
    """
    sizes = np.bincount(label, minlength=4)
    for part, what in ((TRAIN, "left to train on"), (HELD_OUT, "held out")):
        if not sizes[part]:
            raise DataError(f"nothing is {what}; {remedy}.")
    return Split(
        train=data.where(label == TRAIN),
        held_out=data.where(label == HELD_OUT),
        valid=data.where(label == VALID) if sizes[VALID] else None,
        visible=data.where(label == VISIBLE) if sizes[VISIBLE] else None,
        how="; ".join(filter(None, [*clauses, _new_users(data, label)])) + ".",
    )


def _new_users(data: AnyData, label: Labels) -> str:
    known = np.zeros(len(data.users), dtype=bool)
    judged = known.copy()
    known[data.user[label <= VISIBLE]] = True
    judged[data.user[label == HELD_OUT]] = True
    new_users = int((judged & ~known).sum())
    return (
        f"for {many(new_users, 'users')} with held-out {unit(data)} there are none to learn from" if new_users else ""
    )


def unit(data: AnyData) -> str:
    """What the data is made of, for sentences."""
    return {Interactions: "rows", Graded: "cases", Preferences: "preferences"}[type(data)]


def many(n: int, things: str) -> str:
    """A number of things, in words of a report.

    >>> many(1, "rows"), many(2000, "rows")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {things if n != 1 else things.removesuffix('s')}"


def joined(parts: Sequence[Data]) -> Data:
    """The parts as one, in canonical order; a row in two of them is an error."""
    join: Any = {Interactions: _join_interactions, Graded: _join_graded, Preferences: _join_preferences}
    whole: Data = join[type(parts[0])](parts)
    return whole


def _column(parts: Sequence[Any], name: str) -> Any:
    columns = [getattr(part, name) for part in parts]
    return None if columns[0] is None else np.concatenate(columns)


def _join_interactions(parts: Sequence[Interactions]) -> Interactions:
    columns = present(**{name: _column(parts, name) for name in ("user", "item", "value", "time")})
    return canonical(columns, parts[0].users, parts[0].items, "error", Intake(), parts[0].kind)


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
