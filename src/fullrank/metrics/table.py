"""Metrics by the name users write: command line, configuration, HTTP."""

from __future__ import annotations

from fullrank.errors import ParameterError, did_you_mean
from fullrank.metrics import ordered, relevance
from fullrank.metrics.metric import CutOff, Metric

RANKED: dict[str, Metric] = {
    "recall": relevance.recall,
    "capped_recall": relevance.capped_recall,
    "precision": relevance.precision,
    "hit_rate": relevance.hit_rate,
    "rr": relevance.rr,
    "ap": relevance.ap,
    "ndcg": relevance.ndcg,
    "graded_ndcg": relevance.graded_ndcg,
    "auc": relevance.auc,
    "adg": relevance.adg,
    "topk": relevance.topk,
    "atop": relevance.atop,
    "mean_rank": relevance.mean_rank,
    "mean_percentile": relevance.mean_percentile,
    "r_score": relevance.r_score,
}
ORDERED: dict[str, Metric] = {
    "pairwise_loss": ordered.pairwise_loss,
    "fcp": ordered.fcp,
    "ndpm": ordered.ndpm,
    "kendall": ordered.kendall,
    "spearman": ordered.spearman,
    "tau_ap": ordered.tau_ap,
    "edrc": ordered.edrc,
    "edrc_log": ordered.edrc_log,
    "edrc_exp": ordered.edrc_exp,
}
METRICS: dict[str, Metric] = RANKED | ORDERED


def parse(text: str) -> Metric:
    """The metric of that name: an integer after @ is a list length, a decimal or a percentage a share.

    >>> [str(parse(text)) for text in ("ndcg@10", "topk@0.02", "topk@2%", "auc")]
    ['ndcg@10', 'topk@0.02', 'topk@0.02', 'auc']
    """
    name, at, cut = text.strip().partition("@")
    if name not in METRICS:
        raise ParameterError(f"'{name}' is not a metric. {did_you_mean(name, list(METRICS))}")
    return METRICS[name] @ _number(text, cut) if at else METRICS[name]


def _number(text: str, cut: str) -> CutOff:
    try:
        if cut.endswith("%"):
            return float(cut[:-1]) / 100
        return int(cut) if cut.isdigit() else float(cut)
    except ValueError:
        raise ParameterError(f"'{text}': '{cut}' is no cut-off; write a number, e.g. ndcg@10.") from None
