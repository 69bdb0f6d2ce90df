"""All models against each other, on the same cases, by all metrics at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isfinite

import numpy as np

from fullrank.arrays import Doubles
from fullrank.comparison.progress import Count, silent
from fullrank.comparison.results import PairResult
from fullrank.errors import DataError
from fullrank.evaluation.paired import contrasts, shortfall
from fullrank.evaluation.result import Result
from fullrank.evaluation.statistics import bootstrap, holm, percentile_interval, together

REPEATS = 2000
LEVEL = 0.05
OPEN = "the lists end too early to tell"


def all_pairs(results: Mapping[str, Result], seed: int = 0, progress: Count = silent) -> tuple[PairResult, ...]:
    """Every pair of models by every metric: difference, interval, p-value, and that adjusted for all pairs (Holm).

    Where lists end before a metric does, two models are compared in the case in which they are the most alike.
    """
    if len({result.protocol for result in results.values()}) > 1:
        raise DataError("models were ranked on different cases or candidates; rank them on the same.")
    if len(results) < 2:
        return ()
    first = next(iter(results.values()))
    progress(0, len(first.names))
    means, weight = people(_ends(list(results.values())), first)
    samples = bootstrap(means.reshape(len(means), -1), np.repeat(weight, means.shape[2], axis=1), REPEATS, seed)
    samples = samples.reshape(REPEATS, len(first.names), means.shape[2])
    pairs: list[PairResult] = []
    for column, name in enumerate(first.names):
        some = weight[:, column] > 0
        if some.any():
            pairs += _pairs(name, list(results), means[some, column], weight[some, column], samples[:, column], seed)
        progress(column + 1, len(first.names))
    return tuple(pairs)


def _ends(results: Sequence[Result]) -> Doubles:
    """The values (cases, metrics, models); where some are open, the least of all models and then the largest."""
    worst = np.stack([result.values for result in results], axis=2)
    if all(result.best is None for result in results):
        return worst
    best = np.stack([result.values if result.best is None else result.best for result in results], axis=2)
    return np.concatenate([np.minimum(worst, best), np.maximum(worst, best)], axis=2)


def people(values: Doubles, like: Result) -> tuple[Doubles, Doubles]:
    """The mean of everybody's cases, (people, metrics, models), and how much they weigh, (people, metrics).

    A case counts by a metric where all models have a value.
    """
    known = np.asarray(~np.isnan(values).any(axis=2))
    weights = like.weight[:, None] * known
    total = np.where(known[:, :, None], values, 0.0) * weights[:, :, None]
    weight, total = together(like.user, weights, total)
    return np.divide(total, weight[:, :, None], out=np.zeros_like(total), where=weight[:, :, None] > 0), weight


def _pairs(
    metric: str, models: Sequence[str], means: Doubles, weight: Doubles, samples: Doubles, seed: int
) -> list[PairResult]:
    """The pairs of one metric, from means (people, ends) and means of people drawn again (repeats, ends).

    The ends are those of `_ends`: models, or the least values of models and then their largest.
    """
    pairs = list(combinations(range(len(models)), 2))
    high = means.shape[1] - len(models)  # from the least to the largest of a model
    one, two = np.array([_nearest(left, right, high, weight @ means) for left, right in pairs]).T
    rows = contrasts(
        means[:, one] - means[:, two], weight, samples[:, one] - samples[:, two],
        level=1 - LEVEL, repeats=max(REPEATS, 40 * len(pairs)), seed=seed,
    )  # fmt: skip
    adjusted = holm({n: row.p for n, row in enumerate(rows)})
    results = [
        PairResult(
            metric, models[left], models[right], row.difference, row.low, row.high, row.p, row.won, row.lost, row.cases,
            int(row.needed) if isfinite(row.needed) else None, adjusted[n], note="",
        )
        for n, ((left, right), row) in enumerate(zip(pairs, rows, strict=True))
    ]  # fmt: skip
    either = [
        _leave_open(pair, samples, ends, high) if one[n] == two[n] else pair
        for n, (pair, ends) in enumerate(zip(results, pairs, strict=True))
    ]
    return [replace(pair, note=pair.note or _note(pair)) for pair in either]


def _leave_open(pair: PairResult, samples: Doubles, ends: tuple[int, int], high: int) -> PairResult:
    """A pair of which either may lead, by what lists do not say: from the least difference to the largest."""
    left, right = ends
    low, _ = percentile_interval(samples[:, left] - samples[:, right + high], 1 - LEVEL)
    _, most = percentile_interval(samples[:, left + high] - samples[:, right], 1 - LEVEL)
    return replace(pair, difference=(low + most) / 2, low=low, high=most, note=OPEN)


def _nearest(left: int, right: int, high: int, totals: Doubles) -> tuple[int, int]:
    """The ends of two models that are the most alike, where a difference is one in all; twice one: either may lead."""
    if totals[left] >= totals[right + high]:
        return left, right + high
    return (left + high, right) if totals[left + high] <= totals[right] else (left, left)


def _note(pair: PairResult) -> str:
    if pair.adjusted < LEVEL:
        return ""
    if pair.needed is None:
        return "no difference"
    if pair.needed > pair.cases:
        return shortfall(pair.cases, pair.needed)
    return "not certain beside all other pairs"


def apart(pairs: Sequence[PairResult], metric: str) -> set[tuple[str, str]]:
    """The pairs that differ by a metric at the 5% level, all pairs considered together."""
    return {(pair.one, pair.two) for pair in pairs if pair.metric == metric and pair.adjusted < LEVEL}
