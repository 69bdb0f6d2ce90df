"""Steck 2010, section 6: what is held out, what is measured, and the parameters that are varied."""

from __future__ import annotations

from functools import partial
from typing import Any

from fullrank.data.split import Split, halved, leave_last
from fullrank.evaluation.candidates import Sampled
from fullrank.evaluation.offers import offer_scores
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.metrics.ratings import rmse
from fullrank.metrics.relevance import atop, topk
from fullrank.models.least_squares.allrank import AllRank
from fullrank.reproduction.workspace import Workspace

PLACE = "Steck 2010"
NETFLIX, MOVIELENS = "netflix-probe", "ml-1m"
STANDS_IN = (
    "The paper uses the Netflix Prize data; here MovieLens 1M, the last five ratings of everybody held out. The "
    "published numbers are of other data: they are shown beside ours and not judged, the statements are."
)
RELEVANT = 5
SAMPLED = Sampled(1000, per="pair")  # the paper estimates TOPK among 1,001 items
SHARES = {"TOPK(0%)": 0.0, "TOPK(0.2%)": 0.002, "TOPK(2%)": 0.02}
VALUES = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.6, 4.0, 5.0)  # imputed for missing ratings, r_m
WEIGHTS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0)  # of missing ratings, w_m
REGS = (0.03, 0.05)


def name_of(workspace: Workspace) -> str:
    """Netflix where it is there, else MovieLens 1M."""
    return NETFLIX if workspace.has(NETFLIX) else MOVIELENS


def split(workspace: Workspace, name: str) -> Split[Any]:
    """What is held out, half of it for validation (XV); all titles are candidates, rated or not."""

    def run() -> Split[Any]:
        return halved(workspace.data(name) if name == NETFLIX else leave_last(workspace.data(name, catalogue=True), 5))

    return workspace.once(f"steck2010 {name}", run)


def mean_atop(model: Any, parts: Split[Any]) -> float:
    """ATOP over pairs, training items left in."""
    ranks = rank(model, parts, relevant=RELEVANT, exclude=None)
    return evaluate(ranks, [atop], weights="by_relevant").mean()["atop"]


def both(model: Any, parts: Split[Any]) -> dict[str, float]:
    """ATOP on the two halves of what is held out."""
    assert parts.valid is not None
    return {"xv": mean_atop(model, Split(parts.train, parts.valid)), "test": mean_atop(model, parts)}


def error_of(model: Any, parts: Split[Any]) -> float:
    """RMSE on the test half."""
    held = parts.held_out.graded()
    return rmse(held.grade, offer_scores(model, held))


def top_shares(model: Any, parts: Split[Any]) -> dict[str, float]:
    """TOPK over pairs, each among 1,000 other items, relevant or not."""
    ranks = rank(model, parts, SAMPLED, relevant=RELEVANT, exclude=None)
    means = evaluate(ranks, [topk @ share for share in SHARES.values()], weights="by_relevant").mean()
    return dict(zip(SHARES, means.values(), strict=True))


def measure(workspace: Workspace, name: str, recipe: Any, *, shares: bool = False) -> dict[str, float]:
    """ATOP on both halves and RMSE; TOPK too where `shares`."""
    plain = "".join(c if c.isalnum() or c in "=.-" else "_" for c in str(recipe))

    def run() -> dict[str, float]:
        parts = split(workspace, name)
        model = recipe.fit(parts.train)
        return {**both(model, parts), "rmse": error_of(model, parts), **(top_shares(model, parts) if shares else {})}

    return workspace.step(f"steck2010/{name}{'-topk-by-pair' if shares else ''}/{plain}", run)


def grid(workspace: Workspace) -> dict[tuple[float, float], dict[str, float]]:
    """ATOP for every (value, weight) of missing ratings, with the regularisation that is best on XV.

    Where missing ratings do not count nothing is imputed: the offset is that of Table 2's objective for every value.
    """
    name = name_of(workspace)

    def run(value: float, weight: float) -> dict[str, float]:
        parts = split(workspace, name)
        tried = [AllRank(missing_value=value if weight else 2, missing_weight=weight, reg=reg) for reg in REGS]
        return max((both(recipe.fit(parts.train), parts) for recipe in tried), key=lambda halves: halves["xv"])

    return {
        (value, weight): workspace.step(
            f"steck2010/{name}-grid/{value if weight else 'none'}-{weight:g}", partial(run, value, weight)
        )
        for value in VALUES
        for weight in WEIGHTS
    }
