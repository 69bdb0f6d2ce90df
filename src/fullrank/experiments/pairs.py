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
    pairs = list(combinations(results, 2))
    found: list[dict[str, Any]] = []
    for column, name in enumerate(first.names):
        values = np.column_stack([result.values[:, column] for result in results.values()])
        found += _adjusted([{"metric": name, **row} for row in _of_metric(values, list(results), first, pairs, seed)])
    return found


def _of_metric(
    values: Floats, models: list[str], first: Result, pairs: list[tuple[str, str]], seed: int
) -> list[dict[str, Any]]:
    """The pairs of one metric, from values (cases, models)."""
    known = ~np.isnan(values).any(axis=1)
    user = None if first.user is None else first.user[known]
    weight, total = together(user, first.weight[known], values[known] * first.weight[known][:, None])
    means = np.divide(total, weight[:, None], out=np.zeros_like(total), where=weight[:, None] > 0)
    place = {name: number for number, name in enumerate(models)}
    one, two = (np.array([place[pair[side]] for pair in pairs]) for side in (0, 1))
    difference = means[:, one] - means[:, two]
    if not len(difference):
        return []
    mean = (weight @ difference) / max(weight.sum(), 1e-300)
    samples = bootstrap(means, weight, REPEATS, seed)
    p = permutations(difference * weight[:, None], max(REPEATS, 40 * len(pairs)), seed)
    spread = difference.std(axis=0, ddof=1) if len(difference) > 1 else np.zeros(len(pairs))
    rows = []
    for n, pair in enumerate(pairs):
        low, high = percentile_interval(samples[:, one[n]] - samples[:, two[n]], 1 - LEVEL)
        effect = mean[n] / spread[n] if spread[n] > 0 else 0.0
        rows.append({
            "one": pair[0], "two": pair[1], "difference": float(mean[n]), "low": low, "high": high, "p": float(p[n]),
            "won": float((difference[:, n] > 0).mean()), "lost": float((difference[:, n] < 0).mean()),
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
