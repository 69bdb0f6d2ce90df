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
from fullrank.evaluation.statistics import bootstrap, holm, together

REPEATS = 2000
LEVEL = 0.05


def all_pairs(results: Mapping[str, Result], seed: int = 0, progress: Count = silent) -> tuple[PairResult, ...]:
    """Every pair of models by every metric: difference, interval, p-value, and that adjusted for all pairs (Holm)."""
    if len({result.protocol for result in results.values()}) > 1:
        raise DataError("models were ranked on different cases or candidates; rank them on the same.")
    if len(results) < 2:
        return ()
    first = next(iter(results.values()))
    progress(0, len(first.names))
    means, weight = people(np.stack([result.values for result in results.values()], axis=2), first)
    samples = bootstrap(means.reshape(len(means), -1), np.repeat(weight, len(results), axis=1), REPEATS, seed)
    samples = samples.reshape(REPEATS, len(first.names), len(results))
    pairs: list[PairResult] = []
    for column, name in enumerate(first.names):
        some = weight[:, column] > 0
        if some.any():
            pairs += _pairs(name, list(results), means[some, column], weight[some, column], samples[:, column], seed)
        progress(column + 1, len(first.names))
    return tuple(pairs)


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
    """The pairs of one metric, from means (people, models) and means of people drawn again (repeats, models)."""
    pairs = list(combinations(range(len(models)), 2))
    one, two = np.array(pairs).T
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
    return [replace(pair, note=_note(pair)) for pair in results]


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
