"""S2's comparison of models of sessions, on three stand-ins for its study: simulated, sushi orders, MovieLens by time.

The parameters were chosen on a part of the first fold's training data (sushi: on another cut), one model at a time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank import CCF, RSVD, Graded, Interactions, OpportunityCost, Result, SessionCost, Split
from fullrank.metrics.table import parse
from fullrank.ranks import Ranks

METRICS = [parse(name) for name in ("pairwise_loss", "graded_ndcg", "edrc")]


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
    """What people rated within a minute each, of those whose times are exact."""
    exact = ratings.users.names[ratings.user] < 3000
    return ratings.where(exact).sessions(pause=60)


def only_best(sessions: Graded) -> Graded:
    """All that is known of a session is what was best in it, as CCF takes it."""
    best = np.full(len(sessions), -np.inf)
    np.maximum.at(best, sessions.case, sessions.grade)
    return replace(sessions, grade=(sessions.grade == best[sessions.case]).astype(np.float32), scale=None)


def measured(recipe: Any, splits: list[Split[Graded]], *, best: bool) -> Result:
    """All folds as one result; people are drawn with all their sessions."""
    parts = []
    for split in splits:
        train = only_best(split.train) if best else split.train
        model = recipe.fit(train.interactions() if isinstance(recipe, RSVD) else train)
        held_out = split.held_out.where(split.held_out.count_pairs() > 0)
        parts.append(fullrank.rank(model, held_out, relevant=-1))
    return fullrank.evaluate(Ranks.concat(parts), METRICS)


def compared(recipes: dict[str, Any], splits: list[Split[Graded]], *, best: bool = False) -> dict[str, Result]:
    """A result for every recipe, and a row of the table in docs/preferences.md."""
    found = {name: measured(recipe, splits, best=best) for name, recipe in recipes.items()}
    for name, result in found.items():
        intervals = result.interval()
        row = (f"{m:.3f} ({intervals[n][0]:.3f}-{intervals[n][1]:.3f})" for n, m in result.mean().items())
        print(name, *row, sep=" | ")
    return found


def certainly(found: dict[str, Result], better: str, worse: str) -> bool:
    """Whether the pairwise loss of one is lower, by an interval over people."""
    return found[better].versus(found[worse])["pairwise_loss"].high < 0


@pytest.mark.papers
def test_simulated_sessions() -> None:
    recipes = {
        "classes": SessionCost(), "items": SessionCost(targets="items"), "silent": SessionCost(silent="negative"),
        "heaviside": SessionCost(5, rate=0.003, decay=1.0, reg=0.02, targets="heaviside"),
        "CCF": CCF(), "pairs": OpportunityCost(20), "RSVD": RSVD(50, reg=0.03),
    }  # fmt: skip
    splits = list(fullrank.folds(fullrank.simulate.sessions().data, 5))
    found = compared(recipes, splits)
    for name in ("classes", "items", "pairs", "RSVD"):
        assert certainly(found, name, "CCF")
        assert certainly(found, name, "heaviside")
    assert certainly(found, "silent", "classes")
    assert not certainly(found, "classes", "pairs")
    recipes |= {"pairs": OpportunityCost(10, reg=0.06), "RSVD": RSVD(50, reg=0.06)}
    recipes.pop("silent")  # where only the best is known, nobody was silent
    found = compared(recipes, splits, best=True)
    for name in ("classes", "items", "pairs"):
        assert certainly(found, name, "CCF")
    assert certainly(found, "CCF", "RSVD")


@pytest.mark.papers
def test_some_are_shown_mostly_good_and_others_mostly_bad_items() -> None:
    """An action is as good as another in whatever session: relative targets throw that away, silence tells some."""
    recipes = {
        "classes": SessionCost(), "silent": SessionCost(silent="negative"), "pairs": OpportunityCost(20),
        "RSVD": RSVD(50, reg=0.03),
    }  # fmt: skip
    found = compared(recipes, list(fullrank.folds(fullrank.simulate.sessions(lean=2.0).data, 5)))
    assert certainly(found, "silent", "classes")
    for name in ("classes", "silent", "pairs"):
        assert certainly(found, "RSVD", name)


@pytest.mark.papers
def test_sushi_orders(shared_data: Path) -> None:
    recipes = {
        "classes": SessionCost(rate=0.03, reg=0.03), "items": SessionCost(rate=0.03, reg=0.03, targets="items"),
        "heaviside": SessionCost(5, rate=0.001, decay=1.0, reg=0.5, targets="heaviside"),
        "CCF": CCF(rate=0.03, decay=0.95, reg=0.2), "pairs": OpportunityCost(20, reg=0.1), "RSVD": RSVD(20, reg=0.2),
    }  # fmt: skip
    splits = list(fullrank.folds(in_fives(fullrank.sources.load(shared_data / "sushi").data), 2))
    found = compared(recipes, splits)
    for name in ("classes", "items", "pairs"):
        assert certainly(found, name, "CCF")
        assert certainly(found, name, "RSVD")
    assert all(certainly(found, name, "heaviside") for name in found.keys() - {"heaviside"})
    found = compared(recipes | {"pairs": OpportunityCost(20, reg=0.3), "RSVD": RSVD(5, reg=0.1)}, splits, best=True)
    for name in ("classes", "items", "pairs"):
        assert not certainly(found, name, "CCF")


@pytest.mark.papers
def test_movielens_by_time(shared_data: Path) -> None:
    recipes = {
        "classes": SessionCost(10, rate=0.02, reg=0.003),
        "items": SessionCost(10, rate=0.02, reg=0.003, targets="items"),
        "heaviside": SessionCost(5, rate=1e-5, decay=1.0, reg=10, targets="heaviside"),
        "CCF": CCF(5, decay=0.95), "pairs": OpportunityCost(50, reg=0.03), "RSVD": RSVD(50, reg=0.1),
    }  # fmt: skip
    splits = list(fullrank.folds(pages(fullrank.sources.load(shared_data / "ml-1m").data), 5))
    found = compared(recipes, splits)
    for better, worse in (("RSVD", "pairs"), ("pairs", "classes"), ("classes", "CCF"), ("CCF", "heaviside")):
        assert certainly(found, better, worse)
    recipes |= {"pairs": OpportunityCost(50, reg=0.06), "RSVD": RSVD(20, reg=0.06)}
    found = compared(recipes, splits, best=True)
    for name in ("classes", "items", "pairs"):
        assert certainly(found, name, "CCF")
    assert certainly(found, "pairs", "RSVD")
