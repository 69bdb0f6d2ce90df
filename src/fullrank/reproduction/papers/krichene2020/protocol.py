"""What the tables and figures share: the toy example, three recommenders on MovieLens 1M, samplings of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.evaluation.consistency import consistency
from fullrank.evaluation.methods import Method, bias_variance, constrained, rank_estimate
from fullrank.evaluation.rank import rank
from fullrank.metrics.metric import Metric
from fullrank.metrics.relevance import ap, auc, ndcg, recall
from fullrank.models.least_squares.ials import IALS
from fullrank.models.neighbours.itemcf import KRICHENE_Y, KRICHENE_Z
from fullrank.ranks import Ranks
from fullrank.reproduction.workspace import Workspace

PLACE = "Krichene and Rendle 2020"
DATA = "ncf-ml-1m"  # the split of MovieLens 1M that the paper took over
ITEMS = 10_000  # of the toy example, and of Figures 1, 3 and 4
TOY = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}
MEASURES: dict[str, Metric] = {"AUC": auc, "AP": ap, "NDCG": ndcg, "Recall": recall @ 10}

DRAWN, REPEATS = 100, 100  # items sampled for everybody, and how often (section 6)
REAL: dict[str, Metric] = {"Recall": recall @ 10, "NDCG": ndcg @ 10, "AP": ap, "AUC": auc}
RECIPES: dict[str, Any] = {
    "X": IALS(factors=16, missing_weight=0.2, reg=10, frequency=0, sweeps=16),
    "Y": KRICHENE_Y,
    "Z": KRICHENE_Z,
}
METHODS: dict[str, Method | None] = {
    "uncorrected": None, "rank estimate": rank_estimate(), "CLS": constrained(), "BV 1": bias_variance(1.0),
    "BV 0.1": bias_variance(0.1), "BV 0.01": bias_variance(0.01), "BV 0.001": bias_variance(0.001),
}  # fmt: skip


def toy(name: str) -> Ranks:
    """Five cases of one relevant item among 10,000 (section 3.2)."""
    return Ranks(start=np.arange(6), above=np.array(TOY[name]) - 1, tied=np.zeros(5, int), pool=np.full(5, ITEMS - 1))


def ranks(workspace: Workspace) -> dict[str, Ranks]:
    """X, Y and Z on the last event of everybody in MovieLens 1M, among all they had not met (section 6)."""

    def run() -> dict[str, Ranks]:
        return {name: rank(model, workspace.data(DATA)) for name, model in models(workspace).items()}

    return workspace.once("krichene2020 ranks", run)


def models(workspace: Workspace) -> dict[str, Any]:
    """X, Y and Z, fitted to all but the last event of everybody."""

    def run() -> dict[str, Any]:
        return {name: recipe.fit(workspace.data(DATA).train) for name, recipe in RECIPES.items()}

    return workspace.once("krichene2020 models", run)


def samplings(workspace: Workspace) -> dict[str, Any]:
    """Exact values, means and deviations by measure, method and model; agreement by measure, method and pair.

    All in percent, of 100 samplings of 100 items, which are the same for all models.
    """

    def run() -> dict[str, Any]:
        methods = list(METHODS.values())
        given = models(workspace), workspace.data(DATA), list(REAL.values())
        outcome = consistency(*given, DRAWN, methods=methods, repeats=REPEATS)
        parts = {
            "exact": outcome.exact,
            "mean": outcome.sampled.mean(axis=0),
            "deviation": outcome.sampled.std(axis=0, ddof=1),
            "agreement": outcome.agreement(),
        }
        return {name: (100 * part).reshape(len(REAL), len(METHODS), -1).tolist() for name, part in parts.items()}

    return workspace.step("krichene2020/shared-samplings-of-100", run)
