"""Sums of position weights in expectation over random tie order, and the tables they need.

A tie group fills positions s+1 .. s+m, and each of its r relevant items is at each of them with
probability 1/m. A sum of weights w over relevant items is then

    sum over groups of  r/m (W(s+m) - W(s)),      W(p) = w(1) + ... + w(p)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fullrank.data.canonical import frozen, row_blocks
from fullrank.ranks import Floats, Groups, Ranks


def per_case(ranks: Ranks, group_values: Any) -> Floats:
    """The sum over the tie groups of every case."""
    if len(ranks.groups.case) == len(ranks):
        return np.asarray(group_values, dtype=np.float64)
    sums: Floats = np.bincount(ranks.groups.case, weights=group_values, minlength=len(ranks)).astype(np.float64)
    return sums


def cut_off(ranks: Ranks, k: Any) -> Any:
    """The list length of every group's case: one for all, or one per case."""
    return k if k is None or np.ndim(k) == 0 else np.asarray(k)[ranks.groups.case]


def spans(groups: Groups, k: Any) -> tuple[Any, Any, Any]:
    """First position before a tie group, last position in it, both within the cut-off; and its size."""
    size = groups.relevant + groups.others
    if k is None:
        return groups.start, groups.start + size, size
    return np.minimum(groups.start, k), np.minimum(groups.start + size, k), size


def expected_sum(ranks: Ranks, prefix: Callable[[int], Floats], k: Any = None) -> Floats:
    """Per case, the expected sum of position weights over its relevant items; `prefix(n)` is W(0..n) at least."""
    groups = ranks.groups
    low, high, size = spans(groups, cut_off(ranks, k))
    sums = prefix(int(high.max(initial=0)))
    return per_case(ranks, groups.relevant * (sums[high] - sums[low]) / size)


def expected_hits(ranks: Ranks, k: Any) -> Floats:
    """Per case, the expected number of relevant items among the first k."""
    groups = ranks.groups
    low, high, size = spans(groups, cut_off(ranks, k))
    return per_case(ranks, groups.relevant * (high - low) / size)


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
