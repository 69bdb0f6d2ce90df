"""Strong generalisation: users the model was not trained on."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.data.split.hash_keys import (
    ROWS,
    TIES,
    USERS,
    Counts,
    Order,
    check_fraction,
    hash_keys,
    hash_keys_of,
    last_of_users,
    rows_per_user,
    share,
    shuffled,
    shuffled_by_user,
    timed_by_user,
    times_of,
)
from fullrank.data.split.parts import HELD_OUT, VISIBLE, AnyData, Data, Split, cut, many, unit, usable
from fullrank.errors import check, check_integer


def held_out_users(
    data: Data,
    fraction: float | None = None,
    *,
    n: int | None = None,
    visible: float | int = 0.8,
    order: Literal["random", "time"] = "random",
    seed: int = 0,
) -> Split[Data]:
    """Some users are kept from training; of each a part of the history is visible, the rest held out.

    A `fraction` of the users, or `n` of them, is drawn at random among those with rows enough. `visible` is a
    share of each one's rows (rounded, at least one row visible and one held out: two rows are enough), or a
    number of rows (0: nothing is known of them). The visible rows are drawn at random, or with
    `order="time"` are the earliest, equal times shuffled.

    >>> from fullrank.data.interactions import Interactions
    >>> data = Interactions.of([1, 1, 1, 2, 2, 2, 3], [1, 2, 3, 1, 2, 3, 1])
    >>> split = held_out_users(data, n=1, visible=2)
    >>> split, set(split.visible.user) == set(split.held_out.user)
    (Split(4 train, 2 visible, 1 held_out), True)
    """
    usable(data)
    check("n", n, (n is None) != (fraction is None), "given, or else 'fraction', but not both")
    check("order", order, order in ("random", "time"), "'random' or 'time'")
    counts = rows_per_user(data)
    shown, least, part = _count_visible(counts, visible, unit(data))
    eligible = np.flatnonzero(counts >= least)
    drawn = np.zeros(len(counts), dtype=bool)
    drawn[eligible[shuffled(hash_keys(seed, USERS, eligible))][: _number(fraction, n, eligible, least)]] = True
    hidden = np.where(drawn, counts - shown, 0)
    label = (drawn[data.user] * VISIBLE).astype(np.int8)
    label[last_of_users(_history(data, order, seed), np.cumsum(counts), hidden)] = HELD_OUT
    enough = f"users with at least {many(least, unit(data))}"
    clauses = [
        f"{int(drawn.sum()):,} of the {len(eligible):,} {enough}, drawn with seed {seed}, are kept from training",
        f"{part}, {'at random' if order == 'random' else 'the earliest'}, can be seen and the rest is held out "
        f"({int(hidden.sum()):,} of {many(len(data), unit(data))})",
    ]
    split = cut(data, label, clauses, f"there are {len(eligible):,} {enough}: choose another number of users")
    return split if split.visible is not None else replace(split, visible=data.where(label == VISIBLE))


def _count_visible(counts: Counts, visible: float | int, rows: str) -> tuple[Counts, int, str]:
    """How many rows of each user are visible, how many rows a user needs, and the former in words."""
    if isinstance(visible, int | np.integer):
        check_integer("visible", visible, 0)
        return np.full(len(counts), visible), int(visible) + 1, f"{many(int(visible), rows)} of each"
    check_fraction("visible", visible)
    shown = np.clip(share(visible, counts), 1, np.maximum(counts - 1, 1))
    return shown, 2, f"{visible:.4g} of each one's {rows}"


def _history(data: AnyData, order: str, seed: int) -> Order:
    """Rows by user, those to be visible first."""
    if order == "time":
        time = times_of(data, "order='time'")
        return timed_by_user(data.user, len(data.users), time, hash_keys_of(data, seed, TIES))
    return shuffled_by_user(data.user, len(data.users), hash_keys_of(data, seed, ROWS))


def _number(fraction: float | None, n: int | None, eligible: NDArray[np.intp], least: int) -> int:
    """How many users are drawn."""
    if n is None:
        check_fraction("fraction", fraction)
        return int(share(fraction or 0, len(eligible)))
    check_integer("n", n, 1)
    check("n", n, n <= len(eligible), f"at most {len(eligible)}, the number of users with at least {least} rows")
    return n
