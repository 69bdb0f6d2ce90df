"""RecTools: `calc_metrics` of a table with ranks, with the defaults of its metrics."""

from __future__ import annotations

from fullrank.evaluation.conventions.convention import Convention, Measure
from fullrank.evaluation.conventions.counting import (
    average_precision,
    full_ndcg,
    hit_rate,
    precision,
    recall,
    reciprocal_rank,
)
from fullrank.evaluation.conventions.given import Given, contained, repeated
from fullrank.evaluation.conventions.habits import AS_LISTED, BY_RELEVANT, TWICE, TWO_PLACES, as_listed
from fullrank.evaluation.conventions.view import View

COUNTED_TWICE = {"duplicate": f"{TWICE}, and is two relevant items"}


def joined(given: Given, k: int) -> View:
    """Held-out items joined with the lists: a relevant item that is listed twice is two of them."""
    again = repeated(given.item) & contained(given.item, given.start, given.relevant)
    view = as_listed(given, k)
    return view._replace(relevant=view.relevant + again.sum(axis=1))


RECTOOLS = Convention(
    name="rectools",
    title="RecTools",
    checked="rectools 0.19.0",
    read=joined,
    averages="everybody with something held out",
    ties="as ranked",
    duplicates="hit twice, and two relevant items",
    habits=AS_LISTED,
    measures=(
        Measure("precision@{k}", "precision", precision, "k"),
        Measure("recall@{k}", "recall", recall, "relevant items", habits=COUNTED_TWICE),
        Measure("hit_rate@{k}", "hit_rate", hit_rate, "1", habits={"duplicate": TWO_PLACES}),
        Measure("map@{k}", "ap", average_precision, "relevant items", says=BY_RELEVANT, habits=COUNTED_TWICE),
        Measure(
            "ndcg@{k}", "ndcg", full_ndcg, "an ideal list with k hits",
            says="the ideal list has {k} hits, whatever is relevant, so that a perfect list may be below 1",
        ),
        Measure("mrr@{k}", "rr", reciprocal_rank, "1", habits={"duplicate": TWO_PLACES}),
    ),
)  # fmt: skip
