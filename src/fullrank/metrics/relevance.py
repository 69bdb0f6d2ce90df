"""Measures of where relevant items stand, each the exact expectation over random tie order.

R: relevant held-out items of a case; N: its candidates; positions count from 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Doubles
from fullrank.errors import DataError
from fullrank.metrics.elementary import exp2
from fullrank.metrics.metric import CutOff, metric
from fullrank.metrics.positions import (
    Weights,
    as_length,
    discounts,
    expected_hits,
    expected_sum,
    first_of_several,
    harmonics,
    per_case,
    spans,
)
from fullrank.ranks import Ranks


@metric("auc", cut="", linear=True)
def auc(ranks: Ranks, k: CutOff) -> Doubles:
    """Share of (relevant, irrelevant) pairs in the right order, ties one half; .5 without irrelevant candidates.

        1/|R| sum_i (pool - above_i - tied_i/2) / pool

    Nearly unbiased to missing data: relevant items that were not observed count as irrelevant, so that from |O| of
    |P| relevant items E[AUC] - 1/2 = (N - |P|)/(N - |O|) (AUC of all - 1/2). ATOP has no such error.
    """
    beaten = ranks.pool * ranks.sizes - ranks.per_case(ranks.above + ranks.tied / 2)
    return np.where(ranks.pool > 0, beaten / np.maximum(ranks.pool * ranks.sizes, 1), 0.5)


@metric("recall", unbiased=True)
def recall(ranks: Ranks, k: CutOff) -> Doubles:
    """Share of the relevant items among the first k: hits / |R|. In [0, 1]; 1 without k."""
    return expected_hits(ranks, k) / ranks.sizes


@metric("capped_recall")
def capped_recall(ranks: Ranks, k: CutOff) -> Doubles:
    """Hits among the first k, of those possible: hits / min(k, |R|). In [0, 1]."""
    share: Doubles = expected_hits(ranks, k) / _possible(ranks, k)
    return share


@metric("precision")
def precision(ranks: Ranks, k: CutOff) -> Doubles:
    """Share of the first k that is relevant: hits / k, also where there are fewer than k candidates.

    Without k the whole list is meant: |R| / N. In [0, 1].
    """
    return expected_hits(ranks, k) / (ranks.candidates if k is None else _number(k))


@metric("hit_rate")
def hit_rate(ranks: Ranks, k: CutOff) -> Doubles:
    """Probability that at least one of the first k is relevant. In [0, 1]."""
    first = _first_rows(ranks)
    start, relevant, size = ranks.all_above[first], ranks.tied_relevant[first], ranks.tie_size[first]
    slots = size if k is None else np.clip(as_length(int(k)) - start, 0, size)
    missed = np.ones(len(ranks))
    for j in range(int(relevant.max(initial=0))):  # C(size - relevant, slots) / C(size, slots)
        factor = np.maximum(size - slots - j, 0) / np.maximum(size - j, 1)
        missed *= np.where(j < relevant, factor, 1.0)
    return 1.0 - missed


@metric("rr")
def rr(ranks: Ranks, k: CutOff) -> Doubles:
    """1 / position of the best relevant item, 0 where it is below k. In [0, 1].

    In a tie group of m with r relevant, the first of them is at place j with probability
    C(m-j, r-1) / C(m, r).
    """
    first = _first_rows(ranks)
    low, relevant, size = ranks.all_above[first], ranks.tied_relevant[first], ranks.tie_size[first]
    high = low + size if k is None else np.minimum(low + size, as_length(int(k)))
    total = np.zeros(len(ranks))
    alone = np.flatnonzero((relevant == 1) & (low < high))
    total[alone] = harmonics.expected(low[alone], high[alone], size[alone])
    several = np.flatnonzero((relevant > 1) & (low < high))
    total[several] = first_of_several(low[several], high[several], size[several], relevant[several])
    return total


@metric("ap")
def ap(ranks: Ranks, k: CutOff) -> Doubles:
    """Mean over relevant items of the precision at their positions, 0 for those below k: / min(|R|, k).

    An item in a tie group of m with r relevant, after s items of which c are relevant, adds in expectation

        1/m sum_{j=1..m} (c + 1 + (j-1)(r-1)/(m-1)) / (s + j)
    """
    row, low, high, size = spans(ranks, k)
    inverse = harmonics.expected(low, high, size)  # 1/m sum of 1/(s+j)
    precision = (ranks.relevant_above[row] + 1) * inverse
    relevant = ranks.tied_relevant[row]
    tied = np.flatnonzero(relevant > 1)
    if len(tied):
        low, high, size = low[tied], high[tied], size[tied]
        shared = (high - low) / size - (low + 1) * inverse[tied]  # 1/m sum of (j-1)/(s+j)
        precision[tied] += (relevant[tied] - 1) / (size - 1) * shared
    mean: Doubles = per_case(ranks, row, precision) / _possible(ranks, k)
    return mean


@metric("ndcg")
def ndcg(ranks: Ranks, k: CutOff) -> Doubles:
    """DCG / ideal DCG, DCG = sum of 1/log2(position + 1) over relevant items among the first k.

    The ideal has min(|R|, k) of them on top. In [0, 1].
    """
    possible = _possible(ranks, k)
    share: Doubles = expected_sum(ranks, discounts, k) / discounts.over(np.zeros_like(possible), possible)
    return share


@metric("graded_ndcg")
def graded_ndcg(ranks: Ranks, k: CutOff) -> Doubles:
    """DCG / ideal DCG with gains 2^grade - 1 and discount log2(position + 1), to position k. In [0, 1].

    Irrelevant candidates gain nothing; 0 where no relevant item gains anything.
    """
    if ranks.grade is None:
        raise DataError(
            "graded_ndcg needs grades, and these ranks have none; rank held-out data with values, or use ndcg."
        )
    if (ranks.grade < 0).any():
        raise DataError(f"graded_ndcg: grade {float(ranks.grade.min())} is negative; shift the grades to 0 and above.")
    gain = exp2(ranks.grade) - 1
    row, low, high, size = spans(ranks, k)
    dcg = per_case(ranks, row, gain[row] * discounts.expected(low, high, size))
    order = np.lexsort((-gain, ranks.case))
    place = np.arange(len(order)) - ranks.start[ranks.case]  # in the ideal order, from 0
    discount = np.where(place < (np.inf if k is None else k), discounts.at(place + 1), 0.0)
    ideal = ranks.per_case(gain[order] * discount)
    return np.divide(dcg, ideal, out=np.zeros(len(ranks)), where=ideal > 0)


@metric("adg", unbiased=True, cut="")
def adg(ranks: Ranks, k: CutOff) -> Doubles:
    """Average discounted gain (Lim et al. 2015): mean over relevant items of 1/log2(position + 1). In (0, 1]."""
    return expected_sum(ranks, discounts) / ranks.sizes


@metric("topk", unbiased=True, cut="share or length")
def topk(ranks: Ranks, k: CutOff) -> Doubles:
    """TOPK (Steck 2010): share of relevant items at positions up to 1 + k (N-1), for k a share in [0, 1] (a float).

    k=0.0: nothing scores higher. An integer k is a list length k', the share (k'-1)/(N-1). In [0, 1].
    """
    return expected_hits(ranks, list_lengths(ranks, k)) / ranks.sizes


def topk_curve(
    ranks: Ranks, shares: ArrayLike | None = None, weight: ArrayLike | None = None
) -> tuple[Doubles, Doubles]:
    """The whole TOPK curve (Steck 2010): shares k, by default 1001 from 0 to 1, and the mean TOPK at each.

    The mean is weighted: uniform over cases, or as given; `ranks.sizes` gives that of Steck 2010, over pairs. The area
    under the curve is ATOP.

    >>> topk_curve(Ranks(start=[0, 1, 2], above=[0, 5], tied=[0, 0], pool=[10, 10]), [0, 0.4, 0.5])
    (array([0. , 0.4, 0.5]), array([0.5, 0.5, 1. ]))
    """
    at = np.linspace(0, 1, 1001) if shares is None else np.asarray(shares, dtype=np.float64)
    each = ranks.weight if weight is None else np.asarray(weight, dtype=np.float64)
    values = [np.average((topk @ share)(ranks), weights=each) for share in at.tolist()]
    return at, np.array(values)


@metric("atop", unbiased=True, cut="share or length", linear=True)
def atop(ranks: Ranks, k: CutOff) -> Doubles:
    """ATOP (Steck 2010): mean over relevant items of Nrank, the share of the other N-1 items that score lower.

    It is the area under TOPK. With k (a share, or a list length) the area up to k, divided by its width:
    mean of max(0, 1 - x/k), x = 1 - Nrank. In [0, 1]. Without k, sampled candidates give an unbiased estimate.
    """
    if k is None:
        last: Doubles = (mean_rank.function(ranks, None) - 1) / np.maximum(ranks.full + ranks.sizes - 1, 1)
        return 1.0 - last
    others = np.maximum(ranks.candidates - 1, 1)
    width = np.full(len(ranks), _number(k) - 1) if isinstance(k, int) else k * others  # in positions
    return np.where(width > 0, _area(ranks, np.where(width > 0, width, 1.0)), topk.function(ranks, 1))


def _area(ranks: Ranks, width: Doubles) -> Doubles:
    """Mean over relevant items of max(0, 1 - (position - 1) / width), width in positions."""
    row, low, high, size = spans(ranks, np.floor(width + 1 + 1e-9))
    inside = high - low
    # sum over positions p = low+1 .. high of 1 - (p-1)/width
    total = inside - (low + high - 1) * inside / 2 / width[ranks.case[row]]
    return per_case(ranks, row, total / size) / ranks.sizes


@metric("mean_rank", unbiased=True, cut="", best=1.0, worst=np.inf, linear=True)
def mean_rank(ranks: Ranks, k: CutOff) -> Doubles:
    """Mean position of the relevant items: 1 is best, lower is better; sampled candidates give an unbiased estimate."""
    return ranks.per_case(ranks.full_positions()) / ranks.sizes


@metric("mean_percentile", unbiased=True, cut="", best=0.0, worst=1.0, linear=True)
def mean_percentile(ranks: Ranks, k: CutOff) -> Doubles:
    """Mean over relevant items of (position - 1) / (N - 1) = 1 - ATOP: lower is better, sampled without bias."""
    return 1.0 - atop.function(ranks, None)


@metric("r_score", cut="half-life")
def r_score(ranks: Ranks, k: CutOff) -> Doubles:
    """R-score (Breese et al.): utility halves every k - 1 positions (k=5 unless given), over the best possible.

    sum over relevant items of 2^(-(position-1)/(k-1)), divided by the same for positions 1..|R|
    """
    half_life = 5.0 if k is None else _number(k)
    if half_life == 1:
        return expected_hits(ranks, 1)

    worth = Weights(lambda position: exp2((1 - position) / (half_life - 1)))
    return expected_sum(ranks, worth) / worth.over(np.zeros_like(ranks.sizes), ranks.sizes)


def _possible(ranks: Ranks, k: CutOff) -> Any:
    return ranks.sizes if k is None else np.minimum(ranks.sizes, as_length(int(k)))


def _number(k: float) -> float:
    """A cut-off to divide by: floats end at 1e308, where nothing is left of what is divided."""
    return float(min(k, 10**300))


def list_lengths(ranks: Ranks, k: CutOff) -> Any:
    """List lengths: an integer as it is, a share k as 1 + k (N-1) per case."""
    if k is None or isinstance(k, int):
        return k if k is None else as_length(k)
    return np.floor(1 + k * (ranks.candidates - 1) + 1e-9).astype(np.int64)


def _first_rows(ranks: Ranks) -> NDArray[np.intp]:
    """A row of the best tie group of every case."""
    rows = np.flatnonzero(ranks.relevant_above == 0)
    return rows if len(rows) == len(ranks) else rows[np.unique(ranks.case[rows], return_index=True)[1]]
