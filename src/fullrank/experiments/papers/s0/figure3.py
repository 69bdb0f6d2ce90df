"""Figure 3: the whole TOPK curve, with and without missing ratings."""

from __future__ import annotations

import numpy as np

from fullrank.evaluation.rank import rank
from fullrank.experiments.bench import Bench
from fullrank.experiments.exhibits import Claim, Exhibit, Figure, Found
from fullrank.experiments.papers.s0.protocol import MOVIELENS, NETFLIX, PLACE, RELEVANT, STANDS_IN, name_of, split
from fullrank.experiments.papers.s0.table3 import recipes
from fullrank.metrics.relevance import topk_curve

FINE = np.linspace(0, 0.02, 41)
SHARES = np.concatenate([FINE, np.linspace(0.03, 1, 98)])
LINES = ("AllRank-Regression", "observed only")


def curve(bench: Bench, name: str, line: str) -> list[float]:
    """TOPK over pairs among all items."""

    def run() -> list[float]:
        parts = split(bench, name)
        ranks = rank(recipes(name)[line].fit(parts.train), parts, relevant=RELEVANT, exclude=None)
        found: list[float] = topk_curve(ranks, SHARES, weight=np.diff(ranks.start))[1].tolist()
        return found

    kept: list[float] = bench.step(f"s0/{name}-curve/{line}", run)
    return kept


def run(bench: Bench) -> Found:
    """Two curves, and how far apart they are."""
    name = name_of(bench)
    found = {line: np.array(curve(bench, name, line)) for line in LINES}
    lead, early = found[LINES[0]] - found[LINES[1]], found[LINES[1]] < 0.99
    at = int(np.argmin(np.where(early, lead, np.inf)))
    lines = {line: list(zip(SHARES.tolist(), values.tolist(), strict=True)) for line, values in found.items()}
    zoomed = {line: points[: len(FINE)] for line, points in lines.items()}
    with_them, without = (float(found[line][: len(FINE)].mean()) for line in LINES)
    return Found(
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


EXHIBIT = Exhibit("s0-figure3", "The TOPK curve", f"{PLACE}, Figure 3", run, (MOVIELENS,), NETFLIX, STANDS_IN)
