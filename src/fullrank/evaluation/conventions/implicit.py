"""implicit: `ranking_metrics_at_k`."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import capped_average_precision, capped_recall, hits, ndcg, possible
from fullrank.evaluation.conventions.habits import AS_LISTED, as_listed
from fullrank.evaluation.conventions.view import View


def limited_auc(view: View) -> Doubles:
    """AUC of which the first k places are known, and of the rest that relevant items stand in its middle.

    Of P relevant and N other items of the catalogue, with h hits and m misses among the k places:

        (sum over misses of the hits above + (h + P)/2 (N - m)) / (P N)
    """
    relevant = view.relevant.astype(np.float64)
    others = view.catalogue - relevant
    above = (~view.hit * np.cumsum(view.hit, axis=1)).sum(axis=1)
    misses = view.hit.shape[1] - hits(view)
    pairs = relevant * others
    known = above + (hits(view) + relevant) / 2 * (others - misses)
    return np.asarray(known / pairs)


IMPLICIT = Convention(
    name="implicit",
    title="implicit",
    checked="implicit 0.7.3",
    read=as_listed,
    averages="everybody with something held out; `precision` pools hits",
    ties="as listed",
    duplicates="hit twice",
    habits=AS_LISTED,
    measures=(
        Measure(
            "precision@{k}", "capped_recall", capped_recall, "min(k, relevant items), summed over all people",
            says="the hits of all people are divided by the sum of their min({k}, relevant items), so that those with "
            "more relevant items weigh more",
            weight=lambda view: possible(view).astype(np.float64),
        ),
        Measure("map@{k}", "ap", capped_average_precision, "min(k, relevant items)"),
        Measure("ndcg@{k}", "ndcg", ndcg, "an ideal list with min(k, relevant items) hits"),
        Measure(
            "auc@{k}", "auc", limited_auc, "relevant × other items of the catalogue",
            says="only the first {k} of a list count, relevant items below stand in the middle of the rest, and items "
            "of the training part count as beaten",
            cut=False,
        ),
    ),
)  # fmt: skip
