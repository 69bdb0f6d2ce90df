"""Who is compared with what: cases of classes, by user and by item, so that pairs are never listed.

Items of different classes of one case are pairs. A rating history is one case, a session is one; a list of preferences
is a case of two classes for every item somebody prefers: that item, and all it is preferred to.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import owned, repeats
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError

Integers: TypeAlias = NDArray[Any]
Feedback: TypeAlias = Interactions | Graded | Preferences


class Entries(NamedTuple):
    """What each row (a user, or an item) has: the other side, with how many it is compared, how many are below it."""

    start: Integers
    other: Integers
    compared: Any  # w
    below: Any  # e


class Nest(NamedTuple):
    """Users have cases, cases runs (classes, best first), runs rows, and a row is an entry of its user."""

    user_case: Integers
    case_run: Integers
    run_row: Integers
    row_entry: Integers


class Places(NamedTuple):
    """Where an entry of an item stands: its rows, their runs, and the cases of these."""

    entry_row: Integers
    row_run: Integers
    run_case: Integers


class Bundles(NamedTuple):
    """All comparisons."""

    by_user: Entries
    nest: Nest
    by_item: Entries
    places: Places
    pairs: int


def bundles(feedback: Feedback, dtype: Any = np.float32) -> Bundles:
    """The comparisons in ratings, sessions or preferences.

    >>> found = bundles(Interactions.of(["u"] * 4, "abcd", [5, 3, 3, 1]))
    >>> found.pairs, found.by_user.compared, found.by_user.below
    (5, array([3., 2., 2., 3.], dtype=float32), array([3., 1., 1., 0.], dtype=float32))
    """
    user, case, rank, item, sizes = _rows(feedback)
    new_case, new_run = ~repeats(case), ~repeats(case, rank)
    case_row, run_row = (np.append(np.flatnonzero(new), len(item)) for new in (new_case, new_run))
    case_run = np.searchsorted(run_row, case_row)
    row_run = np.cumsum(new_run) - 1
    run_case = np.repeat(np.arange(len(case_row) - 1), np.diff(case_run))
    end = case_row[run_case[row_run] + 1] if len(item) else np.zeros(0, dtype=np.int64)
    compared = np.diff(case_row)[run_case[row_run]] - np.diff(run_row)[row_run]
    below = end - run_row[row_run + 1]
    keys, row_entry = np.unique(user.astype(np.int64) * sizes[1] + item, return_inverse=True)
    w, e = (np.bincount(row_entry, number, minlength=len(keys)) for number in (compared, below))
    owner, thing = keys // max(sizes[1], 1), keys % max(sizes[1], 1)
    nest = Nest(np.searchsorted(user[case_row[:-1]], np.arange(sizes[0] + 1)), case_run, run_row, row_entry)
    across = np.lexsort((owner, thing))
    place = np.empty(len(across), dtype=np.int64)
    place[across] = np.arange(len(across))
    rows = np.argsort(place[row_entry], kind="stable")
    entry_row = np.searchsorted(place[row_entry][rows], np.arange(len(keys) + 1))
    return Bundles(
        _entries(owner, thing, w, e, sizes[0], dtype),
        Nest(*(owned(part, np.int64) for part in nest)),
        _entries(thing[across], owner[across], w[across], e[across], sizes[1], dtype),
        Places(*(owned(part, np.int64) for part in (entry_row, row_run[rows], run_case))),
        int(below.sum()),
    )


def _entries(row: Any, other: Any, compared: Any, below: Any, rows: int, dtype: Any) -> Entries:
    start = np.searchsorted(row, np.arange(rows + 1))
    return Entries(owned(start, np.int64), owned(other, np.int32), owned(compared, dtype), owned(below, dtype))


def _rows(feedback: Feedback) -> tuple[Any, Any, Any, Any, tuple[int, int]]:
    """User, case, class (best first) and item of every row, sorted in this order; and how many users and items."""
    sizes = len(feedback.users), len(feedback.items)
    if isinstance(feedback, Preferences):
        heads = np.flatnonzero(~repeats(feedback.user, feedback.better))
        star = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(feedback))))
        columns: tuple[Any, ...] = (
            np.append(feedback.user[heads], feedback.user),
            np.append(np.arange(len(heads)), star),
            np.append(np.zeros(len(heads), dtype=np.int64), np.ones(len(star), dtype=np.int64)),
            np.append(feedback.better[heads], feedback.worse),
        )
    else:
        cases = feedback.graded() if isinstance(feedback, Interactions) else feedback
        if isinstance(feedback, Interactions) and feedback.value is None:
            raise DataError("feedback without values gives no preferences; give ratings, sessions or preferences.")
        columns = cases.user[cases.case], cases.case, -cases.grade.astype(np.float64), cases.item
    order = np.lexsort(columns[::-1])
    user, case, rank, item = (column[order] for column in columns)
    return user, case, rank, item, sizes
