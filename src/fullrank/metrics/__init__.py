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
    topk_curve,
)
from fullrank.metrics.table import METRICS, ORDERED, RANKED, parse

__all__ = [
    "METRICS",
    "ORDERED",
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
    "parse",
    "precision",
    "r_score",
    "recall",
    "rr",
    "topk",
    "topk_curve",
]
