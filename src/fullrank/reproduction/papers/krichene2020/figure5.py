"""Krichene and Rendle 2020, Figure 5: where X, Y and Z put what was held out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fullrank.arrays import Ints
from fullrank.evaluation.analysis import histogram
from fullrank.ranks import Ranks
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import DATA, PLACE, ranks
from fullrank.reproduction.workspace import Workspace

BUCKETS = 10  # each so many times as wide as the one before
TOP_100, WORST, BOTTOM = 2310, 1600, 300  # of X; of Z "over"; of X "less than" (section 6.1)


def run(workspace: Workspace) -> Findings:
    """Counts by bucket; an item in a tie counts in parts for all places that it may have."""
    ranked = ranks(workspace)
    edges = _edges(max(int(one.candidates.max()) for one in ranked.values()))
    counts = {name: histogram(one, edges).counts for name, one in ranked.items()}
    names = [f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(edges)]
    bars = {name: list(zip(names, row.tolist(), strict=True)) for name, row in counts.items()}
    last = {name: float(row[-1]) for name, row in counts.items()}
    numbers = (
        Number("X", "top 100", TOP_100, _top(ranked["X"], 100), 0.005 * len(ranked["X"]), 0),  # X depends on its start
        Number("Z", "worst bucket", WORST, last["Z"], None, 0),
    )
    return Findings(
        numbers, _claims(ranked, last), (Figure("Held-out items by rank", "rank", "users", {**bars}),)
    )  # fmt: skip


def _claims(ranked: dict[str, Ranks], last: dict[str, float]) -> tuple[Claim, ...]:
    ten = {name: _top(one, 10) for name, one in ranked.items()}
    mean = {name: float(one.positions().mean()) for name, one in ranked.items()}
    low = int((ranked["X"].positions() > ranked["X"].candidates / 2).sum())
    return (
        Claim("X has less than 300 in the bottom half", low < BOTTOM, f"{low}"),
        Claim(
            "Z is the best in the top 10, then Y, then X",
            ten["Z"] > ten["Y"] > ten["X"], ", ".join(f"{name} {ten[name]:.0f}" for name in "ZYX"),
        ),
        Claim(
            "Z has far more in the worst bucket than the others: twice Y's and more",
            last["Z"] > 2 * max(last["X"], last["Y"]),
            ", ".join(f"{name} {last[name]:.0f}" for name in "ZYX"),
        ),
        Claim(
            "overall Y ranks worse than X, and Z worse than Y",
            mean["X"] < mean["Y"] < mean["Z"], "mean ranks " + ", ".join(f"{n} {m:.0f}" for n, m in mean.items()),
        ),
    )  # fmt: skip


def _top(ranked: Ranks, k: int) -> float:
    """How many are among the first k."""
    return float(histogram(ranked, [1, k + 1]).counts[0])


def _edges(most: int) -> Ints:
    """From rank 1 to the last, in equal steps of its logarithm."""
    return np.unique(np.append(np.geomspace(1, most, BUCKETS + 1)[:-1].round(), most + 1).astype(np.int64))


EXHIBIT = Exhibit(
    "krichene2020-figure5", "Where three recommenders put what was held out", f"{PLACE}, Figure 5 and section 6.1",
    run, (DATA,),
    why="The paper does not print the edges of its buckets, nor how it broke ties: many of Z's items are tied with all "
    "that have the score 0. Here they count in parts for every place they may have. X depends on its start.",
)  # fmt: skip
