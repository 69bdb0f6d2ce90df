"""S0: Steck, Training and Testing of Recommender Systems on Data Missing Not at Random (KDD 2010)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fullrank.data.split import Split, leave_last
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.experiments.exhibits import Bench, Claim, Exhibit, Found, Number
from fullrank.metrics.relevance import atop
from fullrank.models.allrank import AllRank
from fullrank.models.allrank_binary import AllRankBinary
from fullrank.models.bestseller import Bestseller

ROWS: dict[str, tuple[Any, float, float | None]] = {  # recipe, published ATOP and RMSE
    "bestsellers by mean": (Bestseller(by="mean"), 0.803, None),
    "bestsellers by count": (Bestseller(by="count"), 0.873, None),
    "bestsellers by 5 stars": (Bestseller(by="relevant", relevant=5), 0.880, None),
    "observed only": (AllRank(missing_weight=0, reg=0.06), 0.861, 0.901),
    "AllRank-Regression": (AllRank(), 0.933, 1.218),
    "dense SVD": (AllRank(missing_weight=1, reg=0.03), 0.915, 1.766),
    "AllRank-Binary-Regression": (AllRankBinary(missing_weight=0.01, reg=0.03), 0.924, None),
    "AllRank-Binary-Logistic": (AllRankBinary(missing_weight=0.02, reg=0.02, loss="logistic"), 0.928, None),
}
WEIGHTS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
VALUES = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)


def split(bench: Bench) -> Split[Any]:
    """The last five ratings of everybody, all titles as candidates (S0 section 5.1)."""
    return leave_last(bench.data("ml-1m", catalogue=True), 5)


def measured(recipe: Any, parts: Split[Any]) -> dict[str, float]:
    """ATOP over pairs with training items left in, and RMSE."""
    model, held = recipe.fit(parts.train), parts.held_out
    found = evaluate(rank(model, parts, relevant=5, exclude=None), [atop], weights="by_relevant").mean()["atop"]
    errors = []
    for first in range(0, held.n_users, 500):
        users = np.arange(first, min(first + 500, held.n_users), dtype=np.int32)
        rows = held.where((held.user >= first) & (held.user < first + 500))
        errors.append(model.scores(users)[rows.user - first, rows.item] - rows.value)
    return {"atop": found, "rmse": float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))}


def of(bench: Bench, recipe: Any) -> dict[str, float]:
    """The same, kept."""
    name = "s0/" + "".join(c if c.isalnum() or c in "=.-" else "_" for c in str(recipe))
    found: dict[str, float] = bench.step(name, lambda: measured(recipe, split(bench)))
    return found


def table2(bench: Bench) -> Found:
    """Objectives on MovieLens 1M."""
    found = {name: of(bench, recipe) for name, (recipe, _, _) in ROWS.items()}
    numbers = [Number(f"{name}, ATOP", ROWS[name][1], row["atop"], 0.01) for name, row in found.items()]
    numbers += [Number(f"{n}, RMSE", rmse, found[n]["rmse"], 0.03) for n, (_, _, rmse) in ROWS.items() if rmse]
    order = sorted(found, key=lambda name: -found[name]["atop"])
    trained = [name for name, (_, _, rmse) in ROWS.items() if rmse]
    by_error = sorted(trained, key=lambda name: found[name]["rmse"])
    return Found(
        tuple(numbers),
        (
            Claim("AllRank-Regression has the best ATOP", order[0] == "AllRank-Regression", order[0]),
            Claim("the mean rating makes the worst list", order[-1] == "bestsellers by mean", order[-1]),
            Claim("the observed-only objective has the best RMSE", by_error[0] == "observed only", by_error[0]),
        ),
    )


def figure1(bench: Bench) -> Found:
    """ATOP against the weight of missing ratings."""
    curve = [of(bench, replace(AllRank(), missing_weight=weight))["atop"] for weight in WEIGHTS]
    best = int(np.argmax(curve))
    told = ", ".join(f"{w:g}: {v:.3f}" for w, v in zip(WEIGHTS, curve, strict=True))
    rises, falls = np.diff(curve[: best + 1]), np.diff(curve[best:])
    return Found(
        claims=(
            Claim("one clear maximum, at a small positive weight", 0 < WEIGHTS[best] <= 0.2, f"at {WEIGHTS[best]:g}"),
            Claim("rising before it and falling after it", bool((rises > 0).all() and (falls < 0).all()), told),
            Claim("lowest where missing ratings do not count", int(np.argmin(curve)) == 0, f"{curve[0]:.3f}"),
        )
    )


def figure2(bench: Bench) -> Found:
    """ATOP against the value missing ratings are given."""
    curve = [of(bench, replace(AllRank(), missing_value=value))["atop"] for value in VALUES]
    best = VALUES[int(np.argmax(curve))]
    told = ", ".join(f"{v:g}: {a:.3f}" for v, a in zip(VALUES, curve, strict=True))
    above = dict(zip(VALUES, curve, strict=True))
    return Found(
        claims=(
            Claim("best near 2", 1 <= best <= 3, f"at {best:g}"),
            Claim("falling sharply above", above[4.0] < max(curve) - 0.03, told),
        )
    )


EXHIBITS = tuple(
    partial(Exhibit, needs=("ml-1m",), place="S0 (Steck 2010), section 5")(name=name, title=title, run=run, why=why)
    for name, title, run, why in (
        (
            "s0-table2",
            "Objectives on MovieLens 1M: RMSE and ATOP",
            table2,
            "S0 does not say which offset its observed-only objective has, nor for how long it trains.",
        ),
        ("s0-figure1", "ATOP against the weight of missing ratings", figure1, ""),
        ("s0-figure2", "ATOP against the value of missing ratings", figure2, ""),
    )
)
