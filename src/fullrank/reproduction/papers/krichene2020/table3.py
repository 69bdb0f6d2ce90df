"""Krichene and Rendle 2020, Table 3: X, Y and Z on MovieLens 1M, exact, sampled and corrected; percent."""

from __future__ import annotations

from typing import Any

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import DATA, METHODS, PLACE, REAL, RECIPES, samplings
from fullrank.reproduction.workspace import Workspace

COLUMNS = ("exact", *METHODS)
CORRECTED = COLUMNS[2:]
PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {  # means, in the order of the columns
    "Recall": {
        "X": (7.60, 66.19, 17.46, 8.52, 4.71, 6.49, 7.18, 7.32),
        "Y": (8.84, 56.51, 17.26, 8.42, 4.60, 6.95, 8.18, 8.54),
        "Z": (9.42, 54.20, 18.67, 9.10, 4.97, 7.44, 8.63, 9.08),
    },
    "NDCG": {
        "X": (3.76, 39.21, 17.46, 3.99, 2.16, 3.00, 3.34, 3.41),
        "Y": (4.59, 34.82, 17.26, 3.94, 2.12, 3.24, 3.85, 4.03),
        "Z": (4.79, 35.34, 18.67, 4.27, 2.29, 3.46, 4.05, 4.31),
    },
    "AP": {
        "X": (3.75, 32.55, 18.12, 3.58, 2.44, 3.13, 3.37, 3.42),
        "Y": (4.32, 30.01, 17.81, 3.54, 2.32, 3.19, 3.62, 3.73),
        "Z": (4.44, 30.71, 19.20, 3.82, 2.45, 3.38, 3.79, 3.97),
    },
    "AUC": {
        "X": (89.13, 89.12, 89.24, 89.12, 88.36, 89.04, 89.11, 89.12),
        "Y": (85.33, 85.33, 85.48, 85.32, 84.63, 85.26, 85.32, 85.32),
        "Z": (74.73, 75.04, 75.24, 75.04, 74.51, 75.02, 75.02, 75.02),
    },
}
DEVIATIONS: dict[str, dict[str, tuple[float, ...]]] = {  # of the 100 samplings, by method
    "Recall": {
        "X": (0.25, 0.32, 0.16, 0.07, 0.25, 0.59, 1.17),
        "Y": (0.22, 0.28, 0.14, 0.07, 0.21, 0.51, 1.07),
        "Z": (0.22, 0.32, 0.15, 0.07, 0.24, 0.59, 1.20),
    },
    "NDCG": {
        "X": (0.20, 0.32, 0.07, 0.04, 0.12, 0.32, 0.71),
        "Y": (0.16, 0.28, 0.06, 0.03, 0.10, 0.28, 0.66),
        "Z": (0.16, 0.32, 0.07, 0.04, 0.12, 0.32, 0.74),
    },
    "AP": {
        "X": (0.21, 0.31, 0.06, 0.03, 0.09, 0.21, 0.49),
        "Y": (0.20, 0.28, 0.06, 0.03, 0.07, 0.18, 0.45),
        "Z": (0.21, 0.31, 0.06, 0.03, 0.08, 0.21, 0.51),
    },
    "AUC": {
        "X": (0.04,) * 7,
        "Y": (0.04,) * 7,
        "Z": (0.23, 0.20, 0.21, 0.23, 0.20, 0.24, 0.23),
    },
}
MEANS_APART = 4 * (2 / 100) ** 0.5  # four standard errors of the difference of two means, each of 100 samplings
APART = 4 * (2 / (2 * 99)) ** 0.5  # four standard errors of the ratio of two deviations, each from 100 samplings


