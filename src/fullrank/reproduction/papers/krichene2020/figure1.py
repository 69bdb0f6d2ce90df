"""Krichene and Rendle 2020, Figure 1: what a rank is worth, by metric."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.sampling import values
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import ITEMS, MEASURES, PLACE
from fullrank.reproduction.workspace import Workspace

TOP = 100
PUBLISHED = {"AP": 2.0, "NDCG": 1.58}  # rank 1 over rank 2 (section 3.1)


def run(workspace: Workspace) -> Findings:
    """The metrics at all ranks and at the top 100; how much of its range each loses up there."""
    worth = {name: values(metric, ITEMS) for name, metric in MEASURES.items()}
    numbers = tuple(
        Number(name, "rank 1 over rank 2", published, float(worth[name][0] / worth[name][1]), 0.0, 2)
        for name, published in PUBLISHED.items()
    )
    steps = [float(worth["AUC"][rank - 1] - worth["AUC"][rank]) for rank in (100, 1)]
    lost = {name: lost_on_top(curve) for name, curve in worth.items()}
    heavy = all(share > 0.9 for name, share in lost.items() if name != "AUC") and lost["AUC"] < 0.02
    claims = (
        Claim(
            "AUC is linear: from rank 101 to 100 it rises as from 2 to 1",
            bool(np.isclose(steps[0], steps[1], rtol=1e-9)), f"{steps[0]:.6f} and {steps[1]:.6f}",
        ),
        Claim(
            f"all but AUC care for the top only: over 90% of their range is lost by rank {TOP}, of AUC's about 1%",
            heavy, ", ".join(f"{name} {share:.1%}" for name, share in lost.items()),
        ),
    )  # fmt: skip
    return Findings(numbers, claims, (_figure(worth, ITEMS, "all ranks"), _figure(worth, TOP, f"top {TOP} ranks")))


def lost_on_top(curve: Doubles) -> float:
    """The share of its whole fall that a metric has behind it at rank 100."""
    return float((curve[0] - curve[TOP - 1]) / (curve[0] - curve[-1]))


def _figure(worth: dict[str, Doubles], last: int, what: str) -> Figure:
    ranks = np.unique(np.linspace(1, last, 101).astype(int))
    return Figure(
        f"Metric against rank, {what}", "rank", "metric",
        {name: list(zip(ranks.tolist(), curve[ranks - 1].tolist(), strict=True)) for name, curve in worth.items()},
    )  # fmt: skip


EXHIBIT = Exhibit("krichene2020-figure1", "What a rank is worth, by metric", f"{PLACE}, Figure 1 and section 3.1", run)
