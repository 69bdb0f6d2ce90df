"""The columns of the users x items matrix, beside each other: what recipes that compare items need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fullrank.arrays import Array, Doubles, Ints, Lists, frozen, lists
from fullrank.data.interactions import Interactions
from fullrank.runtime.memory import check_fits
from fullrank.runtime.threads import in_parallel, threads

PARTS = 128  # of the work, at most
STEPS = 1 << 22  # products of two entries in a part, at least
ROOM = 1 << 20  # neighbours found in one go
ROWS = 64  # dense rows computed in one go
NEIGHBOUR, ENTRY = 16, 40  # bytes at the peak: of what is found, pieces and the whole; of feedback, by user and by item


@dataclass(frozen=True, eq=False)
class Columns:
    """x_i for every item i: who took it, with 1 (`binary`) or their value."""

    by_item: Lists
    by_user: Lists
    binary: bool
    weight: Doubles  # what every user counts in the products
    length2: NDArray[np.float64]  # |x_i|^2; 1 where that is 0, so that one can divide by it

    @classmethod
    def of(cls, train: Interactions, binary: bool, user_weight: float = 0.0) -> Columns:
        """The columns of some feedback; in the products a user with n rows counts n^-user_weight."""
        by_item, by_user = lists(train.by_item()), lists(train.by_user())
        squares = None if binary else by_user[2].astype(np.float64) ** 2
        length2 = np.bincount(train.item, squares, minlength=train.n_items)
        weight = np.maximum(np.diff(by_user[0]), 1.0) ** -user_weight
        return cls(by_item, by_user, binary, frozen(weight), frozen(np.where(length2 > 0, length2, 1.0)))

    def __len__(self) -> int:
        return len(self.length2)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        """<x_i, x_j> for all pairs, users weighted, dense."""
        whole = np.empty((len(self), len(self)), dtype=dtype)

        def work(rows: slice) -> None:
            whole[rows] = self.dots(rows)

        in_parallel(work, self.rows())
        return whole

    def rows(self) -> Iterator[slice]:
        """Some rows of a dense result at a time."""
        return (slice(first, min(first + ROWS, len(self))) for first in range(0, len(self), ROWS))

    def dots(self, rows: slice) -> NDArray[np.float64]:
        """<x_i, x_j> for these i and all j, users weighted."""
        from fullrank.kernels.cooccurrence import dots_block

        out = np.empty((rows.stop - rows.start, len(self)))
        dots_block(rows.start, self.by_item, self.by_user, self.binary, self.weight, out)
        return out

    @cached_property
    def steps(self) -> Ints:
        """What every item has to go through: the items of its users."""
        return steps_of(np.diff(self.by_user[0])[self.by_item[1]], self.by_item[0])

    def parts(self) -> Iterator[tuple[int, int]]:
        """Runs of items with about as much work each; the same for any number of threads."""
        return even_runs(self.steps)

    def nearest(
        self, first: int, last: int, k: int, *, keep_self: bool, share: bool, shrink: float = 0.0
    ) -> Iterator[tuple[Array, ...]]:
        """The k nearest of items first..last-1, some items at a time: how many of each, which, cosine^2, chance."""
        from fullrank.kernels.cooccurrence import nearest_block

        given = (self.by_item, self.by_user, self.binary, self.weight, self.length2, shrink, k, keep_self, share)
        return in_pieces(lambda first, *rest: nearest_block(first, last, *given, *rest), first, last, len(self), k)


def steps_of(each: Ints, start: Ints) -> Ints:
    """The steps of every item, from those of every entry and where the items start."""
    sums = np.add.reduceat(np.append(each, 0), start[:-1])
    return np.where(np.diff(start) > 0, sums, 0)


def even_runs(steps: Ints) -> Iterator[tuple[int, int]]:
    """Runs of items with about as many steps each."""
    n, until = len(steps), np.cumsum(steps + 1)
    each = max(STEPS, 8 * n, int(until[-1]) // PARTS)
    edges = np.searchsorted(until, np.arange(each, int(until[-1]), each)) + 1
    return pairwise(np.unique(np.concatenate([[0], edges, [n]])).tolist())


def check_near(name: str, steps: Ints, entries: int, *limits: int | None) -> None:
    """Refuse to look for so many nearest of every item where they do not fit; nobody has more than steps."""
    found = sum(int(np.minimum(steps, k).sum()) for k in limits if k is not None)
    work = threads() * NEIGHBOUR * (ROOM + 4 * len(steps))
    needed, what = NEIGHBOUR * found + ENTRY * entries + work, f"about {found:,} similarities of {len(steps):,} items"
    check_fits(needed, f"{name}: {what}", "keep fewer neighbours of each item, or use a larger machine")


def in_pieces(block: Callable[..., int], first: int, last: int, n: int, k: int) -> Iterator[tuple[Array, ...]]:
    """What a kernel chooses for items first..last-1 of n, k each, as far as there is room for in one go."""
    room = n + min(ROOM, (last - first) * k)
    work = (
        np.zeros(n), np.empty(n + 1), np.empty(2 * k),
        np.zeros(n, np.uint8), np.empty(n + 1, np.int32), np.empty(n + 1, np.int32),
    )  # fmt: skip
    while first < last:
        end, which = np.zeros(last - first, np.int64), np.empty(room, np.int32)
        cosine2, part = np.empty(room), np.empty(room, np.float32)
        until = block(first, *work, end, which, cosine2, part)
        end = end[: until - first]
        yield np.diff(end, prepend=0), which[: end[-1]], cosine2[: end[-1]], part[: end[-1]]
        first = until


def joined(pieces: Iterable[Iterable[tuple[Array, ...]]], n: int) -> Any:
    """Pieces of rows, each how many entries a row has, their columns and their values, as one matrix (n, n)."""
    from scipy.sparse import csr_array

    whole = [some for several in pieces for some in several]
    sizes, which, value = (np.concatenate(column) for column in zip(*whole, strict=True))
    start = np.append(0, np.cumsum(sizes)).astype(np.int32 if len(which) < 2**31 else np.int64)
    return csr_array((value, which, start), shape=(n, n))
