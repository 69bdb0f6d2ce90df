"""Figure 3: the whole TOPK curve, with and without missing ratings."""

from __future__ import annotations

import numpy as np

from fullrank.evaluation.rank import rank
from fullrank.metrics.relevance import topk_curve
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings
from fullrank.reproduction.papers.steck2010.protocol import (
    MOVIELENS,
    NETFLIX,
    PLACE,
    RELEVANT,
    STANDS_IN,
    name_of,
    split,
)
from fullrank.reproduction.papers.steck2010.table3 import recipes
from fullrank.reproduction.workspace import Workspace

FINE = np.linspace(0, 0.02, 41)
SHARES = np.concatenate([FINE, np.linspace(0.03, 1, 98)])
LINES = ("AllRank-Regression", "observed only")


def curve(workspace: Workspace, name: str, line: str) -> list[float]:
    """TOPK over pairs among all items."""

    def run() -> list[float]:
        parts = split(workspace, name)
        ranks = rank(recipes(name)[line].fit(parts.train), parts, relevant=RELEVANT, exclude=None)
        curves: list[float] = topk_curve(ranks, SHARES, weight=np.diff(ranks.start))[1].tolist()
        return curves

    return workspace.step(f"steck2010/{name}-curve/{line}", run)


def run(workspace: Workspace) -> Findings:
    """Two curves, and how far apart they are."""
    name = name_of(workspace)
    curves = {line: np.array(curve(workspace, name, line)) for line in LINES}
    lead, early = curves[LINES[0]] - curves[LINES[1]], curves[LINES[1]] < 0.99
    at = int(np.argmin(np.where(early, lead, np.inf)))
    lines = {line: list(zip(SHARES.tolist(), values.tolist(), strict=True)) for line, values in curves.items()}
    zoomed = {line: points[: len(FINE)] for line, points in lines.items()}
    with_them, without = (float(curves[line][: len(FINE)].mean()) for line in LINES)
    return Findings(
        claims=(
            Claim("counting missing ratings is better for every k, until 99% are found", bool((lead[early] > 0).all()),
                  f"least at {SHARES[at]:.3f}, by {lead[at]:.4f}; after that by {lead[~early].min():.4f} or more"),
            Claim("by a third or more in the top 2%", with_them > 4 / 3 * without,
                  f"{with_them:.3f} against {without:.3f}, the mean TOPK up to there"),
        ),
        figures=(
            Figure("All of the catalogue", "k, a share of all items", "TOPK", lines),
            Figure("The top 2%", "k, a share of all items", "TOPK", zoomed),
        ),
    )  # fmt: skip


EXHIBIT = Exhibit("steck2010-figure3", "The TOPK curve", f"{PLACE}, Figure 3", run, (MOVIELENS,), NETFLIX, STANDS_IN)
