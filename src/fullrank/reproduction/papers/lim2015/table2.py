"""Table 2: from the test part to the validation part, which has half as many relevant items."""

from __future__ import annotations

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.papers.lim2015.protocol import LIKE, PLACE, STANDS_IN, STUDIES, mean, repeat
from fullrank.reproduction.papers.lim2015.table1 import NAMES
from fullrank.reproduction.workspace import Workspace

PUBLISHED: dict[str, dict[str, float]] = {  # change in percent
    "MF-AUC": {"atop": -0.06, "adg": -0.29, "recall@10": 0.0, "ap": -24.38, "ndcg": -20.47},
    "MF-ADG": {"atop": -0.05, "adg": 0.0, "recall@10": 0.49, "ap": -23.43, "ndcg": -20.42},
}
WITHIN = {"atop": 1.0, "adg": 1.0, "recall@10": 4.0, "ap": 10.0, "ndcg": 10.0}


def changes(workspace: Workspace, study: str, model: str) -> dict[str, float]:
    """In percent, from the test part to the validation part."""
    rows = repeat(workspace, study, model)
    return {name: 100 * (mean(rows, "valid", name) / mean(rows, "held_out", name) - 1) for name in WITHIN}


def run(workspace: Workspace) -> Findings:
    """What does not depend on how much is missing agrees, the rest does not."""
    numbers, claims = [], []
    for study in STUDIES:
        for model, published in PUBLISHED.items():
            change = changes(workspace, study, model)
            same = study == LIKE  # the others are not in the table
            for name, within in WITHIN.items():
                row, column = f"{NAMES[name]}, change in percent", f"{study}, {model}"
                numbers.append(Number(row, column, published[name] if same else None, change[name], within, 2))
            kept = max(abs(change[name]) for name in ("atop", "adg"))
            lost = max(change[name] for name in ("ap", "ndcg"))
            claims.append(
                Claim(f"{study}, {model}: MAP and nDCG fall, by more than ATOP and ADG change",
                      lost < 0 and kept < -lost, f"{lost:.2f}% against {kept:.2f}%", same)
            )  # fmt: skip
            if same:
                claims.append(Claim(f"{study}, {model}: ATOP and ADG agree within 1%", kept < 1, f"{kept:.2f}%"))
                claims.append(
                    Claim(f"{study}, {model}: MAP and nDCG fall by more than 15%", lost < -15, f"{lost:.1f}%")
                )
    return Findings(tuple(numbers), tuple(claims))


EXHIBIT = Exhibit(
    "lim2015-table2", "Which measures survive missing data", f"{PLACE}, Table 2", run,
    tuple(study.data for study in STUDIES.values()), stands_in=f"{STANDS_IN}.",
    why="The paper's numbers are of a denser part of MovieLens 10M, and of four random cuts. In Amazon Games people "
    "have one or two relevant items in either part, so there is little for a measure to depend on.",
)  # fmt: skip
