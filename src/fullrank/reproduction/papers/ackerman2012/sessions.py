"""Sessions: what the thesis says of its models and of CCF, on three stand-ins for its study, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fullrank.models.preferences.ccf import CCF
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.models.ratings.rsvd import RSVD
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.papers.ackerman2012.protocol import PLACE
from fullrank.reproduction.papers.ackerman2012.studies import (
    MEASURES,
    Folds,
    means,
    movielens,
    result,
    simulated,
    sushi,
)
from fullrank.reproduction.workspace import Workspace

STUDIES: dict[str, Callable[[Workspace], Folds]] = {"simulated": simulated, "sushi": sushi, "MovieLens": movielens}
RECIPES: dict[str, dict[str, Any]] = {  # chosen on a part of the first fold's training data, one model at a time
    "simulated": {
        "SPW-OPT1": SessionCost(), "SPW-OPT2": SessionCost(targets="items"),
        "SPW-HVS": SessionCost(5, rate=0.003, decay=1.0, reg=0.02, targets="heaviside"),
        "CCF": CCF(), "all pairs": OpportunityCost(20), "RSVD": RSVD(50, reg=0.03),
    },
    "sushi": {
        "SPW-OPT1": SessionCost(rate=0.03, reg=0.03), "SPW-OPT2": SessionCost(rate=0.03, reg=0.03, targets="items"),
        "SPW-HVS": SessionCost(5, rate=0.001, decay=1.0, reg=0.5, targets="heaviside"),
        "CCF": CCF(rate=0.03, decay=0.95, reg=0.2), "all pairs": OpportunityCost(20, reg=0.1),
        "RSVD": RSVD(20, reg=0.2),
    },
    "MovieLens": {
        "SPW-OPT1": SessionCost(10, rate=0.02, reg=0.003),
        "SPW-OPT2": SessionCost(10, rate=0.02, reg=0.003, targets="items"),
        "SPW-HVS": SessionCost(5, rate=1e-5, decay=1.0, reg=10, targets="heaviside"),
        "CCF": CCF(5, decay=0.95), "all pairs": OpportunityCost(50, reg=0.03), "RSVD": RSVD(50, reg=0.1),
    },
}  # fmt: skip
WITH_BEST: dict[str, dict[str, Any]] = {  # where only the best item of a session is known, others are better
    "simulated": {"all pairs": OpportunityCost(10, reg=0.06), "RSVD": RSVD(50, reg=0.06)},
    "sushi": {"all pairs": OpportunityCost(20, reg=0.3), "RSVD": RSVD(5, reg=0.1)},
    "MovieLens": {"all pairs": OpportunityCost(50, reg=0.06), "RSVD": RSVD(20, reg=0.06)},
}
PUBLISHED = {"SPW-OPT1": (0.30, 0.675, 0.22), "CCF": (0.353, 0.66, 0.163)}  # of the study, only the best known


def compare(workspace: Workspace, study: str, best: bool) -> dict[str, Any]:
    """Means of every model, and the interval of its loss less that of CCF and of the heaviside loss."""

    def run() -> dict[str, Any]:
        recipes = RECIPES[study] | (WITH_BEST[study] if best else {})
        results = {name: result(recipe, STUDIES[study](workspace), best=best) for name, recipe in recipes.items()}
        rows = {}
        for name, one in results.items():
            less = {other: one.versus(results[other])["pairwise_loss"] for other in ("CCF", "SPW-HVS") if other != name}
            rows[name] = {"mean": means(one), "less": {other: (pair.low, pair.high) for other, pair in less.items()}}
        return rows

    return workspace.step(f"ackerman2012/sessions/{study}-{'best' if best else 'classes'}", run)


def surely(results: dict[str, Any], better: str, worse: str) -> bool:
    """Whether the loss of one is lower, by an interval over people."""
    return bool(results[better]["less"][worse][1] < 0)


def interval(results: dict[str, Any], one: str, other: str) -> str:
    """Of the difference of two losses."""
    low, high = results[one]["less"][other]
    return f"{low:.3f} to {high:.3f}"


def numbers(results: dict[str, dict[str, Any]], published: Mapping[str, Sequence[float]]) -> list[Number]:
    """A row for every study and model."""
    return [
        Number(f"{study}, {name}", title, published[name][place] if name in published else None, row["mean"][key], None)
        for study, rows in results.items() for name, row in rows.items()
        for place, (key, title) in enumerate(MEASURES.items())
    ]  # fmt: skip


def against_ccf(workspace: Workspace) -> Findings:
    """Only the best item of a session is known, as CCF takes it."""
    results = {study: compare(workspace, study, True) for study in STUDIES}
    claims = []
    for study, rows in results.items():
        seen = interval(rows, "SPW-OPT1", "CCF")
        better = surely(rows, "SPW-OPT1", "CCF")
        claims.append(Claim(f"{study}: SPW-OPT1 is better than CCF", better, seen, essential=study != "sushi"))
        seen = interval(rows, "CCF", "SPW-HVS")
        claims.append(Claim(f"{study}: CCF is better than SPW-HVS", surely(rows, "CCF", "SPW-HVS"), seen))
    return Findings(tuple(numbers(results, PUBLISHED)), tuple(claims))


def among_variants(workspace: Workspace) -> Findings:
    """All classes of a session are known."""
    results = {study: compare(workspace, study, False) for study in STUDIES}
    claims = []
    for study, rows in results.items():
        losses = {name: row["mean"]["pairwise_loss"] for name, row in rows.items()}
        worst, apart = max(losses, key=lambda name: losses[name]), losses["SPW-OPT1"] - losses["SPW-OPT2"]
        seen = interval(rows, "SPW-OPT1", "CCF")
        claims += [
            Claim(f"{study}: SPW-HVS is the worst of all", worst == "SPW-HVS", f"{worst} {losses[worst]:.3f}"),
            Claim(f"{study}: SPW-OPT1 is better than CCF", surely(rows, "SPW-OPT1", "CCF"), seen),
            Claim(f"{study}: targets by class and by item are within .005", abs(apart) < 0.005, f"{apart:+.4f}"),
        ]
    return Findings(tuple(numbers(results, {})), tuple(claims))


STANDS_IN = (
    "Ackerman's study is not public. Simulated sessions, sushi orders and MovieLens 1M cut by time stand in; "
    "Ackerman's numbers are of the study, shown and not judged. Intervals draw people with all their sessions."
)
CCF_EXHIBIT = Exhibit(
    "ackerman2012-sessions-ccf", "Sessions: opportunity cost in context against CCF", f"{PLACE}, Figures 6.28 to 6.30",
    against_ccf, ("sushi", "ml-1m"), stands_in=STANDS_IN,
    why="Of those who ordered sushi there is one session of five to learn from, and what everybody likes tells as much "
    "as what somebody chose in it: models are level there.",
)  # fmt: skip
VARIANTS_EXHIBIT = Exhibit(
    "ackerman2012-sessions-variants", "Sessions: variants of opportunity cost in context",
    f"{PLACE}, Figures 6.32 and 6.33",
    among_variants, ("sushi", "ml-1m"), stands_in=STANDS_IN,
)  # fmt: skip
