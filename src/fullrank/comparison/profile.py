"""What the feedback looks like, for a report: values, popularity, and whether values are missing not at random."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Doubles
from fullrank.comparison.results import DataProfile, MissingEvidence, PopularityBucket
from fullrank.data.describe import describe, histogram
from fullrank.data.events import Events
from fullrank.data.feedback import Feedback
from fullrank.data.interactions import Interactions

POINTS = 60  # of the popularity curve
BUCKETS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)  # ratings of an item
CLEAR = 0.01  # level of the test


def profile(data: Feedback | Events, kind: str) -> DataProfile:
    """The description of a report."""
    description = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in describe(data).items()
        if name not in ("kind", "values", "intake")
    }
    values = getattr(data, "value", getattr(data, "grade", None))
    return DataProfile(
        kind, description, None if values is None or kind == "events" else histogram(values), popularity(data),
        missing(data) if isinstance(data, Interactions) and kind == "ratings" else None,
    )  # fmt: skip


def popularity(data: Feedback | Events) -> tuple[tuple[float, float], ...] | None:
    """The share of all rows that falls on the most popular items, by the share of items."""
    item = getattr(data, "item", None)
    if item is None:
        return None
    counts = np.sort(np.bincount(item, minlength=len(data.items)))[::-1].cumsum()
    at = np.unique(np.geomspace(1, len(counts), POINTS).round().astype(int))
    return ((0.0, 0.0), *((n / len(counts), float(counts[n - 1] / counts[-1])) for n in at.tolist()))


def missing(data: Interactions) -> MissingEvidence | None:
    """Whether items that many people rated are rated higher: then ratings are not missing at random.

    Spearman's correlation of the number of an item's ratings with their mean. Were ratings missing at random, how many
    an item has would say nothing about how they are.
    """
    from scipy.stats import spearmanr

    counts = data.popularity
    rated = np.flatnonzero(counts)
    if data.value is None or len(rated) < 3:
        return None
    mean = np.bincount(data.item, data.value, minlength=data.n_items)[rated] / counts[rated]
    if np.ptp(mean) == 0 or np.ptp(counts[rated]) == 0:
        return None
    test = spearmanr(counts[rated], mean)
    correlation, p = float(test.statistic), float(test.pvalue)
    return MissingEvidence(correlation, p, _points(counts[rated], mean), _sentence(correlation, p))


def _points(counts: NDArray[np.int64], mean: Doubles) -> tuple[PopularityBucket, ...]:
    """The mean of the items in each bucket of popularity, every rating counting once."""
    bucket = np.searchsorted(BUCKETS, counts, side="right") - 1
    ends = [f"{low}-{high - 1}" if high - low > 1 else str(low) for low, high in pairwise(BUCKETS)]
    ends.append(f"{BUCKETS[-1]}+")
    return tuple(
        PopularityBucket(
            ends[n], int((bucket == n).sum()), float(np.average(mean[bucket == n], weights=counts[bucket == n]))
        )
        for n in np.unique(bucket).tolist()
    )


def _sentence(correlation: float, p: float) -> str:
    if p >= CLEAR:
        return (
            f"How often an item is rated says little about how it is rated (correlation {correlation:.2f}): no sign "
            "that ratings are missing not at random."
        )
    if correlation < 0:
        return (
            f"Items that are rated often are rated lower (correlation {correlation:.2f}): ratings are not missing at "
            "random."
        )
    return (
        f"Items that are rated often are rated higher (correlation {correlation:.2f}): people rate what they like, and "
        "what is missing is worse than what is there."
    )
