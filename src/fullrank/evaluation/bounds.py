"""What a list that ends leaves open: the worst and the best case over all orders of what it does not say.

A relevant item that is in no list may stand anywhere behind its case's list. Ranks of lists have it last, which is the
worst case of every measure; right behind the list is the best case. At a cut-off within the lists nothing is open:
whoever got fewer items got fewer. Unless items were taken out of a list, then what would have come up is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fullrank.arrays import Bools
from fullrank.metrics.metric import Metric
from fullrank.metrics.relevance import list_lengths
from fullrank.ranks import Ranks


def ends_within(metric: Metric, ranks: Ranks) -> bool:
    """Whether a metric looks no further than the longest list."""
    if metric.k is None or metric.cut not in ("length", "share or length"):
        return False
    return int(np.max(list_lengths(ranks, metric.k))) <= ranks.about.longest


def best_case(ranks: Ranks) -> Ranks:
    """The same lists, and right behind them what is in none of them, the highest grades first.

    >>> ranks = Ranks(start=[0, 2], above=[1, 8], tied=[0, 0], pool=[8], unlisted=[False, True], listed=[3])
    >>> best_case(ranks).above
    array([1, 3])
    """
    case, unlisted = ranks.case, ranks.unlisted
    many = ranks.per_case(unlisted).astype(np.int64)
    first = (ranks.sizes - many)[case]  # relevant items that are listed
    turned = 2 * first + many[case] - 1 - ranks.relevant_above
    return replace(
        ranks,
        above=np.where(unlisted, ranks.listed[case], ranks.above),
        relevant_above=np.where(unlisted, turned, ranks.relevant_above),
    )


def as_shown(ranks: Ranks) -> Ranks:
    """The same where nobody has fewer candidates than the longest list has places: empty places hit nothing."""
    short = ranks.pool < ranks.about.longest
    if not short.any():
        return ranks
    pool = np.maximum(ranks.pool, ranks.about.longest)
    return replace(ranks, pool=pool, full=pool, above=np.where(ranks.unlisted, pool[ranks.case], ranks.above))


def open_cases(ranks: Ranks, metrics: Sequence[Metric]) -> Bools:
    """(cases, metrics): where the order of what is not listed matters."""
    some = ranks.per_case(ranks.unlisted) > 0
    return np.column_stack([some & ranks.shortened if ends_within(m, ranks) else some for m in metrics])
