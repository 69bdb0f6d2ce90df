"""What sampling does to metrics: expected curves, rank histograms, thinned ranks.

Sections and figures are those of Krichene and Rendle 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as _replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fullrank.arrays import Doubles, Ints
from fullrank.errors import check, check_integer
from fullrank.evaluation.corrections import Slots, by_items, corrected, lookup
from fullrank.evaluation.methods import BiasVariance, Method, checked_method
from fullrank.evaluation.sampling import BLOCK, at, count_distribution, expected
from fullrank.evaluation.tie_groups import tie_groups
from fullrank.metrics.metric import Metric
from fullrank.ranks import Ranks


def characteristic(
    metric: Metric,
    n: int,
    m: int,
    ranks: ArrayLike | None = None,
    *,
    method: Method | None = None,
    replace: bool = False,
) -> Doubles:
    """E[sampled metric | exact rank], corrected if a method is given, at ranks 1..n or those given (Fig. 3, 4).

    Where it differs from the metric itself, sampling measures something else.
    """
    sampled = metric if method is None else corrected(metric, method, full=n - 1, replace=replace)
    return expected(sampled, m, n, ranks, replace)


def expected_values(
    metric: Metric, ranks: Ranks, m: int, *, method: Method | None = None, replace: bool = False
) -> Doubles:
    """The expected value of every case, were m of its irrelevant candidates sampled: corrected if a method is given.

    Expectations add up over relevant items and tie orders, so this is exact for several of them, too (but for ties
    drawn with replacement: here a candidate drawn twice keeps its place among its equals). Cases with no more than m
    candidates are ranked among all of them (without replacement). Metrics that survive sampling keep their value.
    """
    drawn = _sample_sizes(ranks, m, replace)
    if method is None and metric.survives_sampling:
        return metric(ranks)
    method = None if method is None else checked_method(method)
    method = method.resolved(len(ranks)) if isinstance(method, BiasVariance) else method
    whole = (drawn == ranks.pool) & (not replace) | (ranks.pool == 0)
    deepest = int(ranks.sizes.max(initial=1)) - 1
    kinds = {}
    for size in np.unique(drawn[~whole]).tolist():
        pools = ranks.pool[~whole & (drawn == size)]
        kinds[size] = lookup(metric, method, size, pools, deepest=deepest, replace=replace)

    def value(part: Slots) -> Doubles:
        pool = ranks.pool[part.case]
        expectation = at(metric, part.above + part.relevant_above + 1, pool + 1 + deepest)
        for size, look in kinds.items():
            rows = np.flatnonzero(~whole[part.case] & (drawn[part.case] == size))
            for some in np.array_split(rows, len(rows) * (size + 1) // BLOCK + 1):
                chance = count_distribution(part.above[some], pool[some], size, replace)
                above = np.broadcast_to(np.arange(size + 1), chance.shape)
                values = look(pool[some, None], part.relevant_above[some, None], above)
                expectation[some] = (chance * values).sum(axis=1)
        return expectation

    return by_items(metric, ranks, drawn if method is None else ranks.pool, value)


def against_samples(
    models: Mapping[str, Ranks],
    metric: Metric,
    samples: Sequence[int],
    *,
    method: Method | None = None,
    replace: bool = False,
) -> dict[str, Doubles]:
    """The expected mean of every model by number of samples: where curves cross, so do verdicts (Fig. 2, 6)."""
    return {
        name: np.array(
            [mean_of(expected_values(metric, ranks, m, method=method, replace=replace), ranks) for m in samples]
        )
        for name, ranks in models.items()
    }


class Histogram(NamedTuple):
    """Relevant items by position: counts[i] of them at edges[i] .. edges[i+1]-1."""

    edges: Ints
    counts: Doubles


def histogram(ranks: Ranks, edges: ArrayLike | None = None) -> Histogram:
    """How many relevant items stand where, by default in buckets from 1, 2, 5, 10, 20, 50, ... (Fig. 5).

    The last bucket then ends with the last candidate there is. Items in ties count in parts, as their order is random.

    >>> histogram(Ranks(start=[0, 1, 2], above=[0, 8], tied=[0, 1], pool=[30, 30]))
    Histogram(edges=array([ 1,  2,  5, 10, 20, 32]), counts=array([1. , 0. , 0.5, 0.5, 0. ]))
    """
    if edges is None:
        last = int(ranks.candidates.max(initial=1))
        firsts = [step * 10**decade for decade in range(len(str(last))) for step in (1, 2, 5)]
        bounds = np.array([1, *(first for first in firsts[1:] if first < last), last + 1])
    else:
        bounds = np.asarray(edges, dtype=np.int64)
        check("edges", edges, len(bounds) > 1 and bool((np.diff(bounds) > 0).all()), "two or more rising integers")
    below = [(np.clip(bound - 1 - ranks.all_above, 0, ranks.tie_size) / ranks.tie_size).sum() for bound in bounds]
    return Histogram(bounds, np.diff(below))


def thinned(ranks: Ranks, m: int, rng: np.random.Generator, *, replace: bool = False) -> Ranks:
    """Exact ranks as m sampled candidates per case would show them, drawn from the distribution of section 4.3.

    Relevant items of a case share their sample: what is drawn between one and the next is drawn in turn.
    """
    groups = tie_groups(ranks)
    first = np.searchsorted(groups.case, np.arange(len(ranks) + 1))
    left = _sample_sizes(ranks, m, replace)
    pool, rest = left.copy(), ranks.pool.copy()  # candidates not yet passed, best first
    above, tied = np.empty(len(groups.case), dtype=np.int64), np.empty(len(groups.case), dtype=np.int64)

    def draw(case: Ints, count: Ints) -> Ints:
        """How many of the next `count` candidates are in the sample."""
        if replace:
            drawn = rng.binomial(left[case], count / np.maximum(rest[case], 1))
        else:
            drawn = rng.hypergeometric(count, rest[case] - count, left[case])
        left[case] -= drawn
        rest[case] -= count
        return np.asarray(drawn)

    for turn in range(int(np.diff(first).max(initial=0))):
        case = np.flatnonzero(np.diff(first) > turn)
        group = first[case] + turn
        passed = ranks.pool[case] - rest[case]
        draw(case, groups.start[group] - groups.relevant_above[group] - passed)
        above[group] = pool[case] - left[case]
        tied[group] = draw(case, groups.others[group])
    about = _replace(ranks.about, sampled=m, replace=replace)
    if replace or (pool < ranks.pool).any():
        about = _replace(about, candidates=f"{m} sampled")
    return _replace(ranks, above=above[groups.row], tied=tied[groups.row], pool=pool, full=ranks.pool, about=about)


def _sample_sizes(ranks: Ranks, m: int, replace: bool) -> Ints:
    """Candidates sampled in every case: m, unless it has fewer, or none to draw from."""
    check_integer("m", m, 1)
    return np.asarray(np.where(ranks.pool > 0, m, 0) if replace else np.minimum(m, ranks.pool))


def mean_of(of_cases: Doubles, ranks: Ranks) -> float:
    """The mean over cases, by their weights."""
    return float(np.average(of_cases, weights=ranks.weight))
