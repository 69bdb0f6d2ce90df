"""Elliot 0.3.1: its accuracy metrics by their published definitions; it does not install, and was not run."""

from __future__ import annotations

from functools import partial

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    hit_rate,
    ndcg,
    power_ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from fullrank.evaluation.conventions.habits import AS_LISTED, DROPPED, TWO_PLACES, as_listed
from fullrank.evaluation.conventions.view import View


def mean_of_precisions(view: View) -> Doubles:
    """Mean of the precision at 1, 2, .. k."""
    places = np.arange(1.0, view.hit.shape[1] + 1)
    return np.asarray((np.cumsum(view.hit, axis=1) / places).mean(axis=1))


GAIN = "the gain of an item is 2^(grade + 1) - 1 (threshold 0), where ours is 2^grade - 1"

ELLIOT = Convention(
    name="elliot",
    title="Elliot",
    checked=None,
    read=as_listed,
    averages="everybody with something held out and a list",
    ties="as listed",
    duplicates="hit twice",
    drops_unlisted=True,
    habits={**AS_LISTED, "unlisted": DROPPED},
    measures=(
        Measure("Precision@{k}", "precision", precision, "k"),
        Measure("Recall@{k}", "recall", recall, "relevant items"),
        Measure("HR@{k}", "hit_rate", hit_rate, "1", habits={"duplicate": TWO_PLACES}),
        Measure("MRR@{k}", "rr", reciprocal_rank, "1", habits={"duplicate": TWO_PLACES}),
        Measure(
            "MAP@{k}", "ap", mean_of_precisions, "k",
            says="is the mean of the precision at 1, 2, .. {k}, where ours takes it at the places of hits",
        ),
        Measure(
            "nDCG@{k}", "ndcg", partial(power_ndcg, plus=1.0), "an ideal list: the k highest gains",
            graded="graded_ndcg",
            habits={"graded": GAIN, "low": GAIN},
        ),
        Measure("nDCGRendle2020@{k}", "ndcg", ndcg, "an ideal list with min(k, relevant items) hits"),
    ),
)  # fmt: skip
