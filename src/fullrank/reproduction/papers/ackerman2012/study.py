"""Figures 6.28 to 6.38 and Table 6.5 at the size of Ackerman's study, with Ackerman's own procedure and numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fullrank.evaluation.offers import offer_scores
from fullrank.models.preferences.ccf import CCF
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings, Number
from fullrank.reproduction.papers.ackerman2012.protocol import PLACE, curves, lines
from fullrank.reproduction.papers.ackerman2012.studies import MEASURES, small, unless_it_runs_away
from fullrank.reproduction.workspace import Workspace

FACTORS = (3, 12, 50, 200)
FEW = 6  # factors of the sweeps, where the thesis has 50
SWEPT = tuple(float(value) for value in np.arange(0.005, 0.0151, 0.001).round(4))
VARIANTS: dict[str, Callable[..., Any]] = {
    "SPW-OPT1": SessionCost.as_ackerman,
    "SPW-OPT2": lambda *args, **more: replace(SessionCost.as_ackerman(*args, **more), targets="items"),
    "SPW-HVS": lambda *args, **more: replace(SessionCost.as_ackerman(*args, **more), targets="heaviside"),
}
STUDY = {"SPW-OPT1": (0.30, 0.675, 0.22), "CCF": (0.353, 0.66, 0.163)}  # at 12 factors and more
LEARNING = {50: 5.0, 200: 22.5}  # seconds, roughly 5, and 20 to 25
PREDICTION = {3: (0.0156, 0.0156), 12: (0.0468, 0.0156), 50: (0.0780, 0.0312), 200: (0.1716, 0.1092)}  # CCF, SPW-OPT1

Rows = dict[str, dict[float, Any]]


def against_factors(workspace: Workspace, models: Mapping[str, Callable[..., Any]], best: bool) -> Rows:
    """Means, and seconds to learn and to predict all folds of one world."""

    def one(make: Callable[..., Any], factors: int) -> Any:
        start = time.monotonic()
        row = unless_it_runs_away(make(factors), small(workspace), best=best)
        return None if row is None else row | {"learning": time.monotonic() - start}

    how = "best" if best else "classes"
    return {
        who: {k: workspace.step(f"ackerman2012/study/{who}-{how}-{k}", partial(one, make, k)) for k in FACTORS}
        for who, make in models.items()
    }


def predicting(workspace: Workspace, make: Callable[..., Any], factors: int) -> float:
    """Seconds to value all sessions of one world, the fifth that is held out of each fold."""
    model, parts = make(factors).fit(small(workspace)[0].train), [split.held_out for split in small(workspace)[:5]]
    offer_scores(model, parts[0])
    start = time.monotonic()
    for part in parts:
        offer_scores(model, part)
    return time.monotonic() - start


def flat(rows: Mapping[float, Any]) -> float:
    """How far apart the losses are."""
    losses = [float(row["pairwise_loss"]) for row in rows.values() if row]
    return max(losses) - min(losses)


def with_ccf(workspace: Workspace) -> Findings:
    """Only the best item of a session is known."""
    models = {"SPW-OPT1": VARIANTS["SPW-OPT1"], "CCF": CCF.as_ackerman}
    results = against_factors(workspace, models, best=True)
    one, other = results["SPW-OPT1"], results["CCF"]
    numbers = [
        Number(f"{who}, {k} factors", title, STUDY[who][place] if k >= 12 else None, row[key], None)
        for who, rows in results.items()
        for k, row in rows.items()
        for place, (key, title) in enumerate(MEASURES.items())
    ]  # fmt: skip
    for k, published in PREDICTION.items():
        for who, seconds in zip(("CCF", "SPW-OPT1"), published, strict=True):
            ours = workspace.step(
                f"ackerman2012/study/predict-{who}-{k}", partial(predicting, workspace, models[who], k)
            )
            numbers.append(Number(f"Table 6.5, k = {k}", f"{who}, seconds", seconds, ours, None, 4))
    better = {
        key: min((one[k][key] - other[k][key]) * (-1 if key == "pairwise_loss" else 1) for k in FACTORS)
        for key in MEASURES
    }
    return Findings(
        tuple(numbers),
        (
            *(Claim(f"SPW-OPT1 leads CCF by {title} with every number of factors", better[key] > 0,
                    f"by {better[key]:.4f} or more") for key, title in MEASURES.items()),
            Claim("both are flat in the number of factors", max(flat(one), flat(other)) < 0.01,
                  f"losses within {flat(one):.4f} and {flat(other):.4f}"),
        ),
        (*curves(results, "factors", "only the best known", MEASURES),
         Figure("Learning time of ten fits", "factors", "seconds", lines(results, "learning"), log="xy")),
    )  # fmt: skip


def variants(workspace: Workspace) -> Findings:
    """All classes of a session are known."""
    results = against_factors(workspace, VARIANTS, best=False)
    first, second, counting = results.values()
    worst = min(
        counting[k]["pairwise_loss"] - max(first[k]["pairwise_loss"], second[k]["pairwise_loss"]) for k in FACTORS
    )
    apart = max(abs(first[k]["pairwise_loss"] - second[k]["pairwise_loss"]) for k in FACTORS)
    numbers = [
        Number(f"{who}, {k} factors", title, None, row[key])
        for who, rows in results.items()
        for k, row in rows.items()
        for key, title in MEASURES.items()
    ]
    numbers += [
        Number(f"SPW-OPT1, {k} factors", "seconds to learn", LEARNING.get(k), first[k]["learning"] / 10, None, 2)
        for k in FACTORS
    ]
    return Findings(
        tuple(numbers),
        (
            Claim("SPW-HVS has the highest loss with every number of factors", worst > 0, f"by {worst:.3f} or more"),
            Claim("it is the least stable", flat(counting) > max(flat(first), flat(second)),
                  f"{flat(counting):.4f} against {flat(first):.4f} and {flat(second):.4f}"),
            Claim("SPW-OPT1 and SPW-OPT2 are flat in the number of factors", max(flat(first), flat(second)) < 0.01),
            Claim("and within .005 of each other", apart < 0.005, f"{apart:.4f}"),
        ),
        (*curves(results, "factors", "all classes known", {k: MEASURES[k] for k in ("pairwise_loss", "edrc")}),
         Figure("Learning time of ten fits", "factors", "seconds", lines(results, "learning"), log="xy")),
    )  # fmt: skip


def sweep(workspace: Workspace, which: str, values: Sequence[float]) -> Rows:
    """Every variant for every value of one parameter, the other as the thesis has it."""

    def one(make: Callable[..., Any], value: float) -> Any:
        return unless_it_runs_away(make(FEW, **{which: value}), small(workspace), best=False)

    return {
        who: {
            value: workspace.step(f"ackerman2012/study/{who}-{which}-{value:g}", partial(one, make, value))
            for value in values
        }
        for who, make in VARIANTS.items()
    }


def sweeps(workspace: Workspace) -> Findings:
    """Learning rate and regularisation between .005 and .015."""
    results = {which: sweep(workspace, which, SWEPT) for which in ("rate", "reg")}
    shown = {key: MEASURES[key] for key in ("pairwise_loss", "edrc")}
    figures = [figure for which, rows in results.items() for figure in curves(rows, which, f"{which} varied", shown)]
    claims = []
    for which, rows in results.items():
        worst = min(
            row["pairwise_loss"] - rows[who][value]["pairwise_loss"]
            for value, row in rows["SPW-HVS"].items() if row for who in ("SPW-OPT1", "SPW-OPT2")
        )  # fmt: skip
        claims.append(Claim(f"SPW-HVS is the worst for every {which}", worst > 0, f"by {worst:.3f} or more"))
        moved, still = flat(rows["SPW-HVS"]), max(flat(rows["SPW-OPT1"]), flat(rows["SPW-OPT2"]))
        seen = f"{moved:.4f} against {still:.4f}"
        claims.append(Claim(f"its loss depends more on the {which} than that of the others", moved > still, seen))
    return Findings(claims=tuple(claims), figures=tuple(figures))


STANDS_IN = (
    "Ackerman's study is not public. Simulated sessions of its size stand in (two worlds of 100 people, five sessions "
    "of six out of 25 items, five folds); Ackerman's numbers are of the study, or of another machine, shown and not "
    "judged."
)
exhibit = partial(Exhibit, stands_in=STANDS_IN)
CCF_EXHIBIT = exhibit(
    "ackerman2012-figures6.28-6.31", "The study: opportunity cost in context against CCF",
    f"{PLACE}, Figures 6.28 to 6.31 and Table 6.5", with_ccf,
)  # fmt: skip
VARIANTS_EXHIBIT = exhibit(
    "ackerman2012-figures6.32-6.34",
    "The study: variants of opportunity cost in context",
    f"{PLACE}, Figures 6.32 to 6.34",
    variants,
)
SWEEPS_EXHIBIT = exhibit(
    "ackerman2012-figures6.35-6.38",
    "The study: learning rate and regularisation",
    f"{PLACE}, Figures 6.35 to 6.38",
    sweeps,
)
