"""ranx: `evaluate` with `make_comparable=True`, without which it refuses people without a list."""

from __future__ import annotations

import numpy as np

from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    average_precision,
    grade_ndcg,
    hit_rate,
    power_ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.conventions.habits import BY_RELEVANT, OUTSIDE, SEEN
from fullrank.evaluation.conventions.view import View, keep_relevant, let_last_count, look

WHOLE = {"fraction": "grades are cut to whole numbers"}
NO_GAIN = {"low": ""}  # what is graded 0 gains nothing by ours either
GAIN = {**NO_GAIN, "graded": "the gain of an item is its grade, where ours is 2^grade - 1"}


def run_and_qrels(given: Given, k: int) -> View:
    """Lists by score; relevant are whole grades of 1 and above."""
    if given.grade is not None:
        whole = np.trunc(given.grade)
        given = keep_relevant(given._replace(grade=whole), whole >= 1)
    return look(given, let_last_count(given), k)


RANX = Convention(
    name="ranx",
    title="ranx",
    checked="ranx 0.3.21",
    read=run_and_qrels,
    averages="everybody with something held out",
    ties="as listed in lists of up to 15 items; by an unstable sort in longer ones",
    duplicates="the last place counts",
    habits={
        "tied": "equal scores stay as they were listed, except that an unstable sort decides in lists of more than 15 "
        "items, where ours is the mean over their orders",
        "duplicate": "of an item that is listed twice the last place counts",
        "outside": OUTSIDE,
        "seen": SEEN,
        "low": "an item with a grade below 1 is not relevant",
    },
    measures=(
        Measure("precision@{k}", "precision", precision, "k"),
        Measure("recall@{k}", "recall", recall, "relevant items"),
        Measure("hit_rate@{k}", "hit_rate", hit_rate, "1"),
        Measure("mrr@{k}", "rr", reciprocal_rank, "1"),
        Measure("map@{k}", "ap", average_precision, "relevant items", says=BY_RELEVANT),
        Measure(
            "ndcg@{k}", "ndcg", grade_ndcg, "an ideal list: the k highest grades",
            graded="graded_ndcg", habits={**GAIN, **WHOLE},
        ),
        Measure(
            "ndcg_burges@{k}", "ndcg", power_ndcg, "an ideal list: the k highest 2^grade − 1",
            graded="graded_ndcg", habits={**NO_GAIN, **WHOLE},
        ),
    ),
)  # fmt: skip
