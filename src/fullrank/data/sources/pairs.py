"""Holding out the pairs that a published list names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError


def hold_out(
    data: Interactions, user: NDArray[Any], item: NDArray[Any], *, how: str, listed: Path
) -> Split[Interactions]:
    """The data split at the (user, item) pairs of these names, every one of which must be in it."""
    rows = _rows(data, data.users.codes(user, missing=-1), data.items.codes(item, missing=-1))
    if (rows < 0).any():
        at = int((rows < 0).argmax())
        raise DataError(
            f"{listed}: {int((rows < 0).sum()):,} pairs have no rating, the first is user {user[at]}, item {item[at]}; "
            "are all files of the same data set?"
        )
    held = np.zeros(len(data), dtype=bool)
    held[rows] = True
    return Split(train=data.where(~held), held_out=data.where(held), how=how)


def _rows(data: Interactions, user: Codes, item: Codes) -> NDArray[np.int64]:
    """The row of each pair, -1 where there is none; rows are sorted by user and item."""
    keys = data.user.astype(np.int64) * data.n_items + data.item
    pairs = user.astype(np.int64) * data.n_items + item
    rows = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
    return np.where((keys[rows] == pairs) & (user >= 0) & (item >= 0), rows, -1)
