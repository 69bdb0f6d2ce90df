"""Passes over all users, in batches: steps are taken against frozen items, in parallel, and added in a fixed order.

For models in which a user's step touches many items, so that no blocks of users and items are apart. The users of a
batch see the same items; then their items move, each in the order of the users. The result is the same for any number
of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from fullrank.arrays import Codes, Doubles, Ints
from fullrank.runtime.threads import team, threads

Part: TypeAlias = tuple[int, int, int]  # which thread, and its slots or items low .. high-1
Work: TypeAlias = Callable[[Part], None]


@dataclass(frozen=True, eq=False)
class UserPass:
    """Who takes part, how many at a time, and how the work of a batch is shared among threads."""

    users: Codes  # in any order
    size: int  # users in a batch
    rows: Ints  # of every user: how many rows a step goes through
    popularity: Ints  # of every item: about how often it is moved
    worth: int  # rows in a batch that are worth another thread

    def run(self, stream: tuple[int, int], step: Callable[[Codes], tuple[Work, Work]], loss: Doubles) -> float:
        """All users once, in the order of this stream (seed, number); the sum of `loss` over the slots of all batches.

        `step(batch)` gives what moves the users in slots low .. high-1, and what moves the items low .. high-1 then.
        """
        total = 0.0
        with team() as turn:
            for batch in user_batches(self.users, self.size, *stream):
                rows = self.rows[batch]
                hands = min(threads(), 1 + int(rows.sum()) // self.worth)
                act = turn if hands > 1 else in_place
                move_users, move_items = step(batch)
                act(move_users, even_parts(rows, hands))
                act(move_items, self._items(hands))
                total += float(loss[: len(batch)].sum())
        return total

    def _items(self, hands: int) -> list[Part]:
        if hands not in self._ranges:
            self._ranges[hands] = even_parts(self.popularity, hands)
        return self._ranges[hands]

    @cached_property
    def _ranges(self) -> dict[int, list[Part]]:
        return {}


def largest_batch(sizes: Ints, size: int) -> int:
    """The most that a batch of so many users can have."""
    return int(np.sort(sizes)[-size:].sum())


def offsets(sizes: Ints) -> Ints:
    """Where everybody's rows begin in a batch, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)])


def user_batches(users: Codes, size: int, seed: int, number: int) -> Iterator[Codes]:
    """These users in an order drawn for epoch `number`, `size` at a time."""
    order = np.random.default_rng([seed, 2, number]).permutation(users)
    for first in range(0, len(order), size):
        yield order[first : first + size]


def even_parts(counts: Ints, parts: int) -> list[Part]:
    """Runs of slots or items with about as many rows each, one for every thread."""
    total = np.cumsum(counts + 1)
    inner = np.searchsorted(total, total[-1] * np.arange(1, parts) / parts)
    edges = [0, *inner.tolist(), len(counts)]
    return [(number, low, high) for number, (low, high) in enumerate(pairwise(edges)) if low < high]


def in_place(work: Work, parts: Iterable[Part]) -> None:
    """All of it by the thread that asks."""
    for part in parts:
        work(part)
