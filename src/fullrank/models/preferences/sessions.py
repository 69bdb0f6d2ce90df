"""Sessions as the passes of CCF and of opportunity cost in context take them: which of them count, and their gaps."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import frozen
from fullrank.data.feedback import Feedback
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError
from fullrank.models.preferences.comparisons import Comparisons, Nest

Sessions: TypeAlias = Graded | Interactions


class SessionCounts(NamedTuple):
    """How many sessions have an order; how many have none because they offer one item, or one class of items.

    `silent` are those, of one item or more, in which nothing was done: all have the lowest grade there is.
    """

    ordered: int
    alone: int
    one_class: int
    silent: int


def as_sessions(name: str, feedback: Feedback) -> Graded:
    """Sessions as they are, a rating history as a session of all that somebody rated."""
    if isinstance(feedback, Preferences):
        raise DataError(f"{name}: preferences do not tell what was offered together; give sessions or ratings.")
    if isinstance(feedback, Interactions):
        if feedback.value is None:
            raise DataError(f"{name}: feedback without values has no classes; give sessions or ratings.")
        return feedback.graded()
    return feedback


def count_sessions(sessions: Sessions) -> SessionCounts:
    """How many sessions can be learned from, and why not from the others.

    >>> count_sessions(Graded.of(session=[1, 1, 2, 2, 3], item=[1, 2, 1, 2, 1], grade=[1, 0, 0, 0, 1]))
    SessionCounts(ordered=1, alone=1, one_class=1, silent=1)
    """
    cases = as_sessions("count_sessions", sessions)
    size, ordered = np.diff(cases.start), cases.count_pairs() > 0
    masks = ordered, size == 1, ~ordered & (size > 1), silent_sessions(cases)
    return SessionCounts(*(int(mask.sum()) for mask in masks))


def silent_sessions(cases: Graded, lowest: float | None = None) -> NDArray[np.bool_]:
    """Where nothing was done: every item has the lowest grade; that of the scale, given, or of all these sessions."""
    if lowest is None:
        lowest = 0.0 if cases.scale is not None else float(cases.grade.min(initial=np.inf))
    acted = np.bincount(cases.case[cases.grade > lowest], minlength=len(cases))
    silent: NDArray[np.bool_] = (acted == 0) & (np.diff(cases.start) > 0)
    return silent


def in_comparisons(cases: Graded, mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """A mask of sessions in the order that comparisons have: by user, without those that offer nothing."""
    some = np.flatnonzero(np.diff(cases.start))
    order = np.argsort(cases.user[some], kind="stable")
    return frozen(mask[some][order].astype(np.uint8))


class Gaps(NamedTuple):
    """Where the gap below each run is, how many gaps there are; by items, which gap each pair of items has."""

    place: NDArray[np.int64]  # of a run: its gap; by items where its pairs begin
    pair: NDArray[np.int64]  # of a pair: its gap
    many: int


def class_gaps(parts: Comparisons) -> Gaps:
    """One gap between the c-th class of a session and the next, for every user who has so many (SPW-OPT1)."""
    nest = parts.nest
    number, _ = _number_runs(nest)
    case_user = np.repeat(np.arange(len(nest.user_case) - 1), np.diff(nest.user_case))
    most = np.zeros(len(nest.user_case) - 1, dtype=np.int64)
    np.maximum.at(most, case_user, np.diff(nest.case_run) - 1)
    first = np.concatenate([[0], np.cumsum(most)])
    place = first[np.repeat(case_user, np.diff(nest.case_run))] + number
    return Gaps(frozen(place), frozen(np.zeros(0, dtype=np.int64)), int(first[-1]))


def item_gaps(parts: Comparisons) -> Gaps:
    """One gap between two items of a user, the first a class above the other in some session (SPW-OPT2)."""
    nest = parts.nest
    _, last = _number_runs(nest)
    size = np.diff(nest.run_row)
    count = np.where(last, 0, size * np.append(size[1:], 0))
    place = np.concatenate([[0], np.cumsum(count)])
    run = np.repeat(np.arange(len(size)), count)
    within = np.arange(place[-1]) - place[run]
    across = np.append(size[1:], 1)[run]
    better = nest.row_entry[nest.run_row[run] + within // across]
    worse = parts.by_user.other[nest.row_entry[nest.run_row[run + 1] + within % across]]
    distinct, pair = np.unique(better * np.int64(len(parts.by_item.start)) + worse, return_inverse=True)
    return Gaps(frozen(place[:-1].copy()), frozen(pair.reshape(-1).astype(np.int64)), len(distinct))


def _number_runs(nest: Nest) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The number of every run in its case, and whether it is the last."""
    runs = np.diff(nest.case_run)
    number = np.arange(len(nest.run_row) - 1) - np.repeat(nest.case_run[:-1], runs)
    return number, number == np.repeat(runs, runs) - 1
