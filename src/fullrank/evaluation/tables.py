"""Tables of scores, by any system at all, made to be ranked like our own models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, repeats
from fullrank.data.canonical import sort_rows
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.reading.fields import Field
from fullrank.data.reading.table import read_table
from fullrank.errors import DataError, check, shown
from fullrank.evaluation.adapters import Adapted, note_unknown
from fullrank.evaluation.scoring import ByRows
from fullrank.models.kinds.linear import Room


def from_table(table: Any, data: Interactions, *, columns: Mapping[str, str] | None = None) -> Adapted:
    """A table of user, item (by name) and score: any data frame, or a dict of columns.

    What counts is the order, kept exactly: the scores that are ranked are a user's own, numbered from 1 for
    the lowest (`top` shows these). Pairs not in the table are 0: tied with each other, below all that are in it.
    Rows of users or items that are not in `data` are left out and counted. `columns` says which column is
    what: {"user": "uid", "score": "estimate"}.

    >>> data = Interactions.of(user=["ann", "bob"], item=["jam", "tea"], items=Ids(["jam", "oil", "tea"]))
    >>> model = from_table({"user": ["ann", "ann", "eve"], "item": ["tea", "oil", "oil"], "score": [-3, 0.5, 1]}, data)
    >>> model.scores([0, 1])
    array([[0., 2., 1.],
           [0., 0., 0.]], dtype=float32)
    >>> model.notes
    ('1 rows of the table are left out: 1 users and 0 items are not in the data',)
    """
    rows = _read_scores(table, columns)
    _refuse(~np.isfinite(rows.score), "has a score that is NaN or infinite; correct or remove it", rows)
    known, unknown = _keep_known(rows, data)
    _refuse(repeats(known.user, known.item), "is in the table twice; keep one row of each pair", known)
    levels = _order_scores(known)
    note = "{rows:,} rows of the table are left out: {users:,} users and {items:,} items are not in the data"
    return Adapted("table", levels.shape, ByRows(partial(_fill_rows, levels)), unknown, note_unknown(note, unknown))


class _Rows(NamedTuple):
    """Rows of a table: codes, the ids they are codes of, and scores."""

    user: Codes
    item: Codes
    score: NDArray[Any]
    users: Ids
    items: Ids


def _read_scores(table: Any, columns: Mapping[str, str] | None) -> _Rows:
    """The three columns of a table, with ids of its own; scores of any type, NaN where there is none."""
    import polars as pl

    from fullrank.data.reading.series import polars_series
    from fullrank.data.reading.typed import narwhals_frame

    named: dict[str, Any] = {"user": None, "item": None, "score": "score", **(columns or {})}
    check("columns", columns, len(named) == 3, "a mapping from user, item and score to columns")
    check("table", table, not isinstance(table, str | os.PathLike), "a data frame or a dict of columns")
    frame = table if isinstance(table, Mapping) else narwhals_frame(table)
    there, name = list(frame if isinstance(frame, Mapping) else frame.columns), named["score"]
    if name not in there:
        raise DataError(f"the table has no column {shown(name)} but {there}; tell it by columns={{'score': ...}}.")
    ids = read_table(frame, [Field(role, "id", named[role]) for role in ("user", "item")])
    column, rows = polars_series(frame[name], name), len(ids.columns["user"])
    if len(column) != rows or not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise DataError(f"column {shown(name)} has {len(column)} rows of {column.dtype}; expected {rows} numbers.")
    score = column.to_numpy()
    score = score.astype(np.float64) if score.dtype == object else score  # decimals
    return _Rows(ids.columns["user"], ids.columns["item"], score, ids.ids["user"], ids.ids["item"])


def _keep_known(rows: _Rows, data: Interactions) -> tuple[_Rows, dict[str, int]]:
    """The rows of users and items in the data, by its codes and sorted; and how many are not."""
    users, items = data.users.codes(rows.users.names, missing=-1), data.items.codes(rows.items.names, missing=-1)
    user, item = users[rows.user], items[rows.item]
    kept = (user >= 0) & (item >= 0)
    if not kept.any():
        theirs, ours = f"{rows.users}, {rows.items}", f"{data.users}, {data.items}"
        raise DataError(f"no row of the table has a user and an item of the data; it has {theirs}, the data {ours}.")
    order, (user, item) = sort_rows((user[kept], data.n_users), (item[kept], data.n_items))
    unknown = {"users": int((users < 0).sum()), "items": int((items < 0).sum()), "rows": int((~kept).sum())}
    return _Rows(user, item, rows.score[kept][order], data.users, data.items), unknown


def _refuse(wrong: NDArray[np.bool_], why: str, rows: _Rows) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        user, item = rows.users.name(int(rows.user[row])), rows.items.name(int(rows.item[row]))
        raise DataError(f"user {shown(user)}, item {shown(item)} {why}.")


def _order_scores(rows: _Rows) -> Any:
    """Users x items, sparse: the place of each score among the user's distinct ones, from 1 for the lowest."""
    from scipy.sparse import csr_array

    order = np.lexsort((rows.score, rows.user))
    user, score = rows.user[order], rows.score[order]
    place = np.cumsum(~repeats(user, score))
    starts = np.searchsorted(user, np.arange(len(rows.users) + 1))
    level = np.empty(len(order), dtype=np.float32)
    level[order] = place - place[starts[user]] + 1
    return csr_array((level, rows.item, starts), shape=(len(rows.users), len(rows.items)))


def _fill_rows(rows: Any, some: Codes, room: Room) -> NDArray[Any]:
    return np.asarray(rows[some].toarray(out=room(np.float32)))
