"""Figures 6.11 to 6.14 and 6.24 to 6.27: learning rate and regularisation of Ackerman's descent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.reproduction.exhibit import Exhibit, turns
from fullrank.reproduction.findings import Claim, Findings
from fullrank.reproduction.papers.ackerman2012.protocol import (
    HELD,
    MEASURES,
    PLACE,
    SMALL,
    curves,
    measure,
    preference_folds,
    rating_folds,
)
from fullrank.reproduction.workspace import Workspace

FACTORS = 6  # the thesis has 50 and 200; its curves hardly depend on them
RATES = (0.0001, 0.0005, 0.00075, 0.001, 0.002, 0.004, 0.008, 0.012, 0.016, 0.02)
REGS = (0.001, 0.002, 0.004, 0.008, 0.014, 0.02, 0.024)
NOISE = 0.002  # of a loss, from one fit to the next
SHOWN = {key: MEASURES[key] for key in ("loss", "ndcg")}
STANDS_IN = (
    f"MovieLens 100K, the first of five folds, {FACTORS} factors instead of 50 and 200. With Ackerman's regularisation "
    f"the heaviside loss runs away here at every rate; with {HELD:g} it does not."
)

Row = Mapping[float, Any]  # what was measured, by the value of a parameter; None where the descent ran away


def sweep(workspace: Workspace, folds: str, solver: str, which: str, values: Sequence[float], **other: float) -> Row:
    """One way of descent for every value of one parameter."""

    def one(value: float) -> Any:
        settings: dict[str, Any] = {**other, which: value, "solver": solver}
        recipe = OpportunityCost(FACTORS, **settings)
        if folds == "ratings":
            return measure(recipe, rating_folds(workspace, SMALL)[:1])
        return measure(recipe, preference_folds(workspace, SMALL)[:1], judged=workspace.data(SMALL).graded())

    return {v: workspace.step(f"ackerman2012/sweep-{folds}/{solver}-{which}-{v:g}", partial(one, v)) for v in values}


def best(row: Row) -> float:
    """The value with the lowest loss."""
    there = {value: point["loss"] for value, point in row.items() if point is not None}
    return min(there, key=lambda value: there[value])


def run(workspace: Workspace, folds: str, rate: float, reg: float) -> Findings:
    """A sweep of the rate and one of the regularisation."""
    ours = sweep(workspace, folds, "sgd", "rate", RATES, reg=reg)
    counted = sweep(workspace, folds, "heaviside", "rate", RATES, reg=HELD)
    regs = sweep(workspace, folds, "sgd", "reg", REGS, rate=rate)
    away, stayed = [v for v, p in ours.items() if p is None], [p["loss"] for p in ours.values() if p is not None]
    at, weight = best(ours), best(regs)
    slow, fast = stayed[0] - min(stayed), stayed[-1] - min(stayed)
    gone = ", ".join(f"{value:g}" for value in away) or "none"
    often, seldom = (turns([p["loss"] for p in row.values() if p is not None], NOISE) for row in (counted, ours))
    claims = [
        Claim(f"the best rate is near {rate:g}", rate / 4 <= at <= rate * 4, f"{at:g}"),
        Claim("a small rate learns too little", slow > 0.005, f"loss {slow:.3f} higher at {RATES[0]:g}"),
        Claim("a large rate is worse, or runs away", fast > 0.002 or bool(away),
              f"loss {fast:.3f} higher at the largest that did not; ran away: {gone}"),
        Claim("the heaviside loss is worse at every rate that both can take",
              all(counted[v]["loss"] > p["loss"] for v, p in ours.items() if p and counted[v])),
        Claim("its curve turns more often", often > seldom, f"{often} times against {seldom}", essential=False),
        Claim(f"the best regularisation is near {reg:g}", reg / 4 <= weight <= reg * 4, f"{weight:g}"),
    ]  # fmt: skip
    rates = {"GPW-OPT": ours, f"GPW-HVS, regularisation {HELD:g}": counted}
    figures = (
        *curves(rates, "learning rate", "rate varied", SHOWN),
        *curves({"GPW-OPT": regs}, "regularisation", "regularisation varied", SHOWN),
    )
    return Findings(claims=tuple(claims), figures=figures)


WHY = (
    "The regularisation that keeps the heaviside loss from running away also makes it calmer than it was in the thesis."
)
GLOBAL = Exhibit(
    "ackerman2012-figures6.11-6.14", "Learning rate and regularisation, folds over ratings",
    f"{PLACE}, Figures 6.11 to 6.14",
    partial(run, folds="ratings", rate=0.002, reg=0.02), (SMALL,), stands_in=STANDS_IN, why=WHY,
)  # fmt: skip
DEALT = Exhibit(
    "ackerman2012-figures6.24-6.27", "Learning rate and regularisation, preferences dealt to folds",
    f"{PLACE}, Figures 6.24 to 6.27", partial(run, folds="preferences", rate=0.001, reg=0.004), (SMALL,),
    stands_in=STANDS_IN, why=WHY,
)  # fmt: skip
