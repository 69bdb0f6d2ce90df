"""Denser data: the most popular items and the most active users, or a core where everyone has enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Bools
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.split.parts import usable
from fullrank.errors import DataError, check, check_integer


def densify(data: Interactions, *, items: int | None = None, users: int | None = None) -> Interactions:
    """The items with the most rows, then of what is left the users with the most rows (Lim et al. 2015).

    Of equally many rows the earlier id is kept. The catalogue shrinks to what is kept; on a side with a
    limit nobody without rows is kept, on a side without one everybody. The intake counts what was dropped.

    >>> data = Interactions.of([1, 1, 2, 2, 3], ["a", "b", "a", "c", "c"])
    >>> dense = densify(data, items=2, users=2)
    >>> dense, dense.users, dense.items
    (Interactions(3 rows, 2 users, 2 items), Ids(2: 1, 2), Ids(2: 'a', 'c'))
    """
    _check_interactions(data)
    check("items", items, items is not None or users is not None, "given if 'users' is not")
    rows = np.ones(len(data), dtype=bool)
    keep_items, keep_users = np.ones(data.n_items, dtype=bool), np.ones(data.n_users, dtype=bool)
    dropped = {}
    if items is not None:
        check_integer("items", items, 1)
        keep_items = _most(np.bincount(data.item, minlength=data.n_items), items)
        rows = keep_items[data.item]
        dropped[f"item not among the {items:,} with the most rows"] = len(data) - int(rows.sum())
    if users is not None:
        check_integer("users", users, 1)
        keep_users = _most(np.bincount(data.user[rows], minlength=data.n_users), users)
        before = int(rows.sum())
        rows &= keep_users[data.user]
        dropped[f"user not among the {users:,} with the most rows"] = before - int(rows.sum())
    return _reduce(data, rows, keep_users, keep_items, dropped)


def core(data: Interactions, *, per_user: int = 1, per_item: int = 1) -> Interactions:
    """The largest part where every user has at least `per_user` rows and every item `per_item` ("10-core").

    >>> core(Interactions.of([1, 1, 2, 2, 3], ["a", "b", "a", "b", "b"]), per_user=2, per_item=2)
    Interactions(4 rows, 2 users, 2 items)
    """
    _check_interactions(data)
    check_integer("per_user", per_user, 1)
    check_integer("per_item", per_item, 1)
    rows, left = np.ones(len(data), dtype=bool), -1
    while left != (left := int(rows.sum())):
        keep_users = np.bincount(data.user[rows], minlength=data.n_users) >= per_user
        keep_items = np.bincount(data.item[rows], minlength=data.n_items) >= per_item
        rows = keep_users[data.user] & keep_items[data.item]
    if not left:
        raise DataError(f"nothing has {per_user} rows per user and {per_item} per item; choose smaller numbers.")
    reason = f"outside the core of {per_user} rows per user, {per_item} per item"
    return _reduce(data, rows, keep_users, keep_items, {reason: len(data) - left})


def _check_interactions(data: Interactions) -> None:
    check("data", data, isinstance(data, Interactions), "Interactions")
    usable(data)


def _most(counts: NDArray[np.int64], n: int) -> Bools:
    """The n largest counts, of equal ones the earlier; zero never."""
    keep = np.zeros(len(counts), dtype=bool)
    keep[np.argsort(-counts, kind="stable")[:n]] = True
    return keep & (counts > 0)


def _reduce(data: Interactions, rows: Bools, users: Bools, items: Bools, dropped: dict[str, int]) -> Interactions:
    intake = data.intake if data.intake.kept == len(data) else Intake(len(data))
    counts = dict(intake.dropped)
    for reason, n in dropped.items():
        if n:
            counts[reason] = counts.get(reason, 0) + n
    note = f"kept {int(users.sum()):,} of {len(users):,} users, {int(items.sum()):,} of {len(items):,} items"
    part = data.where(rows)
    return replace(
        part,
        user=(np.cumsum(users) - 1)[part.user],
        item=(np.cumsum(items) - 1)[part.item],
        users=Ids(data.users.names[users]),
        items=Ids(data.items.names[items]),
        intake=replace(intake, dropped=counts).noting(note),
    )
