"""A scipy sparse matrix, users x items, as interactions."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.arrays import CODE, checked_codes
from fullrank.data import interactions
from fullrank.data.canonical import Duplicates, checked_values
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, Meaning
from fullrank.data.reading.fields import Limits
from fullrank.errors import DataError
from fullrank.runtime.memory import check_fits

MOST = int(np.iinfo(CODE).max)  # users or items
NAME = 24  # bytes a user or an item takes: its name, its place, and what they are checked with
REMEDY = "number only the rows and columns that have entries (numpy.unique with return_inverse=True)"


def is_sparse(source: Any) -> bool:
    """Whether this is a matrix or an array of scipy.sparse."""
    return type(source).__module__.startswith("scipy.sparse")


def from_sparse(
    matrix: Any, duplicates: Duplicates, limits: Limits, users: Ids | None, items: Ids | None, kind: Meaning | None
) -> Interactions:
    """A users x items matrix; stored zeros are no feedback, repeated entries add up unless told otherwise.

    `users` and `items` are the names of its rows and columns; 0, 1, ... without them. `kind`: what its values are.
    """
    _check_shape(matrix.shape)
    n_users, n_items = matrix.shape
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # compiled loops trust the indices
        entries = matrix.tocoo()
    except ValueError as error:
        raise DataError(f"the sparse matrix is inconsistent ({error}); rebuild it.") from error
    user, item, value = entries.row, entries.col, entries.data
    stored = value != 0  # NaN is kept, to be refused by the check
    intake = Intake(len(value), dropped={"explicit zero": int((~stored).sum())} if not stored.all() else {})
    values = checked_values(value[stored])
    wrong = (values < np.float32(limits.least)) | (values > np.float32(limits.most))
    if wrong.any():
        raise DataError(f"the sparse matrix: value {float(values[wrong][0]):g} {limits.rule}.")
    columns = {
        "user": checked_codes(user[stored], n_users, "user"),
        "item": checked_codes(item[stored], n_items, "item"),
        "value": values,
    }
    return interactions.canonical(
        columns, _names(users, n_users, "user"), _names(items, n_items, "item"), duplicates, intake, kind
    )


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse what is no users x items, or has more of them than codes or memory can hold."""
    if len(shape) != 2:
        raise DataError(f"the sparse array has shape {shape}; expected two dimensions, users x items.")
    if max(shape) > MOST:
        raise DataError(f"the sparse matrix has shape {shape}, and {MOST:,} users or items are the most; {REMEDY}.")
    check_fits(sum(shape) * NAME, f"the users and items of a sparse matrix of shape {shape}", REMEDY)


def _names(ids: Ids | None, n: int, what: str) -> Ids:
    if ids is not None and len(ids) != n:
        raise DataError(f"the sparse matrix has {n:,} {what}s, and {len(ids):,} names of {what}s are given.")
    return Ids.numbered(n) if ids is None else ids
