"""Table 1: all losses on one model, MovieLens."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fullrank.data.split import Split, holdout, repetitions
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.metrics.relevance import auc, ndcg, recall
from fullrank.models.asymmetric.gaussian import GaussianRank
from fullrank.models.asymmetric.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.workspace import Workspace

MEASURES = [recall @ 1, recall @ 5, recall @ 10, recall @ 30, ndcg, auc]
TIMES = 5
DATA, BETTER = "ml-1m", "ml-10m"
ROWS: dict[str, Any] = {
    "AUC pointwise": GaussianRank(),
    "AUC probit(w)": GaussianRank(activation="probit", width=3.0, prior=1.0),
    "AUC logistic(w)": GaussianRank(width=3.0, prior=1.0),
    "AUC rankSE(w)": GaussianRank(activation="rankSE", width=3.0, prior=1.0),
    "nDCG listwise": GaussianRank(loss="ndcg", listwise=True, width=1.5),
    "AUC listwise": GaussianRank(listwise=True),
    "squared error": SquaredNegatives(),
    "BPR": HistoryBPR(),
    "softmax": SoftmaxNegatives(),
}
HEAVY = ("AUC probit(w)", "AUC logistic(w)", "AUC rankSE(w)", "nDCG listwise")
HEAD = ("recall@1", "recall@5", "recall@10")


def split(workspace: Workspace, name: str, number: int) -> Split[Any]:
    """One of the repetitions: ratings from 3 on are plays, 5% of everybody's are held out."""
    parts: list[Split[Any]] = workspace.once(
        f"steck2015 {name}",
        lambda: list(repetitions(partial(holdout, workspace.data(name).relevant(3), 0.05), TIMES, seed=4)),
    )
    return parts[number]


def measure_row(workspace: Workspace, name: str, row: str) -> dict[str, float]:
    """Means over the repetitions."""

    def run(number: int) -> dict[str, float]:
        parts = split(workspace, name, number)
        return evaluate(rank(ROWS[row].fit(parts.train), parts), MEASURES).mean()

    rows = [workspace.step(f"steck2015/{name}/{row}-{number}", partial(run, number)) for number in range(TIMES)]
    return {measure: float(np.mean([one[measure] for one in rows])) for measure in rows[0]}


def run(workspace: Workspace) -> Findings:
    """Who is best where."""
    name = BETTER if workspace.has(BETTER) else DATA
    results = {row: measure_row(workspace, name, row) for row in ROWS}
    numbers = [
        Number(row, measure, None, value) for row, values in results.items() for measure, value in values.items()
    ]
    others = [row for row in ROWS if row not in HEAVY]
    claims = []
    for measure in HEAD:
        best = max(HEAVY, key=lambda row: results[row][measure])
        second = max(others, key=lambda row: results[row][measure])
        seen = f"{best} {results[best][measure]:.4f}, of the others {second} {results[second][measure]:.4f}"
        ahead = results[best][measure] > results[second][measure]
        claims.append(Claim(f"a wide activation or listwise nDCG is best by {measure}", ahead, seen))
        between = results["BPR"][measure] < results["softmax"][measure] < results[best][measure]
        claims.append(
            Claim(f"softmax is between BPR and these by {measure}", between, f"{results['softmax'][measure]:.4f}")
        )
    areas = {row: values["auc"] for row, values in results.items()}
    widest, lowest = min(areas["AUC listwise"], areas["BPR"]), min(areas, key=lambda row: areas[row])
    below = all(areas[row] < widest for row in (*HEAVY, "squared error"))
    claims.append(
        Claim("listwise AUC and BPR have a higher AUC than all that look at the head", below, f"{widest:.4f} or more")
    )
    claims.append(
        Claim("listwise nDCG has the lowest AUC", lowest == "nDCG listwise", f"{areas[lowest]:.3f} ({lowest})")
    )
    return Findings(tuple(numbers), tuple(claims))


EXHIBIT = Exhibit(
    "steck2015-table1", "Losses on an asymmetric factorisation", "Steck 2015, Table 1", run, (DATA,), BETTER,
    "The paper uses MovieLens 10M; here MovieLens 1M, ratings from 3 on as plays, 5% of everybody's held out, five "
    "times. The figures of the table are lost in the text we have, its order is told.",
)  # fmt: skip
