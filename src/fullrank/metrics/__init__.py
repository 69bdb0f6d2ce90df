"""Ranks in, numbers out."""

from fullrank.metrics.metric import Metric, metric
from fullrank.metrics.relevance import (
    adg,
    ap,
    atop,
    auc,
    capped_recall,
    graded_ndcg,
    hit_rate,
    mean_percentile,
    mean_rank,
    ndcg,
    precision,
    r_score,
    recall,
    rr,
    topk,
)

RANKED: dict[str, Metric] = {
    found.name: found
    for found in (
        recall, capped_recall, precision, hit_rate, rr, ap, ndcg, graded_ndcg,
        auc, adg, topk, atop, mean_rank, mean_percentile, r_score,
    )
}  # fmt: skip

__all__ = [
    "RANKED",
    "Metric",
    "adg",
    "ap",
    "atop",
    "auc",
    "capped_recall",
    "graded_ndcg",
    "hit_rate",
    "mean_percentile",
    "mean_rank",
    "metric",
    "ndcg",
    "precision",
    "r_score",
    "recall",
    "rr",
    "topk",
]
