"""irspack: `Evaluator`, given scores of the listed items and minus infinity for the others, which it leaves out."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    average_precision,
    hit_rate,
    listed_precision,
    ndcg,
    recall,
)
from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.conventions.habits import BY_RELEVANT
from fullrank.evaluation.conventions.view import View, look, tidy


def masked(given: Given, k: int) -> View:
    """Lists by score without what is seen, which the evaluator masks."""
    return look(given, tidy(given), k)


def listed_ndcg(view: View) -> Doubles:
    """nDCG whose ideal list has no more hits than items are listed among the first k."""
    return ndcg(view._replace(relevant=np.minimum(view.relevant, view.length)))


IDEAL = "the ideal list has no more hits than there are items in a list shorter than {k}"
LENGTH = "divides by the length of a list that is shorter than {k}"

IRSPACK = Convention(
    name="irspack",
    title="irspack",
    checked="irspack 0.5.2",
    read=masked,
    averages="everybody with something held out",
    ties="by rising number of the item",
    duplicates="the better place counts",
    habits={"tied": "equal scores are ordered by the item's number, where ours is the mean over their orders"},
    measures=(
        Measure("hit@{k}", "hit_rate", hit_rate, "1"),
        Measure("recall@{k}", "recall", recall, "relevant items"),
        Measure(
            "ndcg@{k}", "ndcg", listed_ndcg, "an ideal list with min(k, relevant items, items listed) hits",
            habits={"short": IDEAL, "thinned": IDEAL},
        ),
        Measure("map@{k}", "ap", average_precision, "relevant items", says=BY_RELEVANT),
        Measure(
            "precision@{k}", "precision", listed_precision, "items listed, k at most",
            habits={"short": LENGTH, "thinned": LENGTH},
        ),
    ),
)  # fmt: skip
