"""Sums of position weights in expectation over random tie order, and the tables they need.

A relevant item in a tie group that fills positions s+1 .. s+m is at each of them with probability 1/m. A sum
of weights w over relevant items is then in expectation

    sum over items of  (W(s+m) - W(s)) / m,      W(p) = w(1) + ... + w(p)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fullrank.arrays import Doubles, Ints, frozen, row_blocks
from fullrank.metrics.elementary import log2
from fullrank.ranks import Ranks

LONGEST = 1 << 62  # positions count in int64
CELLS = 1 << 20  # terms at a time


class Spans(NamedTuple):
    """Positions low+1 .. high, of those that the tie groups of these rows fill, are not below the cut-off."""

    row: Any  # rows that reach it
    low: Any
    high: Any
    size: Any  # of the whole group


def as_length(k: int) -> int:
    """A list length that arrays can hold: beyond 2^62 it is that of the whole list, whatever it is.

    >>> as_length(10), as_length(10**30) == 2**62
    (10, True)
    """
    return min(k, LONGEST)


def spans(ranks: Ranks, k: Any = None) -> Spans:
    """Where relevant items may stand among the first k (one number, or one per case)."""
    if k is None:
        return Spans(slice(None), ranks.all_above, ranks.all_above + ranks.tie_size, ranks.tie_size)
    limit: Any = as_length(k) if np.ndim(k) == 0 else np.asarray(k)[ranks.case]
    row = np.flatnonzero(ranks.all_above < limit)
    low, size = ranks.all_above[row], ranks.tie_size[row]
    return Spans(row, low, np.minimum(low + size, limit if np.ndim(k) == 0 else limit[row]), size)


def per_case(ranks: Ranks, row: Any, values: Any) -> Doubles:
    """The sum over these rows of every case."""
    if isinstance(row, slice):
        return ranks.per_case(values)
    sums: Doubles = np.bincount(ranks.case[row], weights=values, minlength=len(ranks)).astype(np.float64, copy=False)
    return sums


def expected_sum(ranks: Ranks, weights: Weights, k: Any = None) -> Doubles:
    """Per case, the expected sum of position weights over its relevant items."""
    row, low, high, size = spans(ranks, k)
    return per_case(ranks, row, weights.expected(low, high, size))


def expected_hits(ranks: Ranks, k: Any) -> Doubles:
    """Per case, the expected number of relevant items among the first k."""
    row, low, high, size = spans(ranks, k)
    return per_case(ranks, row, (high - low) / size)


def first_of_several(low: Ints, high: Ints, size: Ints, relevant: Ints) -> Doubles:
    """Expected 1/position of the first of r relevant items in a group of m after `low` others; 0 below `high`.

        sum_j p(j) / (low + j),     p(1) = r/m,     p(j+1) = p(j) (m-j-r+1) / (m-j)

    Two or more each: p falls at least as (1 - (r-1)/(m-1))^j, so that some 60 (m-1)/(r-1) places are all that float64
    can see. Terms are added one after the other, some at a time of as many groups as still have any; alike groups once.
    """
    groups, back = np.unique(np.column_stack([low, high, size, relevant]), axis=0, return_inverse=True)
    low, high, size, relevant = groups.T
    last = np.minimum(np.minimum(high - low, size - relevant + 1), 1 + 60 * (size - 1) // (relevant - 1))
    chance = relevant / size
    total = chance / (low + 1)
    done, left = 1, np.flatnonzero(last > 1)
    while len(left):
        width = min(max(CELLS // len(left), 1), int(last[left].max()) - done)
        place = np.arange(done, done + width)  # of the one before
        m, r, start = size[left, None], relevant[left, None], low[left, None]
        steps = np.maximum(m - place - r + 1, 0) / np.maximum(m - place, 1)
        chances = np.cumprod(np.column_stack([chance[left], steps]), axis=1)
        terms = np.where(place < last[left, None], chances[:, 1:] / (start + place + 1), 0.0)
        chance[left], total[left] = chances[:, -1], np.cumsum(np.column_stack([total[left], terms]), axis=1)[:, -1]
        done += width
        left = left[last[left] > done]
    return np.asarray(total[back.reshape(-1)])


class Weights:
    """Weights w(1), w(2), ... of positions, and their sums over spans of positions.

    Differences of prefix sums lose digits far down the list; what each sum rounded off is kept beside it.
    """

    def __init__(self, weight: Callable[[Any], Any]) -> None:
        self.weight = weight
        self._table, self._sums = lru_cache(maxsize=4)(self._fill), lru_cache(maxsize=4)(self._sum)

    def at(self, position: Any) -> Doubles:
        """w(position)."""
        longest = int(np.max(position, initial=1))
        if longest > np.size(position):
            return np.asarray(self.weight(position.astype(np.float64)))
        return np.asarray(self._table(_round_up(longest))[position])

    def over(self, low: Any, high: Any) -> Doubles:
        """w(low + 1) + ... + w(high)."""
        sums, rest = self._sums(_round_up(int(np.max(high, initial=1))))
        return np.asarray((sums[high] - sums[low]) + (rest[high] - rest[low]))

    def expected(self, low: Any, high: Any, size: Any) -> Doubles:
        """The mean weight of an item anywhere in a group of that size, of which low+1 .. high count."""
        mean = self.at(low + 1)
        tied = np.flatnonzero(size > 1)
        if len(tied):
            mean[tied] = self.over(low[tied], high[tied]) / size[tied]
        return mean

    def _fill(self, n: int) -> Doubles:
        weights = np.zeros(n + 1)
        for part in row_blocks(n):  # without temporaries of that length
            weights[part.start + 1 : part.stop + 1] = self.weight(np.arange(part.start + 1.0, part.stop + 1.0))
        return weights

    def _sum(self, n: int) -> tuple[Doubles, Doubles]:
        weights = self._fill(n)
        sums = np.cumsum(weights)
        for part in row_blocks(n):
            here = slice(part.start + 1, part.stop + 1)
            weights[here] -= sums[here] - sums[part]  # both differences are exact
        return frozen(sums), frozen(np.cumsum(weights, out=weights))


def _round_up(n: int) -> int:
    """The next power of two: few tables serve all."""
    return 1 << n.bit_length()


discounts = Weights(lambda position: 1 / log2(position + 1))  # of DCG and ADG
harmonics = Weights(lambda position: 1 / position)
