"""Table 1: trained toward ADG against trained toward AUC."""

from __future__ import annotations

import numpy as np

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.papers.lim2015.protocol import (
    LIKE,
    MODELS,
    NOT_JUDGED,
    PLACE,
    STANDS_IN,
    STUDIES,
    mean,
    repeat,
)
from fullrank.reproduction.workspace import Workspace

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {  # MF-AUC, MF-ADG
    "Amazon Games": {
        "atop": (0.7584, 0.7546), "ap": (0.0104, 0.0124), "ndcg": (0.1460, 0.1501), "recall@10": (0.0170, 0.0211),
        "adg": (0.1080, 0.1110),
    },
    "last.FM": {
        "atop": (0.7490, 0.7449), "ap": (0.0242, 0.0281), "ndcg": (0.1701, 0.1750), "recall@10": (0.0473, 0.0539),
        "adg": (0.1294, 0.1332),
    },
    "MovieLens": {
        "atop": (0.8855, 0.8821), "ap": (0.0775, 0.0858), "ndcg": (0.3718, 0.3820), "recall@10": (0.0945, 0.1025),
        "adg": (0.1714, 0.1768),
    },
}  # fmt: skip
NAMES = {"atop": "ATOP", "ap": "MAP", "ndcg": "nDCG", "recall@10": "recall@10", "adg": "ADG"}


def run(workspace: Workspace) -> Findings:
    """Means over four repetitions; a lead is certain where it is beyond twice its standard error."""
    numbers, claims = [], []
    for study, rows in PUBLISHED.items():
        results = {name: repeat(workspace, study, name) for name in MODELS}
        for measure, pair in rows.items():
            for name, value in zip(MODELS, pair, strict=True):
                ours = mean(results[name], "held_out", measure)
                numbers.append(Number(NAMES[measure], f"{study}, {name}", value, ours, None, 4))
            area, gain = (np.array(results[name]["held_out"][measure]) for name in MODELS)
            less = gain - area
            lead, error = float(less.mean()), float(less.std(ddof=1) / len(less) ** 0.5)
            seen = f"{lead:+.4f}, standard error {error:.4f}"
            if measure == "atop":
                worse = Claim(
                    f"{study}: MF-ADG is slightly worse by ATOP", -0.02 < lead < 2 * error, seen, study == LIKE
                )
                claims.append(worse)
            else:
                claims.append(Claim(f"{study}: MF-ADG is better by {NAMES[measure]}", lead > 2 * error, seen))
    return Findings(tuple(numbers), tuple(claims))


EXHIBIT = Exhibit(
    "lim2015-table1", "Training toward ADG and toward AUC", f"{PLACE}, Table 1", run,
    tuple(study.data for study in STUDIES.values()), stands_in=STANDS_IN + NOT_JUDGED,
    why="Last.fm and Amazon Games here have many items with few events each. There MF-ADG, which draws until an item "
    "violates the order, is ahead by ATOP too.",
)  # fmt: skip
