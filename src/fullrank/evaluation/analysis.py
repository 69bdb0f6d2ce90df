"""What sampling does to comparisons: expected curves, rank histograms, consistency (S1 sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as _replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fullrank.errors import DataError, check, check_integer
from fullrank.evaluation.corrections import Slots, by_items, corrected, lookup
from fullrank.evaluation.methods import BiasVariance, Method
from fullrank.evaluation.sampling import BLOCK, at, count_distribution, expected
from fullrank.metrics.metric import Metric
from fullrank.ranks import Floats, Ints, Ranks


def characteristic(
    metric: Metric,
    n: int,
    m: int,
    ranks: ArrayLike | None = None,
    *,
    method: Method | None = None,
    replace: bool = False,
) -> Floats:
    """E[sampled metric | exact rank], corrected if a method is given, at ranks 1..n or those given (S1 Fig. 3, 4).

    Where it differs from the metric itself, sampling measures something else.
    """
    sampled = metric if method is None else corrected(metric, method, full=n - 1, replace=replace)
    return expected(sampled, m, n, ranks, replace)


def expected_values(
    metric: Metric, ranks: Ranks, m: int, *, method: Method | None = None, replace: bool = False
) -> Floats:
    """The expected value of every case, were m of its irrelevant candidates sampled: corrected if a method is given.

    Expectations add up over relevant items and tie orders, so this is exact for several of them, too. Cases with
    no more than m candidates are ranked among all of them (without replacement).
    """
    method = method.resolved(len(ranks)) if isinstance(method, BiasVariance) else method
    drawn = _drawn(ranks, m, replace)
    whole = (drawn == ranks.pool) & (not replace) | (ranks.pool == 0)
    deepest = int(ranks.sizes.max(initial=1)) - 1
    kinds = {}
    for size in np.unique(drawn[~whole]).tolist():
        pools = ranks.pool[~whole & (drawn == size)]
        kinds[size] = lookup(metric, method, size, pools, deepest=deepest, replace=replace)

    def value(part: Slots) -> Floats:
        pool = ranks.pool[part.case]
        found = at(metric, part.above + part.before + 1, pool + 1 + deepest)
        for size, look in kinds.items():
            rows = np.flatnonzero(~whole[part.case] & (drawn[part.case] == size))
            for some in np.array_split(rows, len(rows) * (size + 1) // BLOCK + 1):
                chance = count_distribution(part.above[some], pool[some], size, replace)
                above = np.broadcast_to(np.arange(size + 1), chance.shape)
                found[some] = (chance * look(pool[some, None], part.before[some, None], above)).sum(axis=1)
        return found

    return by_items(metric, ranks, drawn if method is None else ranks.pool, value)


def against_samples(
    models: Mapping[str, Ranks],
    metric: Metric,
    samples: Sequence[int],
    *,
    method: Method | None = None,
    replace: bool = False,
) -> dict[str, Floats]:
    """The expected mean of every model by number of samples: where curves cross, so do verdicts (S1 Fig. 2, 6)."""
    return {
        name: np.array(
            [_mean(expected_values(metric, ranks, m, method=method, replace=replace), ranks) for m in samples]
        )
        for name, ranks in models.items()
    }


class Histogram(NamedTuple):
    """Relevant items by position: counts[i] of them at edges[i] .. edges[i+1]-1."""

    edges: Ints
    counts: Floats


def histogram(ranks: Ranks, edges: ArrayLike | None = None) -> Histogram:
    """How many relevant items stand where, by default in buckets from 1, 2, 5, 10, 20, 50, ... (S1 Fig. 5).

    Items in ties count in parts, as their order is random.

    >>> histogram(Ranks(start=[0, 1, 2], above=[0, 8], tied=[0, 1], pool=[30, 30]))
    Histogram(edges=array([ 1,  2,  5, 10, 20, 50]), counts=array([1. , 0. , 0.5, 0.5, 0. ]))
    """
    last = int(ranks.candidates.max(initial=1))
    if edges is None:
        round_numbers = np.array([step * 10**decade for decade in range(len(str(last)) + 1) for step in (1, 2, 5)])
        bounds = round_numbers[: int(np.searchsorted(round_numbers, last, side="right")) + 1]
    else:
        bounds = np.asarray(edges, dtype=np.int64)
        check("edges", edges, len(bounds) > 1 and bool((np.diff(bounds) > 0).all()), "two or more rising integers")
    below = [(np.clip(bound - 1 - ranks.ahead, 0, ranks.level) / ranks.level).sum() for bound in bounds]
    return Histogram(bounds, np.diff(below))


def thinned(ranks: Ranks, m: int, rng: np.random.Generator, *, replace: bool = False) -> Ranks:
    """Exact ranks as m sampled candidates per case would show them, drawn from the distribution of S1 4.3.

    Relevant items of a case share their sample: what is drawn between one and the next is drawn in turn.
    """
    groups = ranks.groups
    first = np.searchsorted(groups.case, np.arange(len(ranks) + 1))
    left = _drawn(ranks, m, replace)
    pool, rest = left.copy(), ranks.pool.copy()  # candidates not yet passed, best first
    above, tied = np.empty(len(groups.case), dtype=np.int64), np.empty(len(groups.case), dtype=np.int64)

    def draw(case: Ints, count: Ints) -> Ints:
        """How many of the next `count` candidates are in the sample."""
        if replace:
            found = rng.binomial(left[case], count / np.maximum(rest[case], 1))
        else:
            found = rng.hypergeometric(count, rest[case] - count, left[case])
        left[case] -= found
        rest[case] -= count
        return np.asarray(found)

    for turn in range(int(np.diff(first).max(initial=0))):
        case = np.flatnonzero(np.diff(first) > turn)
        group = first[case] + turn
        passed = ranks.pool[case] - rest[case]
        draw(case, groups.start[group] - groups.before[group] - passed)
        above[group] = pool[case] - left[case]
        tied[group] = draw(case, groups.others[group])
    about = _replace(ranks.about, candidates=f"{m} sampled", sampled=m)
    return _replace(ranks, above=above[groups.row], tied=tied[groups.row], pool=pool, full=ranks.pool, about=about)


@dataclass(frozen=True, eq=False)
class Consistency:
    """Means of models over repeated samplings, beside their exact ones (S1 Tables 3 and 4)."""

    models: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]  # (metric, method), "" where uncorrected
    exact: Floats  # (columns, models)
    sampled: Floats  # (repeats, columns, models)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Models two by two, in the order of `agreement`."""
        return list(combinations(self.models, 2))

    def agreement(self) -> Floats:
        """How often sampled means order each pair as exact ones do, (columns, pairs); a tie is half an agreement.

        NaN where the exact means are equal.
        """
        one, other = np.array(list(combinations(range(len(self.models)), 2))).reshape(-1, 2).T
        truth = np.sign(self.exact[:, one] - self.exact[:, other])
        found = np.sign(self.sampled[:, :, one] - self.sampled[:, :, other])
        return np.where(truth != 0, ((1 + found * truth) / 2).mean(axis=0), np.nan)

    def to_rows(self) -> list[dict[str, Any]]:
        """A row per metric and method: exact, mean and standard deviation by model, agreement by pair."""
        mean, deviation, agreement = self.sampled.mean(axis=0), self.sampled.std(axis=0), self.agreement()
        return [
            {
                "metric": metric,
                "method": method,
                "exact": dict(zip(self.models, self.exact[i].tolist(), strict=True)),
                "mean": dict(zip(self.models, mean[i].tolist(), strict=True)),
                "deviation": dict(zip(self.models, deviation[i].tolist(), strict=True)),
                "agreement": dict(zip(self.pairs, agreement[i].tolist(), strict=True)),
            }
            for i, (metric, method) in enumerate(self.columns)
        ]


