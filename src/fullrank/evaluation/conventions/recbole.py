"""RecBole: the classes of `recbole.evaluator.metrics`. It draws lists from scores itself; these are taken as listed."""

from __future__ import annotations

from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    capped_average_precision,
    hit_rate,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from fullrank.evaluation.conventions.habits import AS_LISTED, TWO_PLACES, as_listed

RECBOLE = Convention(
    name="recbole",
    title="RecBole",
    checked="recbole 1.2.1",
    read=as_listed,
    averages="everybody with something held out",
    ties="as listed",
    duplicates="hit twice",
    habits=AS_LISTED,
    measures=(
        Measure("hit@{k}", "hit_rate", hit_rate, "1", habits={"duplicate": TWO_PLACES}),
        Measure("mrr@{k}", "rr", reciprocal_rank, "1", habits={"duplicate": TWO_PLACES}),
        Measure("map@{k}", "ap", capped_average_precision, "min(k, relevant items)"),
        Measure("recall@{k}", "recall", recall, "relevant items"),
        Measure("ndcg@{k}", "ndcg", ndcg, "an ideal list with min(k, relevant items) hits"),
        Measure("precision@{k}", "precision", precision, "k"),
    ),
)
