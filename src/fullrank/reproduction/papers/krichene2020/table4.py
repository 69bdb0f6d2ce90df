"""Krichene and Rendle 2020, Table 4: how often 100 samplings order two models as the exact metric does."""

from __future__ import annotations

from itertools import combinations

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import DATA, METHODS, PLACE, REAL, RECIPES, samplings
from fullrank.reproduction.workspace import Workspace

PUBLISHED: dict[str, dict[str, tuple[int, ...]]] = {  # of 100, in the order of the methods
    "X vs Y": {
        "Recall": (0, 31, 31, 11, 93, 91, 78),
        "NDCG": (0, 31, 31, 15, 93, 88, 76),
        "AP": (0, 24, 31, 0, 68, 79, 66),
        "AUC": (100,) * 7,
    },
    "X vs Z": {
        "Recall": (0, 100, 100, 100, 100, 95, 86),
        "NDCG": (0, 100, 100, 100, 100, 95, 82),
        "AP": (0, 100, 100, 61, 99, 92, 81),
        "AUC": (100,) * 7,
    },
    "Y vs Z": {
        "Recall": (0, 100, 100, 100, 95, 72, 68),
        "NDCG": (100, 100, 100, 100, 94, 70, 67),
        "AP": (100, 100, 100, 100, 98, 75, 68),
        "AUC": (100,) * 7,
    },
}


def run(workspace: Workspace) -> Findings:
    """Counts beside each other; what the paper has 90 times or more must be there 85 times."""
    agreement = samplings(workspace)["agreement"]
    numbers, claims = [], []
    for p, pair in enumerate(f"{one} vs {two}" for one, two in combinations(RECIPES, 2)):
        for m, measure in enumerate(REAL):
            for place, method in enumerate(METHODS):
                published, seen = PUBLISHED[pair][measure][place], agreement[m][place][p]
                numbers.append(Number(f"{pair}, {measure}", method, published, seen, 15.0, 0))
                if published >= 90:
                    text = f"{pair}, {measure}, {method}: at least 85 of 100, as the paper has 90 or more"
                    claims.append(Claim(text, seen >= 85, f"{seen:g}"))
    return Findings(tuple(numbers), tuple(claims))


EXHIBIT = Exhibit(
    "krichene2020-table4", "How often samplings agree with the exact order", f"{PLACE}, Table 4", run, (DATA,),
    why="Counts of 100 samplings, of other items than the paper drew; X depends on its start.",
)  # fmt: skip
