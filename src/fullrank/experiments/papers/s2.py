"""S2: preferences, sessions and opportunity cost (a thesis); what its figures say, on MovieLens and worked examples."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from fullrank.data.preferences import Preferences
from fullrank.data.split import Split, folds
from fullrank.evaluation.offers import offer_scores
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.experiments.exhibits import Bench, Claim, Exhibit, Found, Number
from fullrank.metrics.edrc import edrc_of_edges
from fullrank.metrics.partial_order import pair_errors
from fullrank.metrics.table import parse
from fullrank.models.opportunity import OpportunityCost
from fullrank.models.rsvd import RSVD
from fullrank.models.svdpp import SVDpp

PLACE = "S2, chapter 6"
FACTORS = (25, 50, 100, 200)
METRICS = [parse("graded_ndcg"), parse("edrc")]
MEASURED = ("loss", "ndcg", "edrc")
HOURS = {"ml-100k": 2.0, "ml-1m": 17.0}  # of S2's learning, with 200 and 100 features


def splits(bench: Bench) -> list[Split[Any]]:
    """Five folds over the ratings of MovieLens 100K."""
    found: list[Split[Any]] = bench.once("s2 folds", lambda: list(folds(bench.data("ml-100k"), 5)))
    return found


def measured(bench: Bench, name: str, recipe: Any) -> dict[str, float]:
    """Pooled pairwise loss, nDCG and EDRC, means over the folds; and the seconds of all fits."""

    def run() -> dict[str, float]:
        rows, seconds = [], 0.0
        for split in splits(bench):
            start = time.monotonic()
            model, cases = recipe.fit(split.train), split.held_out.graded()
            seconds += time.monotonic() - start
            loss = pair_errors(cases, offer_scores(model, cases)).pooled()
            rows.append([loss, *evaluate(rank(model, cases, relevant=-1), METRICS).mean().values()])
        found = np.mean(rows, axis=0)
        return {"loss": float(found[0]), "ndcg": float(found[1]), "edrc": float(found[2]), "seconds": seconds}

    kept: dict[str, float] = bench.step(f"s2/{name}", run)
    return kept


def figures_6_2_to_6_6(bench: Bench) -> Found:
    """Loss, nDCG and EDRC of opportunity cost against plain factorisation, as S2 ran that."""
    others = {"RSVD": measured(bench, "rsvd", RSVD.as_funk(25)), "SVD++": measured(bench, "svdpp", SVDpp.as_funk(25))}
    numbers = [Number(f"{who}, {name}", None, row[name]) for who, row in others.items() for name in MEASURED]
    claims = []
    rows = {k: measured(bench, f"gpw-{k}", OpportunityCost(k, reg=0.03)) for k in FACTORS}
    for k, row in rows.items():
        numbers += [Number(f"GPW-OPT, {k} factors, {name}", None, row[name]) for name in MEASURED]
    for name, lead in (("loss", 0.03), ("ndcg", 0.01), ("edrc", 0.03)):
        sign = -1 if name == "loss" else 1
        least = min(sign * (row[name] - other[name]) for row in rows.values() for other in others.values())
        claims.append(
            Claim(f"GPW-OPT leads by {name} with any number of factors", least > lead, f"by {least:.3f} or more")
        )
    return Found(tuple(numbers), tuple(claims))


def learning_time(bench: Bench) -> Found:
    """S2's hours beside our seconds."""
    seconds = {"ml-100k": measured(bench, "gpw-200", OpportunityCost(200, reg=0.03))["seconds"]}

    def run() -> float:
        start = time.monotonic()
        OpportunityCost(100).fit(bench.data("ml-1m"))
        return time.monotonic() - start

    seconds["ml-1m"] = bench.step("s2/ml-1m-100", run)
    claims = [
        Claim(f"{name}: S2 took {HOURS[name]:g} hours", taken < 60, f"{taken:.0f} seconds")
        for name, taken in seconds.items()
    ]
    return Found(claims=tuple(claims))


def figure_6_15(bench: Bench) -> Found:
    """Folds over preferences: the loss goes toward 0 as factors are added."""

    def loss(factors: int) -> float:
        data: Preferences = bench.once("s2 preferences", lambda: bench.data("ml-100k").graded().pairs())
        split = bench.once("s2 preference folds", lambda: next(iter(folds(data, 5))))
        held_out = split.held_out.graded()
        model = OpportunityCost(factors, reg=0.004).fit(split.train)
        return pair_errors(held_out, offer_scores(model, held_out)).pooled()

    found = [bench.step(f"s2/preferences-{k}", partial(loss, k)) for k in FACTORS[:3]]
    told = ", ".join(f"{k}: {value:.4f}" for k, value in zip(FACTORS, found, strict=False))
    return Found(
        claims=(
            Claim("falling with every step", found == sorted(found, reverse=True), told),
            Claim("near 0 with 100 factors", found[-1] < 0.01, f"{found[-1]:.4f}"),
        )
    )


def table_5_1(bench: Bench) -> Found:
    """EDRC of the worked example; B before E is missing from the printed ground truth but used in the calculation."""
    truth = [("A", "C"), ("A", "D"), ("A", "E"), ("B", "D"), ("B", "E"), ("C", "D")]
    predicted = [("C", "A"), ("C", "B"), ("C", "D"), ("A", "E"), ("B", "E"), ("D", "E")]
    without = [edge for edge in truth if edge != ("B", "E")]
    return Found(
        (
            Number("EDRC, linear discount (5/29)", round(5 / 29, 4), edrc_of_edges(truth, predicted), digits=4),
            Number("without B before E (2/29)", round(2 / 29, 4), edrc_of_edges(without, predicted), digits=4),
        )
    )


EXHIBITS = (
    Exhibit("s2-table5.1", "EDRC by hand", "S2, Table 5.1 and its calculation", table_5_1),
    Exhibit(
        "s2-figures6.2-6.6", "Opportunity cost against plain factorisation", f"{PLACE}, Figures 6.2, 6.4, 6.6",
        figures_6_2_to_6_6, ("ml-100k",),
    ),
    Exhibit("s2-times", "Learning time", f"{PLACE}, Figures 6.8 and 6.9", learning_time, ("ml-100k", "ml-1m")),
    Exhibit("s2-figure6.15", "Folds over preferences", f"{PLACE}, Figure 6.15", figure_6_15, ("ml-100k",)),
)  # fmt: skip
