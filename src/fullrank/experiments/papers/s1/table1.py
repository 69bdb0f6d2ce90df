"""S1 Table 1: the toy example, exactly."""

from __future__ import annotations

from fullrank.experiments.bench import Bench
from fullrank.experiments.exhibits import Exhibit, Found, Number
from fullrank.experiments.papers.s1.protocol import MEASURES, PLACE, TOY, toy

PUBLISHED = {  # of A, B and C
    "AUC": (0.990, 0.555, 0.843),
    "AP": (0.010, 0.010, 0.101),
    "NDCG": (0.150, 0.122, 0.208),
    "Recall": (0.0, 0.0, 0.200),
}


def run(bench: Bench) -> Found:
    """Every measure of every recommender, to the digit."""
    return Found(
        tuple(
            Number(name, measure, PUBLISHED[measure][place], float(metric(toy(name)).mean()))
            for place, name in enumerate(TOY)
            for measure, metric in MEASURES.items()
        )
    )


EXHIBIT = Exhibit("s1-table1", "A toy example of three recommenders", f"{PLACE}, Table 1", run)
