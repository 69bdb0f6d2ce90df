"""Histories in the order of time, and what follows what in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fullrank.arrays import Array, Codes, Doubles, Ints, frozen
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.item_sequences import fading, places
from fullrank.models.neighbours.cooccurrence import in_pieces, steps_of

Rows: TypeAlias = tuple[Ints, Codes, Array]

NEGLIGIBLE = 2.0**-24  # of what a pair side by side counts: less than a float32 tells


@dataclass(frozen=True, eq=False)
class Sequences:
    """Everybody's items in the order of time; items of one moment share the mean of their places."""

    by_user: Rows  # where each starts, items, places in halves
    by_item: Rows  # where each starts, users, where they stand in `by_user`

    @classmethod
    def of(cls, train: Interactions, moment: Codes) -> Sequences:
        """Of some feedback, and the moment of each of its rows."""
        place = places(train.user, moment, train.n_users)
        order = np.lexsort((train.item, -place, train.user))  # counted back: the last has 0
        at = np.empty(len(order), dtype=np.int64)
        at[order] = np.arange(len(order))
        rows = np.argsort(train.item, kind="stable")
        start = np.concatenate([[0], np.cumsum(train.popularity)])
        return cls(
            (_own(train.starts, np.int64), _own(train.item[order], np.int32), _own(-place[order], np.int32)),
            (_own(start, np.int64), _own(train.user[rows], np.int32), _own(at[rows], np.int64)),
        )

    def __len__(self) -> int:
        return len(self.by_item[0]) - 1

    @property
    def counts(self) -> Doubles:
        """How many people took every item; 1 where nobody did, so that one can divide by it."""
        return _own(np.maximum(np.diff(self.by_item[0]), 1), np.float64)

    def fade(self, nearness: float) -> Doubles:
        """What a pair counts by how many halves of a place it is apart: 1 side by side, (1 - nearness)^(d - 1) at d."""
        longest = int(np.ptp(self.by_user[2])) if len(self.by_user[2]) else 0
        table = np.concatenate([np.ones(2), fading(longest, nearness)])[: longest + 1]
        return frozen(table[table >= NEGLIGIBLE])

    def steps(self, fade: Doubles) -> Ints:
        """What every item has to go through: what stands near it."""
        sizes = np.minimum(np.diff(self.by_user[0]), len(fade))
        return steps_of(sizes[self.by_item[1]], self.by_item[0])

    def followers(
        self, first: int, last: int, k: int, *, fade: Doubles, backward: float, shrink: float
    ) -> Iterator[tuple[Array, ...]]:
        """The k that follow each of items first..last-1 most, as `Columns.nearest` has them."""
        from fullrank.kernels.sequences import followers_block

        given = (self.by_item, self.by_user, fade, backward, self.counts, shrink, k)
        return in_pieces(lambda first, *rest: followers_block(first, last, *given, *rest), first, last, len(self), k)


def _own(array: Array, dtype: type) -> Array:
    return frozen(np.ascontiguousarray(array, dtype=dtype).view())