def run(workspace: Workspace) -> Findings:
    """Means and deviations; the order of the models, and what corrections do to it."""
    samples = samplings(workspace)
    means = _means(samples)
    ours = {measure: {column: _row(means, measure, column) for column in COLUMNS} for measure in PUBLISHED}
    recall, top = ours["Recall"], {measure: ours[measure] for measure in PUBLISHED if measure != "AUC"}
    seen = {column: "X {:.2f}, Y {:.2f}, Z {:.2f}".format(*row) for column, row in recall.items()}
    turned = recall["uncorrected"] == sorted(recall["uncorrected"], reverse=True)
    claims = (
        Claim("exactly, Z is better than Y and Y than X", _rising(recall["exact"]), seen["exact"]),
        Claim("sampled, the order by recall is the other way round", turned, seen["uncorrected"]),
        Claim("corrected by BV 0.1 it is right again", _rising(recall["BV 0.1"]), seen["BV 0.1"]),
        *_more(top),
    )
    return Findings((*means, *_deviations(samples)), claims)


def _more(top: dict[str, dict[str, list[float]]]) -> tuple[Claim, ...]:
    """What section 6 says of recall, NDCG and AP alike."""
    rows = [row for columns in top.values() for column, row in columns.items() if column in CORRECTED]
    low = [row for columns in top.values() for column, row in columns.items() if column in CORRECTED[-3:]]
    fooled = [measure for measure, columns in top.items() if max(columns["uncorrected"]) == columns["uncorrected"][0]]
    nearer = [
        abs(mean - exact) < abs(raw - exact)
        for columns in top.values()
        for column in CORRECTED
        for mean, raw, exact in zip(columns[column], columns["uncorrected"], columns["exact"], strict=True)
    ]
    first, right = sum(max(row) == row[2] for row in rows), sum(map(_rising, low))
    return (
        Claim("sampled, X seems the best by recall, NDCG and AP", len(fooled) == len(top), ", ".join(fooled)),
        Claim("corrected values are nearer to exact ones", all(nearer), f"{sum(nearer)} of {len(nearer)}"),
        Claim("every correction puts Z first", first == len(rows), f"{first} of {len(rows)}"),
        Claim("BV 0.1, 0.01 and 0.001 have all three in order", right == len(low), f"{right} of {len(low)}"),
    )


def _row(numbers: list[Number], measure: str, column: str) -> list[float]:
    return [n.ours for name in RECIPES for n in numbers if (n.row, n.column) == (f"{measure}, {name}", column)]


def _rising(row: list[float]) -> bool:
    return row == sorted(row)


def _means(samples: dict[str, Any]) -> list[Number]:
    """Exact ones to the digit, means of samplings as near as their errors allow, where the models are the same.

    X depends on its start, and AUC on ties and on how its corrections were rounded: these may be further apart.
    """
    numbers = []
    for m, (measure, rows) in enumerate(PUBLISHED.items()):
        for n, (name, published) in enumerate(rows.items()):
            ours = [samples["exact"][m][0][n], *(row[n] for row in samples["mean"][m])]
            apart = 0.5 if name == "X" or measure == "AUC" else 0.0
            errors = (0.0, *(MEANS_APART * deviation for deviation in DEVIATIONS[measure][name]))
            for column, theirs, mean, error in zip(COLUMNS, published, ours, errors, strict=True):
                numbers.append(Number(f"{measure}, {name}", column, theirs, mean, apart + error, 2))
    return numbers


def _deviations(samples: dict[str, Any]) -> list[Number]:
    """Near as deviations of 100 samplings can be, once rounded; Z's AUC hangs on how ties were broken: not judged."""
    numbers = []
    for m, measure in enumerate(REAL):
        for n, name in enumerate(RECIPES):
            judged = (measure, name) != ("AUC", "Z")
            for place, column in enumerate(METHODS):
                published, ours = DEVIATIONS[measure][name][place], samples["deviation"][m][place][n]
                within = APART * published + 0.005 if judged else None
                numbers.append(Number(f"{measure}, {name}, deviation", column, published, ours, within, 2))
    return numbers


EXHIBIT = Exhibit(
    "krichene2020-table3", "X, Y and Z, exact, sampled and corrected", f"{PLACE}, Table 3", run, (DATA,),
    why="X depends on its start; most scores of Z are tied at 0, and the paper does not tell how it broke ties: ours "
    "are means over all ways to, which also makes Z's AUC vary less from sampling to sampling.",
)  # fmt: skip
