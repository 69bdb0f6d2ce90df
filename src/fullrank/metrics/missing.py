"""Where relevant items are missing from the held-out data: what nDCG makes of it, and weights against it.

P: relevant items of a case; O: those observed, i with probability p_i. Metrics unbiased to missing data are
means over relevant items of some w_i of the item's own position (and so is AUC, nearly); if p_i differs in P, it
needs the weight 1/p_i.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank.arrays import Doubles
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError, check, is_integer, is_number
from fullrank.metrics.elementary import exp2, log2
from fullrank.metrics.metric import CutOff, Metric
from fullrank.metrics.positions import as_length, discounts
from fullrank.ranks import Ranks


def ndcg_factor(observed: ArrayLike, relevant: ArrayLike, k: int | None = None) -> Doubles:
    """What nDCG is multiplied by, in expectation, when |O| of |P| relevant items are observed at random.

    Lim et al. 2015:

        E[nDCG_obs] = factor * nDCG_complete,   factor = |O| IDCG(|P|) / (|P| IDCG(|O|))
        IDCG(n) = sum_{j=0..n-1} 1 / log2(j+2),   for nDCG@k of the first min(n, k)

    >>> ndcg_factor([1, 5, 10], 10).round(4)
    array([0.4544, 0.7705, 1.    ])
    """
    seen, there = np.asarray(observed), np.asarray(relevant)
    for name, given, counts in (("observed", observed, seen), ("relevant", relevant, there)):
        check(name, given, counts.dtype.kind in "iu" and bool((counts >= 1).all()), "integers >= 1")
    check("observed", observed, bool((seen <= there).all()), "at most as many as are relevant")
    check("k", k, k is None or (is_integer(k) and k >= 1), "an integer >= 1, or None")
    factor: Doubles = seen * _ideal(there, k) / (there * _ideal(seen, k))
    return factor


def _ideal(count: Any, k: int | None) -> Doubles:
    """The DCG of that many relevant items on top."""
    shown = count if k is None else np.minimum(count, as_length(k))
    return discounts.over(np.zeros_like(shown), shown)


def popularity(train: Interactions, power: float = 0.5) -> Doubles:
    """Propensities by item, estimated from popularity (as in Yang et al. 2018): p_i = ((n_i + 1) / (max n + 1))^power.

    n_i: rows of item i in train. How strongly observation follows popularity the data do not tell:
    `power` is a choice, 0 for not at all. The 1 added keeps the weight of unseen items finite.

    >>> popularity(Interactions.of(user=[1, 2, 3, 1], item=["a", "a", "a", "b"]))
    array([1.        , 0.70710678])
    """
    check("power", power, is_number(power) and bool(0 <= power <= 4), "a number from 0 to 4")
    counts = train.popularity
    return exp2(float(power) * log2((counts + 1) / (counts.max(initial=0) + 1)))


@dataclass(frozen=True)
class Weighted:
    """1/n sum_i w_i / p_i over the observed relevant items of a case; `snips` and `ips` say what n is."""

    metric: Metric
    how: str
    propensity: bytes = field(repr=False)  # float64; as bytes, so that metrics of equal numbers are equal
    relevant: bytes | None = field(default=None, repr=False)

    def __call__(self, ranks: Ranks, k: CutOff = None) -> Doubles:
        """The value of every case."""
        inverse = 1 / _look_up("propensity", self.propensity, "item", ranks.item)
        return ranks.per_case(inverse * _measure_each(self.metric, ranks)) / self._n(ranks, inverse)

    def _n(self, ranks: Ranks, inverse: Doubles) -> Doubles:
        if self.how == "snips":
            return ranks.per_case(inverse)
        if self.relevant is None:
            return np.asarray(ranks.sizes * (inverse.sum() / max(len(inverse), 1)))
        n = _look_up("relevant", self.relevant, "user", ranks.user)
        few = ranks.user[n < ranks.sizes]
        if len(few):
            raise DataError(f"user {few[0]} has more held-out items than 'relevant' says; count unobserved ones too.")
        return n


def snips(metric: Metric, propensity: ArrayLike) -> Metric:
    """The metric with items weighted by inverse propensity, self-normalised: sum_i w_i/p_i / sum_i 1/p_i.

    `propensity`, by item code, matters up to a factor only. The bias is of the order 1/|O|; a case with one
    observed item keeps its value. The flag `unbiased` is off, as all rests on the propensities.

    >>> from fullrank.metrics import recall
    >>> ranks = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8], item=[0, 1])   # - R - - R - - - - -
    >>> str(snips(recall @ 2, [0.9, 0.3])), snips(recall @ 2, [0.9, 0.3])(ranks)
    ('recall@2, snips', array([0.25]))
    """
    return _weigh(metric, "snips", propensity, None)


def ips(metric: Metric, propensity: ArrayLike, relevant: ArrayLike | None = None) -> Metric:
    """The metric with items weighted by inverse propensity: 1/n sum_i w_i/p_i, n = |P|.

    With the right probabilities in `propensity` (by item code) and n in `relevant` (by user code) it is
    unbiased, if users of whom nothing was observed, who are no case, count as 0. It may exceed 1. Without
    `relevant`, n = |O| mean(1/p) over the observed items of all cases, and propensities matter up to a factor
    only; take weights="by_relevant" then: the mean is sum w/p / sum 1/p over pairs, a uniform one is biased.
    """
    return _weigh(metric, "ips", propensity, relevant)


def _weigh(metric: Metric, how: str, propensity: ArrayLike, relevant: ArrayLike | None) -> Metric:
    _check_additive(metric, metric.unbiased or metric.name == "auc")
    n = None if relevant is None else _column("relevant", relevant, "user", 0)
    function = Weighted(metric, how, _column("propensity", propensity, "item", 1e-100), n)
    linear = metric.survives_sampling
    return Metric(f"{metric}, {how}", function, None, False, "", metric.best, metric.worst, whole=True, linear=linear)


def _check_additive(metric: Metric, holds: bool) -> None:
    if not holds:
        use = "recall, topk, atop, adg, auc, mean_rank or mean_percentile"
        raise ParameterError(f"{metric} is not a mean over relevant items, each by its own position; use {use}.")


def _measure_each(metric: Metric, ranks: Ranks) -> Doubles:
    """w_i: the metric of every row, as if it alone were relevant."""
    if metric.survives_sampling and metric.name != "auc" and not ranks.whole.all():
        return _on_a_line(metric, ranks)
    above, tied, others = ranks.above, ranks.tied, 0 * ranks.sizes
    if metric.name != "auc":  # which leaves the other relevant items out; elsewhere they are candidates
        above, tied, others = ranks.all_above, ranks.tie_size - 1, ranks.sizes - 1
    pool, full = ((count + others)[ranks.case] for count in (ranks.pool, ranks.full))
    alone: dict[str, Any] = {"above": above, "tied": tied, "pool": pool, "full": full, "user": None, "weight": None}
    each = metric(replace(ranks, start=np.arange(len(above) + 1), relevant_above=0 * above, **alone))
    _check_additive(metric, np.allclose(ranks.per_case(each) / ranks.sizes, metric(ranks), rtol=1e-9, atol=1e-9))
    return each


def _on_a_line(metric: Metric, ranks: Ranks) -> Doubles:
    """The same of a metric that is linear in the position, which is estimated: from its values at the first two."""
    others = (ranks.full + ranks.sizes - 1)[ranks.case]
    start, none = np.arange(len(others) + 1), 0 * others
    one, two = (metric(Ranks(start, above, none, others)) for above in (none, np.minimum(1, others)))
    return one + (ranks.full_positions() - 1) * (two - one)


def _column(name: str, values: ArrayLike, of: str, least: float) -> bytes:
    """Numbers by code, checked; sums of them and of their inverses are finite."""
    given = np.asarray(values)
    check(name, values, given.ndim == 1 and given.dtype.kind in "fiu", f"one number per {of}")
    array = given.astype(np.float64)
    for code in np.flatnonzero(~((array >= least) & (array <= 1e100))):
        must_be = f"{'positive' if least else '>= 0'} and finite"
        raise ParameterError(f"The '{name}' of {of} {code} must be {must_be}. Got {array[code]} instead.")
    return array.tobytes()


def _look_up(name: str, given: bytes, of: str, codes: Any) -> Doubles:
    """The numbers of these codes."""
    values = np.frombuffer(given)
    if codes is None:
        raise DataError(f"'{name}' is by {of}, which these ranks do not say; use those of rank(...), or give {of}=.")
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(values):
        raise DataError(f"'{name}' has {len(values)} numbers, but there is {of} {codes.max()}; give one per {of}.")
    return np.asarray(values[codes])
