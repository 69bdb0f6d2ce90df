"""trec_eval, by pytrec_eval (pytrec_eval-terrier): `RelevanceEvaluator` of a run that `parse_run` reads."""

from __future__ import annotations

import numpy as np

from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    average_precision,
    grade_ndcg,
    hit_rate,
    precision,
    recall,
    reciprocal_rank,
)
from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.conventions.habits import BY_RELEVANT, DROPPED, FALLING_ID, OUTSIDE, SEEN
from fullrank.evaluation.conventions.ranx import GAIN
from fullrank.evaluation.conventions.view import View, keep_relevant, look, order_by, scores_of

NO_CUT = "has no cut-off: the whole list counts"


def single_precision(given: Given, k: int) -> View:
    """Lists by score in float32, equal ones by falling code; relevant are grades of 1 and above."""
    if given.grade is not None:
        given = keep_relevant(given, given.grade >= 1)
    score = scores_of(given).astype(np.float32).astype(np.float64)
    return look(given, order_by(given, score, -given.item), k)


TREC_EVAL = Convention(
    name="trec_eval",
    title="trec_eval",
    checked="pytrec_eval-terrier 0.5.11",
    read=single_precision,
    averages="everybody with something held out and a list",
    ties="by falling id, scores in float32",
    duplicates="refused",
    drops_unlisted=True,
    habits={
        "unlisted": DROPPED,
        "tied": FALLING_ID,
        "rounded": "scores are rounded to float32, and those that are equal then are ordered by falling id",
        "outside": OUTSIDE,
        "seen": SEEN,
        "low": "an item with a grade below 1 is not relevant",
    },
    refuses={
        "duplicate": "refuses a run that lists an item twice",
        "fraction": "refuses grades that are not whole numbers",
    },
    measures=(
        Measure("P_{k}", "precision", precision, "k"),
        Measure("recall_{k}", "recall", recall, "relevant items"),
        Measure("success_{k}", "hit_rate", hit_rate, "1"),
        Measure("map_cut_{k}", "ap", average_precision, "relevant items", says=BY_RELEVANT),
        Measure(
            "ndcg_cut_{k}", "ndcg", grade_ndcg, "an ideal list: the k highest grades",
            graded="graded_ndcg", habits=GAIN,
        ),
        Measure("recip_rank", "rr", reciprocal_rank, "1", says=NO_CUT),
        Measure(
            "map", "ap", average_precision, "relevant items",
            says="has no cut-off: the whole list counts, and all relevant items divide",
        ),
        Measure(
            "ndcg", "ndcg", grade_ndcg, "an ideal list: all grades", says=NO_CUT, graded="graded_ndcg", habits=GAIN
        ),
    ),
)  # fmt: skip
