"""Ackerman 2012, Table 5.1: expected discounted rank correlation by hand."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Doubles
from fullrank.data.graded import Graded
from fullrank.metrics import edrc
from fullrank.metrics.partial_order import tau_ap
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.workspace import Workspace

TRUTH = [("A", "C"), ("A", "D"), ("A", "E"), ("B", "D"), ("B", "E"), ("C", "D")]
PREDICTED = [("C", "A"), ("C", "B"), ("C", "D"), ("A", "E"), ("B", "E"), ("D", "E")]
RANKS = dict(zip("ABCDE", (1, 1, 2, 3, 2), strict=True))
SCORES = {3: ("C(D)", 2.5, 4), 2: ("C(C) + C(E)", 4.0, 7)}  # by rank: whose, their sum, and how many it is of at most


def run(workspace: Workspace) -> Findings:
    """B before E is missing from the printed truth but used in the calculation."""
    printed = edrc.edrc_of_edges([edge for edge in TRUTH if edge != ("B", "E")], PREDICTED)
    numbers = [
        Number("EDRC", "linear discount", round(5 / 29, 4), edrc.edrc_of_edges(TRUTH, PREDICTED), digits=4),
        Number("EDRC, truth as printed", "linear discount", round(5 / 29, 4), printed, None, 4),
    ]
    names, below = edrc._graph(TRUTH, None)
    ranks = dict(zip(names, edrc._topological(below)[1], strict=True))
    numbers += [Number(item, "rank", published, ranks[item], digits=0) for item, published in RANKS.items()]
    numbers += [
        Number(name, "score", published, _score(rank, most)) for rank, (name, published, most) in SCORES.items()
    ]
    two = abs(29 * printed - 2) < 1e-9
    claim = Claim("without B before E the definition gives 2/29", two, f"{29 * printed:.3f}/29")
    return Findings(tuple(numbers), (claim, _as_ap_correlation()))


def _score(rank: int, most: int) -> float:
    """C of the items of one rank: EDRC with a discount that leaves out all others, as a share of what they can have."""

    def only(ranks: Doubles) -> Doubles:
        return np.where(ranks == rank, 1.0, 1e15)

    return (edrc.edrc_of_edges(TRUTH, PREDICTED, discount=only) + 1) / 2 * most


def _as_ap_correlation() -> Claim:
    """Random total orders."""
    rng, cases, size = np.random.default_rng(0), 200, 8
    grades, scores = (rng.permuted(np.tile(np.arange(size), (cases, 1)), axis=1).reshape(-1) for _ in range(2))
    orders = Graded.of(session=np.repeat(np.arange(cases), size), item=[*range(size)] * cases, grade=grades)
    values = edrc.edrc(orders, scores, discount=lambda rank: rank - 1)
    apart = float(np.abs(values - tau_ap(orders, scores, along="truth")).max())
    return Claim(
        "between total orders and with the discount R - 1 it is AP correlation, with the places of the truth",
        apart < 1e-9, f"apart by {apart:.0e} at most in {cases} random orders of {size} items",
    )  # fmt: skip


EXHIBIT = Exhibit(
    "ackerman2012-table5.1", "EDRC by hand", "Ackerman 2012, Table 5.1, Eq. 5.1 and 5.4", run,
    why="Table 5.1 prints no B before E, which the calculation has; Algorithm 2 starts sources at 2, its example at 1.",
)  # fmt: skip
