"""OmniRec: `omnirec.metrics.ranking`, of a table with ranks."""

from __future__ import annotations

from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import capped_recall, hit_rate, ndcg, precision
from fullrank.evaluation.conventions.habits import AS_LISTED, DROPPED, TWO_PLACES, as_listed

OMNIREC = Convention(
    name="omnirec",
    title="OmniRec",
    checked="omnirec 1.1.0",
    read=as_listed,
    averages="everybody with something held out and a list",
    ties="as ranked",
    duplicates="hit twice",
    drops_unlisted=True,
    habits={**AS_LISTED, "unlisted": DROPPED},
    measures=(
        Measure("HR@{k}", "hit_rate", hit_rate, "1", habits={"duplicate": TWO_PLACES}),
        Measure("Recall@{k}", "capped_recall", capped_recall, "min(k, relevant items)"),
        Measure("Precision@{k}", "precision", precision, "k"),
        Measure("NDCG@{k}", "ndcg", ndcg, "an ideal list with min(k, relevant items) hits"),
    ),
)
