"""S4: Gaussian ranking by asymmetric matrix factorisation; the figures of its table are lost, its shapes are not."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fullrank.data.split import Split, holdout, repetitions
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.experiments.exhibits import Bench, Claim, Exhibit, Found, Number
from fullrank.metrics.relevance import auc, ndcg, recall
from fullrank.models.gaussian import GaussianRank
from fullrank.models.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives

STANDS_IN = (
    "S4 uses MovieLens 10M; here MovieLens 1M, ratings from 3 on as plays, 5% of everybody's held out, five times."
)
MEASURES = [recall @ 1, recall @ 5, recall @ 10, recall @ 30, ndcg, auc]
TIMES = 5
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


def split(bench: Bench, number: int) -> Split[Any]:
    """One of the repetitions."""
    data = bench.data("ml-1m").relevant(3)
    parts: list[Split[Any]] = bench.once(
        "s4 splits", lambda: list(repetitions(partial(holdout, data, 0.05), TIMES, seed=4))
    )
    return parts[number]


def measured(bench: Bench, name: str) -> dict[str, float]:
    """Means over the repetitions."""

    def run(number: int) -> dict[str, float]:
        parts = split(bench, number)
        return evaluate(rank(ROWS[name].fit(parts.train), parts), MEASURES).mean()

    plain = "".join(c if c.isalnum() else "_" for c in name)
    rows = [bench.step(f"s4/{plain}-{number}", partial(run, number)) for number in range(TIMES)]
    return {measure: float(np.mean([row[measure] for row in rows])) for measure in rows[0]}


def table1(bench: Bench) -> Found:
    """All losses on one model."""
    found = {name: measured(bench, name) for name in ROWS}
    numbers = [
        Number(f"{name}, {measure}", None, value) for name, row in found.items() for measure, value in row.items()
    ]
    others = [name for name in ROWS if name not in HEAVY]
    claims = []
    for measure in HEAD:
        best = max(HEAVY, key=lambda name: found[name][measure])
        next_best = max(found[name][measure] for name in others)
        seen = f"{best} {found[best][measure]:.3f}, of the others at most {next_best:.3f}"
        claims.append(Claim(f"wide activations or listwise nDCG are best by {measure}", found[best][measure] > next_best, seen))  # fmt: skip # noqa: E501
    areas = {name: row["auc"] for name, row in found.items()}
    widest = min(areas["AUC listwise"], areas["BPR"])
    lowest = min(areas, key=lambda name: areas[name])
    claims += [
        Claim("listwise AUC and BPR are best by AUC among those not made for the head, softmax beside them",
              all(areas[name] < widest for name in (*HEAVY, "squared error")), f"{widest:.3f} or more"),
        Claim("listwise nDCG has the lowest AUC", lowest == "nDCG listwise", f"{areas[lowest]:.3f} ({lowest})"),
    ]  # fmt: skip
    return Found(tuple(numbers), tuple(claims))


EXHIBITS = (
    Exhibit("s4-table1", "Losses on an asymmetric factorisation", "S4, Table 1", table1, ("ml-1m",), STANDS_IN),
)
