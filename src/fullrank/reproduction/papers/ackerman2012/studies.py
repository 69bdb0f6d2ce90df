"""What stands in for Ackerman's study of 100 people, which is not public: sessions to learn from and to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank.data import simulate
from fullrank.data.feedback import as_interactions
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split, folds
from fullrank.errors import DivergedError
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import Result, evaluate
from fullrank.metrics.table import parse
from fullrank.models.ratings.rsvd import RSVD
from fullrank.ranks import Ranks
from fullrank.reproduction.workspace import Workspace

MEASURES = {"pairwise_loss": "pairwise loss", "graded_ndcg": "nDCG", "edrc": "EDRC"}
METRICS = [parse(name) for name in MEASURES]
WORLDS = 2
EXACT_TIMES = 3000  # users of MovieLens 1M, rebuilt, below this number have exact times

Folds = list[Split[Any]]


def small(workspace: Workspace) -> Folds:
    """Simulated at the size of the study, twice: 100 people, five sessions, six of 25 items in each."""

    def run() -> Folds:
        settings: dict[str, Any] = {"sessions": (5, 5), "offers": (6, 6), "idle": 0.0, "skew": 0.0}
        worlds = [simulate.sessions(100, 25, **settings, seed=seed).data for seed in range(WORLDS)]
        return [split for world in worlds for split in folds(world, 5)]

    return workspace.once("ackerman2012 small sessions", run)


def simulated(workspace: Workspace) -> Folds:
    """500 people, 5 to 15 sessions of 4 to 10 offers: shown, clicked or bought by value in context with noise."""
    return workspace.once("ackerman2012 sessions", lambda: list(folds(simulate.sessions().data, 5)))


def sushi(workspace: Workspace) -> Folds:
    """Orders of ten kinds of sushi as two sessions of five, one to learn from and one to be asked about, and back."""
    return workspace.once("ackerman2012 sushi", lambda: list(folds(in_fives(workspace.data("sushi")), 2)))


def movielens(workspace: Workspace) -> Folds:
    """What people rated within a minute each as a session, with ratings as classes."""
    return workspace.once("ackerman2012 pages", lambda: list(folds(pages(workspace.data("ml-1m")), 5)))


def in_fives(orders: Graded) -> Graded:
    """Every order of ten as two sessions of five, each with an order of its own."""
    rng = np.random.default_rng(0)
    half = np.concatenate([rng.permutation(np.repeat([0, 1], 5)) for _ in range(len(orders))])
    session = 2 * orders.case + half
    order = np.lexsort((orders.grade, session))
    grade = np.empty(len(order))
    grade[order] = np.tile(np.arange(5), len(order) // 5)
    return Graded.of(session, orders.items.names[orders.item], grade, user=orders.user[orders.case])


def pages(ratings: Interactions) -> Graded:
    """What people rated without a pause of more than a minute, of those whose times are exact."""
    return ratings.where(ratings.users.names[ratings.user] < EXACT_TIMES).sessions(pause=60)


def only_best(sessions: Graded) -> Graded:
    """All that is known of a session is what was best in it, as CCF takes it."""
    best = np.full(len(sessions), -np.inf)
    np.maximum.at(best, sessions.case, sessions.grade)
    return replace(sessions, grade=(sessions.grade == best[sessions.case]).astype(np.float32), scale=None)


def result(recipe: Any, splits: Sequence[Split[Any]], *, best: bool) -> Result:
    """All folds as one result; people are drawn with all their sessions."""
    parts = []
    for split in splits:
        train = only_best(split.train) if best else split.train
        model = recipe.fit(as_interactions(train) if isinstance(recipe, RSVD) else train)
        parts.append(rank(model, split.held_out.where(split.held_out.count_pairs() > 0), relevant=-1))
    return evaluate(Ranks.concat(parts), METRICS)


def means(one: Result) -> dict[str, float]:
    """Means, as they are kept."""
    return {name: float(value) for name, value in one.mean().items()}


def unless_it_runs_away(recipe: Any, splits: Sequence[Split[Any]], *, best: bool) -> dict[str, float] | None:
    """Means, or None where a descent went beyond all bounds, as the thesis saw it go."""
    try:
        return means(result(recipe, splits, best=best))
    except DivergedError:
        return None
