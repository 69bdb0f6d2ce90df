"""Passes over all ratings, a batch of users at a time: what RSVD, SVD++ and OrdRec share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Codes, Floats, Lists, as_lists
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.stochastic.passes import Part, UserPass, Work, largest_batch, offsets
from fullrank.models.training.state import Parameters

PULL = 1.0  # how far a batch may move the most popular item, of what is missing
ALIKE = 2.0  # users in a batch times the mean cosine of their histories
WORTH = 1 << 20  # multiplications in a batch that are worth another thread


NO_THRESHOLDS: Floats = np.zeros(0, dtype=np.float32)


class Parts(NamedTuple):
    """What is learned, as the kernel takes it; what a model has not has no rows or columns."""

    users: Floats  # (users, factors)
    user_bias: Floats  # (users,)
    thresholds: Floats  # (users, levels - 1)
    items: Floats  # (items, factors), or one more for their bias
    history: Floats  # (items, factors)

    @classmethod
    def of(cls, parameters: Parameters) -> Parts:
        """The arrays of these names."""
        users = parameters["users"]
        none = {"user_bias": (0,), "thresholds": (0, 0), "history": (0, users.shape[1])}
        absent = {name: np.zeros(shape, dtype=np.float32) for name, shape in none.items()}
        return cls(**(absent | parameters))


def ratings(recipe: object, train: Interactions) -> Floats:
    """The values, of data that has some."""
    if train.value is None:
        raise DataError(f"{type(recipe).__name__} needs ratings: the data has no values; give a column of them.")
    return train.value


def batch_size(train: Interactions, rate: float, scale: float, *, history: bool) -> int:
    """How many users can be taken at once where y is of this scale, so that together they do not overshoot.

    Every meeting moves an item by rate |x|^2 of what is missing, and |x|^2 grows to the scale of y. A history that
    users share is moved by each of them as far as by one alone, however small the rate. On MovieLens, held-out errors
    with such batches are within 0.1% of those with one user at a time.
    """
    popularity, sizes = np.bincount(train.item, minlength=train.n_items), np.diff(train.starts)
    active = int(np.count_nonzero(sizes))
    most = PULL / (rate * max(scale, 1.0)) * active / max(int(popularity.max(initial=0)), 1)
    if history:
        sums = np.bincount(train.item, sizes[train.user] ** -0.5, minlength=train.n_items)
        most = min(most, ALIKE * active**2 / float(sums @ sums))  # over the mean cosine
    return max(int(min(active, most)), 1)


@dataclass(frozen=True, eq=False)
class RatingPass:
    """All ratings by user, and how users are taken in batches: the same for any number of threads."""

    rows: Lists  # where users start, item, target
    seed: int
    size: int  # users in a batch
    popularity: NDArray[np.int64]  # (items,)

    @classmethod
    def of(cls, train: Interactions, target: Array, seed: int, size: int) -> RatingPass:
        """Passes towards these targets, one for every row, in batches of so many users."""
        popularity = np.bincount(train.item, minlength=train.n_items)
        return cls(as_lists(train.starts, train.item, target), seed, size, popularity)

    def towards(self, target: Array) -> RatingPass:
        """The same towards other targets."""
        return replace(self, rows=as_lists(*self.rows[:2], target))

    def run(self, parts: Parts, number: int, rate: float, reg: float, common: Floats = NO_THRESHOLDS) -> float:
        """Pass `number` over the ratings, in place; the mean loss on the way. `common`: see `ordinal_step`."""
        sizes, room = np.diff(self.rows[0]), self._room(parts, reg)
        given = (self.rows, parts[:3], common, parts[3:], (rate, float(reg)))
        raters = np.flatnonzero(sizes).astype(np.int32)
        users = UserPass(raters, self.size, sizes, self.popularity, worth=max(WORTH // parts.items.shape[1], 1))

        def step(batch: Codes) -> tuple[Work, Work]:
            first = offsets(sizes[batch])
            move_users = room.descend(batch, first, *given, (self.seed, number))
            return move_users, room.pull(int(first[-1]), parts, rate)

        return users.run((self.seed, number), step, room.loss) / len(self.rows[1])

    def _room(self, parts: Parts, reg: float) -> Room:
        """For the largest batch there can be."""
        n = largest_batch(np.diff(self.rows[0]), self.size)
        moved = n if len(parts.history) else 0
        return Room(
            np.full(n, reg, dtype=np.float32),
            np.empty(n, dtype=np.int64),
            (np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.float32)),
            (np.empty(moved, dtype=np.float32), np.empty(moved, dtype=np.float32)),
            tuple(np.empty((self.size, rows.shape[1]), dtype=np.float32) for rows in (parts.items, parts.history)),
            np.empty(self.size),
        )  # fmt: skip


class Room(NamedTuple):
    """What a batch leaves for its items."""

    shrink: Floats  # of an entry: reg
    place: NDArray[np.int64]  # of an entry in the rows
    entries: tuple[Array, ...]  # item, slot, weight
    moves: tuple[Array, ...]  # weight and shrink of an entry in a history
    vectors: tuple[Array, ...]  # of a slot: what pulls at its items, and at its history
    loss: NDArray[np.float64]  # of a slot

    def descend(self, *given: Any) -> Work:
        """Users of slots low .. high-1 through their ratings."""
        from fullrank.kernels.sgd_ratings import descend_users

        kernel: Any = descend_users
        return lambda part: kernel(*given, *self[1:], *part[1:])

    def pull(self, n: int, parts: Parts, rate: float) -> Work:
        """The first n entries, in their order, at items low .. high-1."""
        from fullrank.kernels.ordered_add import add_to_rows

        step: Any = np.float32(rate)
        item, slot, weight, shrink = (array[:n] for array in (*self.entries, self.shrink))

        def work(part: Part) -> None:
            some = part[1:]
            add_to_rows(item, slot, weight, shrink, self.vectors[0], step, parts.items, *some)
            if len(parts.history):
                heavy, less = (array[:n] for array in self.moves)
                add_to_rows(item, slot, heavy, less, self.vectors[1], step, parts.history, *some)

        return work
