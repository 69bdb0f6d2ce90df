"""Krichene and Rendle 2020, Figure 3: what a sampled metric measures, by true rank."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.evaluation.analysis import characteristic
from fullrank.evaluation.sampling import values
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings
from fullrank.reproduction.papers.krichene2020.figure1 import TOP, lost_on_top
from fullrank.reproduction.papers.krichene2020.protocol import ITEMS, MEASURES, PLACE
from fullrank.reproduction.workspace import Workspace

SAMPLES = (1, 10, 100, 1000)
SHOWN = 1000  # ranks, as the paper shows
HEAVY = ("AP", "NDCG", "Recall")


def run(workspace: Workspace) -> Findings:
    """Expectations over samples drawn with replacement, at every rank."""
    exact = {name: values(metric, ITEMS) for name, metric in MEASURES.items()}
    curves = {
        name: {m: characteristic(metric, ITEMS, m, replace=True) for m in SAMPLES} for name, metric in MEASURES.items()
    }
    figures = tuple(_figure(name, exact[name], curves[name]) for name in exact)
    return Findings(claims=(*_changes(exact, curves), *_shapes(exact, curves)), figures=figures)


def _changes(exact: dict[str, Doubles], curves: dict[str, dict[int, Doubles]]) -> tuple[Claim, ...]:
    off = {name: {m: float(np.abs(c - exact[name]).max()) for m, c in curves[name].items()} for name in exact}
    most = {name: off[name][1000] for name in HEAVY}
    top = {name: {m: lost_on_top(c) for m, c in curves[name].items() if m > 1} for name in HEAVY}
    flatter = all(share < lost_on_top(exact[name]) for name, shares in top.items() for share in shares.values())
    moved = max(off["AUC"].values())
    return (
        Claim("AUC stays what it is", moved < 1e-9, f"off by {moved:.0e} at most"),
        Claim(
            "the others change substantially, with 1,000 samples even: at some rank they are off by .4 or more",
            min(most.values()) >= 0.4, ", ".join(f"{name} {gap:.2f}" for name, gap in most.items()),
        ),
        Claim(
            f"sampled metrics are less top heavy: they lose less of their range by rank {TOP} than exact ones",
            flatter,
            "with 100 samples "
            + ", ".join(f"{name} {top[name][100]:.0%} for {lost_on_top(exact[name]):.0%}" for name in HEAVY),
        ),
    )  # fmt: skip


def _shapes(exact: dict[str, Doubles], curves: dict[str, dict[int, Doubles]]) -> tuple[Claim, ...]:
    steepest = float(-np.diff(curves["Recall"][1000]).min())
    bent = {name: {m: _bend(c) for m, c in curves[name].items()} for name in exact}
    bends = {name: [*bent[name].values()] for name in ("AP", "NDCG")}
    return (
        Claim(
            "recall, a step exactly, becomes smooth: with 1,000 samples no rank takes more than 2% of it",
            steepest < 0.02, f"the steepest takes {steepest:.1%}",
        ),
        Claim(
            "with one sample every metric is linear in the rank, as AUC is",
            all(row[1] < 1e-9 for row in bent.values()),
            f"off a straight line by {max(row[1] for row in bent.values()):.0e} at most",
        ),
        Claim(
            "the fewer samples, the nearer to a straight line AP and NDCG are",
            all(row == sorted(row) for row in bends.values()),
            "; ".join(f"{name} off by " + ", ".join(f"{bend:.2f}" for bend in row) for name, row in bends.items())
            + f" with {', '.join(map(str, SAMPLES))}",
        ),
    )  # fmt: skip


def _bend(curve: Doubles) -> float:
    """How far a curve is at most from the straight line between its ends."""
    return float(np.abs(curve - np.linspace(curve[0], curve[-1], len(curve))).max())


def _figure(name: str, exact: Doubles, sampled: dict[int, Doubles]) -> Figure:
    curves = {"exact": exact} | {f"{m} sampled": curve for m, curve in sampled.items()}
    ranks = np.unique(np.geomspace(1, SHOWN, 80).astype(int))
    return Figure(
        f"{name}, sampled, by true rank", "rank", name,
        {what: list(zip(ranks.tolist(), curve[ranks - 1].tolist(), strict=True)) for what, curve in curves.items()},
    )  # fmt: skip


EXHIBIT = Exhibit("krichene2020-figure3", "What a sampled metric measures", f"{PLACE}, Figure 3 and section 4.3", run)
