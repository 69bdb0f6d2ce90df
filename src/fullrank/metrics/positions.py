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

from fullrank.data.canonical import frozen, row_blocks
from fullrank.metrics.elementary import log2
from fullrank.ranks import Floats, Ranks


class Spans(NamedTuple):
    """Positions low+1 .. high, of those that the tie groups of these rows fill, are not below the cut-off."""

    row: Any  # rows that reach it
    low: Any
    high: Any
    size: Any  # of the whole group


def spans(ranks: Ranks, k: Any = None) -> Spans:
    """Where relevant items may stand among the first k (one number, or one per case)."""
    if k is None:
        return Spans(slice(None), ranks.ahead, ranks.ahead + ranks.level, ranks.level)
    limit = k if np.ndim(k) == 0 else np.asarray(k)[ranks.case]
    row = np.flatnonzero(ranks.ahead < limit)
    low, size = ranks.ahead[row], ranks.level[row]
    return Spans(row, low, np.minimum(low + size, limit if np.ndim(k) == 0 else limit[row]), size)


def per_case(ranks: Ranks, row: Any, values: Any) -> Floats:
    """The sum over these rows of every case."""
    if isinstance(row, slice):
        return ranks.per_case(values)
    sums: Floats = np.bincount(ranks.case[row], weights=values, minlength=len(ranks)).astype(np.float64, copy=False)
    return sums


def expected_sum(ranks: Ranks, weights: Weights, k: Any = None) -> Floats:
    """Per case, the expected sum of position weights over its relevant items."""
    row, low, high, size = spans(ranks, k)
    return per_case(ranks, row, weights.expected(low, high, size))


def expected_hits(ranks: Ranks, k: Any) -> Floats:
    """Per case, the expected number of relevant items among the first k."""
    row, low, high, size = spans(ranks, k)
    return per_case(ranks, row, (high - low) / size)


class Weights:
    """Weights w(1), w(2), ... of positions, and their sums over spans of positions.

    Differences of prefix sums lose digits far down the list; what each sum rounded off is kept beside it.
    """

    def __init__(self, weight: Callable[[Any], Any]) -> None:
        self.weight = weight
        self._table, self._sums = lru_cache(maxsize=4)(self._filled), lru_cache(maxsize=4)(self._summed)

    def at(self, position: Any) -> Floats:
        """w(position)."""
        longest = int(np.max(position, initial=1))
        if longest > np.size(position):
            return np.asarray(self.weight(position.astype(np.float64)))
        return np.asarray(self._table(_rounded(longest))[position])

    def over(self, low: Any, high: Any) -> Floats:
        """w(low + 1) + ... + w(high)."""
        sums, rest = self._sums(_rounded(int(np.max(high, initial=1))))
        return np.asarray((sums[high] - sums[low]) + (rest[high] - rest[low]))

    def expected(self, low: Any, high: Any, size: Any) -> Floats:
        """The mean weight of an item anywhere in a group of that size, of which low+1 .. high count."""
        found = self.at(low + 1)
        tied = np.flatnonzero(size > 1)
        if len(tied):
            found[tied] = self.over(low[tied], high[tied]) / size[tied]
        return found

    def _filled(self, n: int) -> Floats:
        weights = np.zeros(n + 1)
        for part in row_blocks(n):  # without temporaries of that length
            weights[part.start + 1 : part.stop + 1] = self.weight(np.arange(part.start + 1.0, part.stop + 1.0))
        return weights

    def _summed(self, n: int) -> tuple[Floats, Floats]:
        weights = self._filled(n)
        sums = np.cumsum(weights)
        for part in row_blocks(n):
            here = slice(part.start + 1, part.stop + 1)
            weights[here] -= sums[here] - sums[part]  # both differences are exact
        return frozen(sums), frozen(np.cumsum(weights, out=weights))


def _rounded(n: int) -> int:
    """The next power of two: few tables serve all."""
    return 1 << n.bit_length()


discounts = Weights(lambda position: 1 / log2(position + 1))  # of DCG and ADG
harmonics = Weights(lambda position: 1 / position)
