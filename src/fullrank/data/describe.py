"""What a data set looks like, in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.events import Events
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.split import Split

SHARES = (0.01, 0.1, 0.5)


def describe(data: Interactions | Events | Graded | Preferences | Split[Any]) -> dict[str, Any]:
    """Size, sparsity, histogram of values, activity of users and popularity of items; of events how many repeat others.

    >>> from fullrank.data.read import read
    >>> describe(read({"user": [1, 1, 2], "item": [7, 8, 7], "rating": [5, 3, 5]}))["values"]
    {'3': 1, '5': 2}
    """
    if isinstance(data, Split):
        parts = {"train": data.train, "visible": data.visible, "validation": data.valid, "held out": data.held_out}
        return {"kind": "split", "how": data.how, **{name: describe(part) for name, part in parts.items() if part}}
    numbers = _of(data)
    intake = data.intake
    if intake.rows:
        numbers["intake"] = {"rows read": intake.rows, "merged": intake.merged, "dropped": dict(intake.dropped)}
    return numbers


def _of(data: Interactions | Events | Graded | Preferences) -> dict[str, Any]:
    if isinstance(data, Interactions | Events):
        return _interactions(data)
    common = {"users": len(data.users), "items": len(data.items)}
    if isinstance(data, Preferences):
        return {
            "kind": "preferences",
            "rows": len(data),
            **common,
            "per user": spread(np.bincount(data.user, minlength=len(data.users))),
        }
    actions = np.bincount(data.grade.astype(np.int64)) if data.scale else None
    return {
        "kind": "sessions",
        "cases": len(data),
        "rows": len(data.item),
        **common,
        "offers per case": spread(np.diff(data.start)),
        "pairs": int(data.count_pairs().sum()),
        "cases without order": int((data.count_pairs() == 0).sum()),
        **(
            {"actions": dict(zip(data.scale, actions.tolist(), strict=False))}
            if data.scale and actions is not None
            else {}
        ),
    }


def _interactions(data: Interactions | Events) -> dict[str, Any]:
    per_user = np.bincount(data.user, minlength=data.n_users)
    per_item = np.bincount(data.item, minlength=data.n_items)
    numbers: dict[str, Any] = {
        "kind": "interactions",
        "rows": len(data),
        "users": data.n_users,
        "items": data.n_items,
        **_sparsity(data),
        "users without feedback": int((per_user == 0).sum()),
        "items without feedback": int((per_item == 0).sum()),
        "per user": spread(per_user),
        "per item": spread(per_item),
        "share of rows on the most popular items": {f"{share:.0%}": top_share(per_item, share) for share in SHARES},
        "gini of item popularity": gini(per_item),
    }
    if isinstance(data, Events):
        numbers["kind"] = "events"
    if data.value is not None and len(data):
        numbers["values"] = histogram(data.value)
        numbers["mean value"] = float(data.value.mean(dtype=np.float64))
    if data.time is not None and len(data):
        numbers["time"] = [str(np.datetime64(moment, "s")) for moment in (data.time.min(), data.time.max())]
    return numbers


def _sparsity(data: Interactions | Events) -> dict[str, Any]:
    """The share of all pairs of users and items that were observed, and of the events that are no new pair."""
    if isinstance(data, Interactions):
        return {"density": data.density}
    cells, rows = data.n_users * data.n_items, len(data)
    again = {"repeats": data.repeats, "share of repeats": data.repeats / rows if rows else 0.0}
    return {**again, "density": (rows - data.repeats) / cells if rows else 0.0}


def spread(counts: NDArray[Any]) -> dict[str, float]:
    """Smallest, median, mean and largest."""
    if len(counts) == 0:
        return {}
    return {
        "min": int(counts.min()),
        "median": float(np.median(counts)),
        "mean": float(counts.mean()),
        "max": int(counts.max()),
    }


def top_share(counts: NDArray[Any], share: float) -> float:
    """Part of all rows that falls on this share of the most popular items.

    >>> top_share(np.array([6, 3, 1, 0]), 0.5)
    0.9
    """
    top = np.sort(counts)[::-1][: max(1, round(share * len(counts)))]
    return float(top.sum() / max(counts.sum(), 1))


def gini(counts: NDArray[Any]) -> float:
    """Gini coefficient: 0 when all items are equally popular, near 1 when one has everything.

        sum_i (2i - n - 1) x_i / (n sum x),   x sorted ascending

    >>> gini(np.array([1, 1, 1])), gini(np.array([0, 0, 0, 1]))
    (0.0, 0.75)
    """
    n, ordered = len(counts), np.sort(counts).astype(np.float64)
    if n == 0 or ordered.sum() == 0:
        return 0.0
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


def histogram(values: NDArray[np.float32], bins: int = 12) -> dict[str, int]:
    """Counts of each value, or of ranges of values where there are many."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= bins:
        return {f"{value:g}": int(n) for value, n in zip(distinct, counts, strict=True)}
    quantiles = np.unique(np.quantile(values, np.linspace(0, 1, 6)))
    counts, edges = np.histogram(values, quantiles)
    return {f"{low:g}..{high:g}": int(n) for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)}
