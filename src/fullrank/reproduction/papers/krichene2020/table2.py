"""Krichene and Rendle 2020, Table 2: the toy example from 99 samples."""

from __future__ import annotations

from fullrank.evaluation.analysis import expected_values
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.papers.krichene2020.protocol import MEASURES, PLACE, TOY, toy
from fullrank.reproduction.workspace import Workspace

SAMPLES, REPEATS = 99, 1000
PUBLISHED = {  # mean and standard deviation of A, B and C
    "AUC": ((0.990, 0.004), (0.555, 0.014), (0.843, 0.014)),
    "AP": ((0.630, 0.129), (0.336, 0.073), (0.325, 0.050)),
    "NDCG": ((0.724, 0.097), (0.444, 0.054), (0.460, 0.039)),
    "Recall": ((1.0, 0.0), (0.400, 0.0), (0.567, 0.092)),
}


def run(workspace: Workspace) -> Findings:
    """Expectations beside the paper's means, which may be off by four of their standard errors."""
    numbers = []
    for place, name in enumerate(TOY):
        for measure, metric in MEASURES.items():
            mean, deviation = PUBLISHED[measure][place]
            ours = float(expected_values(metric, toy(name), SAMPLES, replace=True).mean())
            numbers.append(Number(name, measure, mean, ours, 4 * deviation / REPEATS**0.5))
    by_ap = sorted(TOY, key=lambda name: -next(n.ours for n in numbers if (n.row, n.column) == (name, "AP")))
    claim = Claim("sampled AP turns the order of A, B and C around", by_ap == [*"ABC"], " > ".join(by_ap))
    return Findings(tuple(numbers), (claim,))


EXHIBIT = Exhibit(
    "krichene2020-table2", "The toy example, sampled", f"{PLACE}, Table 2", run,
    why="The paper has means of 1,000 samplings, these are expectations.",
)  # fmt: skip
