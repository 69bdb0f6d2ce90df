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


def expected_sum(ranks: Ranks, prefix: Callable[[int], Floats], k: Any = None) -> Floats:
    """Per case, the expected sum of position weights over its relevant items; `prefix(n)` is W(0..n) at least."""
    row, low, high, size = spans(ranks, k)
    sums = prefix(int(high.max(initial=0)))
    return per_case(ranks, row, (sums[high] - sums[low]) / size)


def expected_hits(ranks: Ranks, k: Any) -> Floats:
    """Per case, the expected number of relevant items among the first k."""
    row, low, high, size = spans(ranks, k)
    return per_case(ranks, row, (high - low) / size)


def _table(weight: Callable[[Any], Any]) -> Callable[[int], Floats]:
    @lru_cache(maxsize=4)
    def sums(n: int) -> Floats:
        table = np.zeros(n + 1)
        for part in row_blocks(n):  # without temporaries of that length
            table[part.start + 1 : part.stop + 1] = weight(np.arange(part.start + 1.0, part.stop + 1.0))
        return frozen(np.cumsum(table, out=table))

    return lambda n: sums(1 << max(n, 1).bit_length())  # the next power of two: few tables serve all


discounts = _table(lambda position: 1 / np.log2(position + 1))  # of DCG and ADG
harmonics = _table(lambda position: 1 / position)