def consistency(
    models: Mapping[str, Ranks],
    metrics: Sequence[Metric],
    m: int,
    *,
    methods: Sequence[Method | None] = (None,),
    repeats: int = 100,
    seed: int = 0,
    replace: bool = False,
) -> Consistency:
    """How often metrics of m sampled candidates, corrected or not, order models as the exact ones do (S1 Table 4).

    Exact ranks of the models on the same cases are thinned, each model by itself: ranks do not tell which items two
    models put above a held-out one. Items sampled for all models alike, as S1 does and `Sampled` too, make
    differences less noisy where models agree, so that real agreement is a little further from one half.
    Draws depend on (seed, repetition, model's name) only.
    """
    if len({(len(ranks), ranks.pool.tobytes(), ranks.start.tobytes()) for ranks in models.values()}) > 1:
        raise DataError("models were ranked on different cases or candidates; rank them on the same.")
    columns = [(metric, method) for metric in metrics for method in methods]
    measures = [metric if method is None else corrected(metric, method, replace=replace) for metric, method in columns]
    exact = [[_mean(metric(ranks), ranks) for ranks in models.values()] for metric, _ in columns]
    found = np.empty((repeats, len(columns), len(models)))
    for repeat in range(repeats):
        for model, (name, ranks) in enumerate(models.items()):
            rng = np.random.default_rng([seed, repeat, *name.encode()])
            sampled = thinned(ranks, m, rng, replace=replace)
            found[repeat, :, model] = [_mean(measure(sampled), ranks) for measure in measures]
    names = tuple((str(metric), "" if method is None else str(method)) for metric, method in columns)
    return Consistency(tuple(models), names, np.array(exact), found)


def _drawn(ranks: Ranks, m: int, replace: bool) -> Ints:
    """Candidates sampled in every case: m, unless it has fewer, or none to draw from."""
    check_integer("m", m, 1)
    return np.asarray(np.where(ranks.pool > 0, m, 0) if replace else np.minimum(m, ranks.pool))


def _mean(of_cases: Floats, ranks: Ranks) -> float:
    return float(np.average(of_cases, weights=ranks.weight))
