"""RePlay (replay-rec): the metrics of `replay.metrics`, of a table in polars or pandas."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    capped_average_precision,
    hit_rate,
    hits,
    ndcg,
    over,
    reciprocal_rank,
)
from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.conventions.habits import FALLING_ID, OUTSIDE, SEEN, TWICE, TWO_PLACES
from fullrank.evaluation.conventions.view import View, look, order_by, scores_of

ONCE = {"duplicate": f"{TWO_PLACES}, and is hit once"}


def by_score_and_id(given: Given, k: int) -> View:
    """Lists by score, equal ones by falling code."""
    return look(given, order_by(given, scores_of(given), -given.item), k)


def distinct_hits(view: View) -> Doubles:
    """Relevant items among the first k, each once."""
    return np.asarray((view.hit & ~view.again).sum(axis=1), dtype=np.float64)


def list_auc(view: View) -> Doubles:
    """Share of the pairs of a hit and a miss among the first k in which the hit is first; 1 without misses above hits.

    0 where there is no hit.
    """
    listed = np.arange(view.hit.shape[1]) < view.length[:, None]
    misses = listed & ~view.hit
    wrong = (view.hit * np.cumsum(misses, axis=1)).sum(axis=1)
    pairs = hits(view) * misses.sum(axis=1)
    return np.where(view.hit.any(axis=1), 1 - over(wrong, pairs), 0.0)


REPLAY = Convention(
    name="replay",
    title="RePlay",
    checked="replay-rec 0.22.0",
    read=by_score_and_id,
    averages="everybody with something held out",
    ties="by falling id",
    duplicates="hit once by `Precision` and `Recall`, twice by `MAP` and `NDCG`, with a warning",
    habits={"tied": FALLING_ID, "duplicate": TWICE, "outside": OUTSIDE, "seen": SEEN},
    measures=(
        Measure("Precision@{k}", "precision", lambda view: distinct_hits(view) / view.hit.shape[1], "k", habits=ONCE),
        Measure(
            "Recall@{k}", "recall", lambda view: over(distinct_hits(view), view.relevant), "relevant items", habits=ONCE
        ),
        Measure("HitRate@{k}", "hit_rate", hit_rate, "1", habits={"duplicate": TWO_PLACES}),
        Measure("MRR@{k}", "rr", reciprocal_rank, "1", habits={"duplicate": TWO_PLACES}),
        Measure("MAP@{k}", "ap", capped_average_precision, "min(k, relevant items)"),
        Measure("NDCG@{k}", "ndcg", ndcg, "an ideal list with min(k, relevant items) hits"),
        Measure(
            "RocAuc@{k}", "auc", list_auc, "hits × misses among the first k",
            says="compares hits and misses among the first {k} of a list only, and is 0 without a hit",
            habits={"short": "a list shorter than {k} has fewer misses to compare with"},
            cut=False,
        ),
    ),
)  # fmt: skip
