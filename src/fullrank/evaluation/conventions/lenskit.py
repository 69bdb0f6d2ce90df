"""LensKit: `RunAnalysis` of lists, with the defaults of its metrics."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    capped_recall,
    clipped_ndcg,
    hit_rate,
    listed_precision,
    over,
    reciprocal_rank,
    sum_precisions,
)
from fullrank.evaluation.conventions.habits import AS_LISTED, DROPPED, TWO_PLACES, as_listed
from fullrank.evaluation.conventions.view import View


def listed_average_precision(view: View) -> Doubles:
    """Sum of the precision at every hit / min(relevant items, items listed among the first k)."""
    return over(sum_precisions(view), np.minimum(view.relevant, view.length))


LENSKIT = Convention(
    name="lenskit",
    title="LensKit",
    checked="lenskit 2025.8.1",
    read=as_listed,
    averages="everybody with a list, 0 where nothing is held out",
    ties="as listed",
    duplicates="hit twice",
    drops_unlisted=True,
    counts_extra=True,
    habits={
        **AS_LISTED,
        "unlisted": DROPPED,
        "extra": "people with a list and nothing held out count as 0, where ours leaves them out",
    },
    measures=(
        Measure(
            "Precision@{k}", "precision", listed_precision, "items listed, k at most",
            habits={"short": "divides by the length of a list that is shorter than {k}"},
        ),
        Measure("Recall@{k}", "capped_recall", capped_recall, "min(k, relevant items)"),
        Measure("Hit@{k}", "hit_rate", hit_rate, "1", habits={"duplicate": TWO_PLACES}),
        Measure("RecipRank@{k}", "rr", reciprocal_rank, "1", habits={"duplicate": TWO_PLACES}),
        Measure(
            "AveragePrecision@{k}", "ap", listed_average_precision, "min(k, relevant items, items listed)",
            habits={"short": "divides by the length of a list that is shorter than min({k}, relevant items)"},
            refuses={"extra": "ends with a division by zero where somebody has a list and nothing held out"},
        ),
        Measure(
            "NDCG@{k}", "ndcg", clipped_ndcg, "an ideal list with min(k, relevant items) hits",
            says="discounts by log2(max(place, 2)), ours by log2(place + 1): the first two places count the same",
        ),
    ),
)  # fmt: skip
