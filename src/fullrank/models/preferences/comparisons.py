"""Who is compared with what: cases of classes, by user and by item, so that pairs are never listed.

Items of different classes of one case are pairs. A rating history is one case, a session is one; a list of preferences
is a case of two classes for every item somebody prefers: that item, and all it is preferred to.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from fullrank.arrays import Array, frozen, repeats
from fullrank.data.canonical import in_order_of, sort_rows
from fullrank.data.feedback import Feedback, as_graded
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError

Coded: TypeAlias = tuple[Array, int]  # codes, and how many there are


class Entries(NamedTuple):
    """What each row (a user, or an item) has: the other side, with how many it is compared, how many are below it."""

    start: Array
    other: Array
    compared: Array  # w
    below: Array  # e


class Nest(NamedTuple):
    """Users have cases, cases runs (classes, best first), runs rows, and a row is an entry of its user."""

    user_case: Array
    case_run: Array
    run_row: Array
    row_entry: Array


class Places(NamedTuple):
    """Where an entry of an item stands: its rows, their runs, and the cases of these."""

    entry_row: Array
    row_run: Array
    run_case: Array


class Comparisons(NamedTuple):
    """All comparisons."""

    by_user: Entries
    nest: Nest
    by_item: Entries
    places: Places
    pairs: int


def comparisons(feedback: Feedback, dtype: DTypeLike = np.float32) -> Comparisons:
    """The comparisons in ratings, sessions or preferences.

    >>> all_of = comparisons(Interactions.of(["u"] * 4, "abcd", [5, 3, 3, 1]))
    >>> all_of.pairs, all_of.by_user.compared, all_of.by_user.below
    (5, array([3., 2., 2., 3.], dtype=float32), array([3., 1., 1., 0.], dtype=float32))
    """
    user, case, rank, item = _rows(feedback)
    case_row, run_row = _bounds(case), _bounds(case, rank)
    case_run = np.searchsorted(run_row, case_row)
    run_case = np.repeat(np.arange(len(case_row) - 1), np.diff(case_run))
    user_case = np.searchsorted(user[case_row[:-1]], np.arange(len(feedback.users) + 1))
    size = np.diff(run_row)
    compared, below = np.diff(case_row)[run_case] - size, case_row[run_case + 1] - run_row[1:]
    del case, rank  # as long as the data, like all that is let go here
    runs = np.repeat(np.arange(len(size), dtype=np.int32), size), compared, below
    users, items = (user, len(feedback.users)), (item, len(feedback.items))
    by_user, order, entry_row = _entries(users, items, runs, dtype)
    row_entry = np.empty(len(item), dtype=np.int64)
    row_entry[order] = np.repeat(np.arange(len(entry_row) - 1), np.diff(entry_row))
    del order, entry_row
    by_item, order, entry_row = _entries(items, users, runs, dtype)
    return Comparisons(
        by_user,
        Nest(*map(frozen, (user_case, case_run, run_row, row_entry))),
        by_item,
        Places(*map(frozen, (entry_row, runs[0][order].astype(np.int64), run_case))),
        int(below @ size),
    )


def _bounds(*columns: Array) -> Array:
    """Where other codes begin in sorted columns, and the end."""
    return np.flatnonzero(np.append(~repeats(*columns), True))


def _entries(
    rows: Coded, others: Coded, runs: tuple[Array, Array, Array], dtype: DTypeLike
) -> tuple[Entries, Array, Array]:
    """The entries of one side, the order of rows in which they stand together, and where each begins in it."""
    order, (row, other) = sort_rows(rows, others)
    bounds = _bounds(row, other)
    start = np.searchsorted(row[bounds[:-1]], np.arange(rows[1] + 1, dtype=row.dtype))
    run = runs[0][order]
    counts = (frozen(np.add.reduceat(of_run[run], bounds[:-1]).astype(dtype)) for of_run in runs[1:])
    return Entries(frozen(start), frozen(other[bounds[:-1]]), *counts), order, bounds


def _rows(feedback: Feedback) -> tuple[Array, Array, Array, Array]:
    """User, case, class (best first) and item of every row, sorted in this order; cases are numbered by user."""
    owner, case, rank, item = _stars(feedback) if isinstance(feedback, Preferences) else _histories(feedback)
    order, (case, level) = sort_rows((case, len(owner)), rank)  # the items of a class are in their order already
    return owner[case], case, level, in_order_of(item, order)


def _stars(likes: Preferences) -> tuple[Array, Array, Coded, Array]:
    """The user of every case; the case, class and item of every row."""
    heads = np.flatnonzero(~repeats(likes.user, likes.better))
    star = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(likes))))
    rank = np.repeat([0, 1], [len(heads), len(star)])
    case, item = np.append(np.arange(len(heads)), star), np.append(likes.better[heads], likes.worse)
    return likes.user[heads], case, (rank, 2), item


def _histories(feedback: Interactions | Graded) -> tuple[Array, Array, Coded, Array]:
    """The same of ratings and sessions."""
    if isinstance(feedback, Interactions) and feedback.value is None:
        raise DataError("feedback without values gives no preferences; give ratings, sessions or preferences.")
    cases = as_graded(feedback)
    by_user, place = np.argsort(cases.user, kind="stable"), np.empty(len(cases), dtype=np.int32)
    place[by_user] = np.arange(len(cases))
    grades = np.unique(cases.grade)
    rank = len(grades) - 1 - np.searchsorted(grades, cases.grade).astype(np.int32)
    return cases.user[by_user], np.repeat(place, np.diff(cases.start)), (rank, len(grades)), cases.item
