"""Ackerman 2012, chapter 6: folds, what is measured of a model, and the models with Ackerman's numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fullrank.data.graded import Graded
from fullrank.data.preferences import Preferences
from fullrank.data.split import Split, folds
from fullrank.errors import DivergedError
from fullrank.evaluation.offers import offer_scores
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.metrics.partial_order import pair_errors, preference_errors
from fullrank.metrics.table import parse
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.ratings.svdpp import SVDpp
from fullrank.reproduction.findings import Claim, Figure
from fullrank.reproduction.workspace import Workspace

PLACE = "Ackerman 2012, chapter 6"
SMALL, LARGE = "ml-100k", "ml-1m"
SOME_USERS = 1000
FACTORS = (3, 6, 12, 25, 50, 100, 200)
MEASURES = {"loss": "pairwise loss", "ndcg": "nDCG", "edrc": "EDRC"}
METRICS = [parse("graded_ndcg"), parse("edrc")]
HELD = 1.0  # regularisation of the heaviside loss, which runs away with Ackerman's
RECIPES: dict[str, Callable[[int], Any]] = {
    "RSVD": RSVD.as_funk,
    "SVD++": SVDpp.as_funk,
    "GPW-OPT": lambda k: OpportunityCost(k, reg=0.03),
    "GPW-OPT by Ackerman's descent": lambda k: OpportunityCost(k, reg=0.02, rate=0.002, solver="sgd"),
    "GPW-HVS": lambda k: OpportunityCost(k, reg=HELD, rate=0.002, solver="heaviside"),
}


def rating_folds(workspace: Workspace, name: str) -> list[Split[Any]]:
    """Five folds over ratings; preferences are made inside each."""
    return workspace.once(f"ackerman2012 folds {name}", lambda: list(folds(workspace.data(name), 5)))


def preference_folds(workspace: Workspace, name: str) -> list[Split[Any]]:
    """All preferences first, then dealt to five folds."""
    return workspace.once(
        f"ackerman2012 preference folds {name}", lambda: list(folds(dealt_ratings(workspace, name).graded().pairs(), 5))
    )


def dealt_ratings(workspace: Workspace, name: str) -> Any:
    """The ratings whose preferences are dealt: of MovieLens 1M those of some users, drawn at random."""
    data = workspace.data(name)
    if name == SMALL:
        return data
    some = np.random.default_rng(0).permutation(data.n_users)[:SOME_USERS]
    return data.where(np.isin(data.user, some))


def measure(
    recipe: Any, splits: Sequence[Split[Any]], others: Sequence[Any] = (), judged: Graded | None = None
) -> dict[str, float] | None:
    """Pooled pairwise loss, nDCG and EDRC, means over the folds; seconds to learn, and to predict what is held out.

    `others`: held-out parts of other folds, whose prediction is only timed. nDCG and EDRC are of what is held out or,
    where preferences are dealt to folds, of the ratings `judged` that they come from, as the thesis has it. None where
    the descent ran away.
    """
    rows = []
    for split in splits:
        start = time.monotonic()
        try:
            model = recipe.fit(split.train)
        except DivergedError:  # values beyond those of a float, as the thesis saw them
            return None
        seconds = time.monotonic() - start
        held_out: Any = split.held_out if isinstance(split.held_out, Preferences) else split.held_out.graded()
        quality = evaluate(rank(model, judged or held_out, relevant=-1), METRICS).mean().values()
        rows.append([loss_of(model, held_out), *quality, seconds, time_prediction(model, [held_out, *others])])
    table = np.array(rows)
    means = dict(zip(MEASURES, table[:, :3].mean(axis=0).tolist(), strict=True))
    return {**means, "learning": float(table[:, 3].sum()), "predicting": float(table[:, 4].sum())}


def loss_of(model: Any, cases: Graded | Preferences) -> float:
    """The share of all these preferences that the model has the wrong way round."""
    if isinstance(cases, Preferences):
        return preference_errors(cases, *preference_scores(model, cases)).pooled()
    return pair_errors(cases, offer_scores(model, cases)).pooled()


def preference_scores(model: Any, likes: Preferences) -> tuple[Any, Any]:
    """Of the better and of the worse items, from the scores of a block of users for all items."""
    better, worse = (np.empty(len(likes), dtype=np.float32) for _ in range(2))
    for first in range(0, len(likes.users), 500):
        users = np.arange(first, min(first + 500, len(likes.users)), dtype=np.int32)
        rows = slice(*np.searchsorted(likes.user, [first, first + 500]))
        scores, line = model.scores(users), likes.user[rows] - first
        better[rows], worse[rows] = scores[line, likes.better[rows]], scores[line, likes.worse[rows]]
    return better, worse


def time_prediction(model: Any, parts: Sequence[Any]) -> float:
    """Seconds to predict all preferences of these cases."""
    start = time.monotonic()
    for cases in parts:
        loss_of(model, cases)
    return time.monotonic() - start


def exponent(seconds: Mapping[float, float]) -> float:
    """b of seconds = a x^b, by least squares of the logarithms."""
    return float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])


def lines(results: Mapping[str, Mapping[Any, Any]], key: str) -> dict[str, list[tuple[float | str, float]]]:
    """A line for every name, with a point wherever there is a result."""
    return {name: [(x, row[key]) for x, row in rows.items() if row is not None] for name, rows in results.items()}


def curves(results: Mapping[str, Mapping[Any, Any]], x: str, of: str, keys: Mapping[str, str]) -> tuple[Figure, ...]:
    """A figure for each measure."""
    return tuple(Figure(f"{title}, {of}", x, title, lines(results, key), log="x") for key, title in keys.items())


def lead(one: Mapping[str, float], others: Sequence[Mapping[str, float]], key: str) -> float:
    """How far one is ahead of the best of the others."""
    sign = -1 if key == "loss" else 1
    return min(sign * (one[key] - other[key]) for other in others)


def ahead(results: Mapping[str, Mapping[int, Any]], key: str, data: str, *, least: int = 3, by: float = 0.0) -> Claim:
    """GPW-OPT is ahead of RSVD and SVD++ with every number of factors from `least` on that all were run with."""
    leads = {
        k: lead(row, [results[other][k] for other in ("RSVD", "SVD++")], key)
        for k, row in results["GPW-OPT"].items()
        if k >= least and k in results["SVD++"]
    }
    far = f"by more than {by:g} " if by else ""
    return Claim(
        f"{data}: GPW-OPT leads {far}by {MEASURES[key]} from {least} factors on",
        min(leads.values()) > by, ", ".join(f"{k}: {value:.3f}" for k, value in leads.items()),
    )  # fmt: skip
