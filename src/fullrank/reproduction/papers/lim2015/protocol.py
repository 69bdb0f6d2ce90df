"""Lim et al. 2015, section 6: 20% of everybody's relevant items for the test, 10% for validation, four times."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fullrank.data.split import Split, holdout, repetitions
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.metrics.relevance import adg, ap, atop, ndcg, recall
from fullrank.models.pairwise.mfadg import MFADG, MFAUC
from fullrank.reproduction.workspace import Workspace

PLACE = "Lim et al. 2015"
STANDS_IN = (
    "The paper uses denser parts of Amazon's reviews of games, of the Million Song data and of MovieLens 10M. Here "
    "Amazon Video Games (every review), Last.fm (artists played three times or more) and MovieLens 1M (ratings from 4 "
    "on)"
)
NOT_JUDGED = "; the published numbers are of other data, shown and not judged."
METRICS = [atop, ap, ndcg, recall @ 10, adg]
REGS = (0.05, 0.1, 0.15)
TIMES = 4
Rows = dict[str, dict[str, list[float]]]  # by part, then by measure: a value for each repetition


class Study(NamedTuple):
    """A data set, and from which value on an item is relevant (None: always)."""

    data: str
    relevant: float | None


STUDIES = {
    "Amazon Games": Study("amazon-video-games-seq", None),
    "last.FM": Study("lastfm-2k", 3),
    "MovieLens": Study("ml-1m", 4),
}
LIKE = "MovieLens"  # the study whose data is most like the paper's
MODELS: dict[str, tuple[Any, str]] = {"MF-AUC": (MFAUC(), "atop"), "MF-ADG": (MFADG(), "adg")}  # and what it is for


def splits(workspace: Workspace, study: str) -> list[Split[Any]]:
    """The repetitions."""

    def run() -> list[Split[Any]]:
        data = workspace.data(STUDIES[study].data)
        kept = data if STUDIES[study].relevant is None else data.relevant(STUDIES[study].relevant)
        return list(repetitions(partial(holdout, kept, 0.2, valid=0.1), TIMES))

    return workspace.once(f"lim2015 {study}", run)


def measure_part(model: Any, split: Split[Any], part: str) -> dict[str, float]:
    """Only training items are excluded, so that both parts meet the same candidates."""
    cases = cases_of(Split(split.train, getattr(split, part)), exclude=split.train)
    return evaluate(rank(model, cases), METRICS).mean()


def tune_reg(workspace: Workspace, study: str, name: str) -> Any:
    """The regularisation with the best validation value of what the recipe is for."""
    recipe, target = MODELS[name]
    tried = [replace(recipe, reg=reg) for reg in REGS]

    def value(one: Any) -> float:
        split = splits(workspace, study)[0]
        step = f"lim2015/{study}/tune-{name}-{one.reg}"
        return float(workspace.step(step, lambda: measure_part(one.fit(split.train), split, "valid")[target]))

    return max(tried, key=value)


def repeat(workspace: Workspace, study: str, name: str) -> Rows:
    """Test and validation values of every repetition."""
    recipe = tune_reg(workspace, study, name)

    def run() -> Rows:
        models = [recipe.fit(split.train, seed=seed) for seed, split in enumerate(splits(workspace, study))]
        both = {}
        for part in ("held_out", "valid"):
            rows = [
                measure_part(model, split, part) for model, split in zip(models, splits(workspace, study), strict=True)
            ]
            both[part] = {measure: [row[measure] for row in rows] for measure in rows[0]}
        return both

    return workspace.step(f"lim2015/{study}/{name}-{recipe.reg}", run)


def mean(rows: Rows, part: str, measure: str) -> float:
    """Over the repetitions."""
    return float(np.mean(rows[part][measure]))
