"""Krichene and Rendle 2020, Table 1: the toy example, exactly."""

from __future__ import annotations

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import MEASURES, PLACE, TOY, toy
from fullrank.reproduction.workspace import Workspace

PUBLISHED = {  # of A, B and C
    "AUC": (0.990, 0.555, 0.843),
    "AP": (0.010, 0.010, 0.101),
    "NDCG": (0.150, 0.122, 0.208),
    "Recall": (0.0, 0.0, 0.200),
}


def run(workspace: Workspace) -> Findings:
    """Every measure of every recommender, to the digit."""
    return Findings(
        tuple(
            Number(name, measure, PUBLISHED[measure][place], float(metric(toy(name)).mean()))
            for place, name in enumerate(TOY)
            for measure, metric in MEASURES.items()
        )
    )


EXHIBIT = Exhibit("krichene2020-table1", "A toy example of three recommenders", f"{PLACE}, Table 1", run)
