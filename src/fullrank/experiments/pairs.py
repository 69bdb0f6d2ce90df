"""All models against each other, on the same cases, by all metrics at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from fullrank.errors import DataError
from fullrank.evaluation.result import Result
from fullrank.evaluation.statistics import (
    POWER,
    Floats,
    Sliced,
    bootstrap,
    holm,
    percentile_interval,
    permutations,
    together,
)

REPEATS = 2000
LEVEL = 0.05


def all_pairs(results: Mapping[str, Result], seed: int = 0) -> list[dict[str, Any]]:
    """Every pair of models by every metric: difference, interval, p-value, and that adjusted for all pairs (Holm)."""
    if len({result.protocol for result in results.values()}) > 1:
        raise DataError("models were ranked on different cases or candidates; rank them on the same.")
    if len(results) < 2:
        return []
    first = next(iter(results.values()))
    means, weight = people(np.stack([result.values for result in results.values()], axis=2), first)
    samples = bootstrap(means.reshape(len(means), -1), np.repeat(weight, len(results), axis=1), REPEATS, seed)
    samples = samples.reshape(REPEATS, len(first.names), len(results))
    found: list[dict[str, Any]] = []
    for column, name in enumerate(first.names):
        some = weight[:, column] > 0
        rows = _of_metric(means[some, column], weight[some, column], samples[:, column], list(results), seed)
        found += _adjusted([{"metric": name, **row} for row in rows])
    return found


def people(values: Floats, like: Result) -> tuple[Floats, Floats]:
    """The mean of everybody's cases, (people, metrics, models), and how much they weigh, (people, metrics).

    A case counts by a metric where all models have a value.
    """
    known = np.asarray(~np.isnan(values).any(axis=2))
    weights = like.weight[:, None] * known
    total = np.where(known[:, :, None], values, 0.0) * weights[:, :, None]
    weight, total = together(like.user, weights, total)
    return np.divide(total, weight[:, :, None], out=np.zeros_like(total), where=weight[:, :, None] > 0), weight


def _of_metric(means: Floats, weight: Floats, samples: Floats, models: list[str], seed: int) -> list[dict[str, Any]]:
    """The pairs of one metric, from the means (people, models) and means of people drawn again (repeats, models)."""
    if not len(means):
        return []
    pairs = list(combinations(range(len(models)), 2))
    one, two = np.array(pairs).T
    difference = means[:, one] - means[:, two]
    mean = Sliced(difference * weight[:, None], len(means)).summed(np.ones((1, len(means))))[0] / weight.sum()
    p = permutations(difference * weight[:, None], max(REPEATS, 40 * len(pairs)), seed)
    spread = difference.std(axis=0, ddof=1) if len(difference) > 1 else np.zeros(len(pairs))
    rows = []
    for n, (left, right) in enumerate(pairs):
        low, high = percentile_interval(samples[:, left] - samples[:, right], 1 - LEVEL)
        effect = mean[n] / spread[n] if spread[n] > 0 else 0.0
        rows.append({
            "one": models[left], "two": models[right], "difference": float(mean[n]), "low": low, "high": high,
            "p": float(p[n]), "won": float((difference[:, n] > 0).mean()), "lost": float((difference[:, n] < 0).mean()),
            "cases": len(difference), "needed": ceil((POWER / effect) ** 2) if effect else None,
        })  # fmt: skip
    return rows


def _adjusted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    adjusted = holm({n: row["p"] for n, row in enumerate(rows)})
    return [{**row, "adjusted": adjusted[n], "note": _note(row, adjusted[n])} for n, row in enumerate(rows)]


def _note(row: dict[str, Any], adjusted: float) -> str:
    if adjusted < LEVEL:
        return ""
    if row["needed"] is None:
        return "no difference"
    if row["needed"] > row["cases"]:
        return f"too few cases for the difference seen: {row['cases']:,}, and about {row['needed']:,} are needed"
    return "not certain beside all other pairs"


def apart(rows: list[dict[str, Any]], metric: str) -> set[tuple[str, str]]:
    """The pairs that differ by a metric at the 5% level, all pairs considered together."""
    return {(row["one"], row["two"]) for row in rows if row["metric"] == metric and row["adjusted"] < LEVEL}
