"""What the tests of simulated worlds share."""

from __future__ import annotations

import numpy as np

from fullrank.data.describe import gini, top_share
from fullrank.data.interactions import Interactions


def subset_z(part: np.ndarray, whole: np.ndarray, value: np.ndarray) -> float:
    """How far subsets (one a row) are from simple random ones, in standard errors, by their mean values.

    The mean of a simple random sample of n from N has the mean of all and the variance S^2 (1/n - 1/N).
    """
    able = part.any(axis=1) & (part.sum(axis=1) < whole.sum(axis=1))
    part, whole, value = part[able], whole[able], value[able].astype(np.float64)
    difference = value.mean(axis=1, where=part) - value.mean(axis=1, where=whole)
    spread = value.var(axis=1, where=whole, ddof=1) * (1 / part.sum(axis=1) - 1 / whole.sum(axis=1))
    return float(difference.sum() / np.sqrt(spread.sum()))


def dense(data: Interactions) -> np.ndarray:
    seen = np.zeros((data.n_users, data.n_items), dtype=bool)
    seen[data.user, data.item] = True
    return seen


def looks(data: Interactions) -> dict[str, float]:
    """Size, activity of users, popularity of items, and the shares of each value."""
    per_item = np.bincount(data.item, minlength=data.n_items)
    per_user = np.bincount(data.user, minlength=data.n_users)
    quantiles = {"least": 0, "lower quartile": 25, "median": 50, "upper quartile": 75, "95th": 95, "most": 100}
    numbers = {"rows": float(len(data)), "density": data.density, "gini": gini(per_item)}
    numbers |= {f"top {share}%": top_share(per_item, share / 100) for share in (1, 5, 10, 20, 50)}
    numbers |= {f"{name} active": float(np.percentile(per_user, q)) for name, q in quantiles.items()}
    if data.value is not None:
        values, counts = np.unique(data.value, return_counts=True)
        numbers |= {f"value {v:g}": n / len(data) for v, n in zip(values.tolist(), counts.tolist(), strict=True)}
    return numbers
