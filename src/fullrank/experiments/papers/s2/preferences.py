"""Figures 6.15 to 6.20: all preferences first, then dealt to folds."""

from __future__ import annotations

from functools import partial
from typing import Any

from fullrank.experiments.bench import Bench
from fullrank.experiments.exhibits import Claim, Exhibit, Figure, Found, Number
from fullrank.experiments.papers.s2.protocol import (
    FACTORS,
    LARGE,
    MEASURES,
    PLACE,
    SMALL,
    SOME_USERS,
    curves,
    dealt_ratings,
    measured,
    preference_folds,
)
from fullrank.experiments.papers.s2.quality import against_factors
from fullrank.models.opportunity import OpportunityCost

MOST = {SMALL: 200, LARGE: 25}
REG = 0.004


def one(bench: Bench, name: str, factors: int) -> dict[str, float] | None:
    """Fitted to four fifths of the preferences."""
    first, *others = preference_folds(bench, name)
    judged = dealt_ratings(bench, name).graded()
    return measured(OpportunityCost(factors, reg=REG), [first], [split.held_out for split in others], judged)


def millions(bench: Bench, name: str) -> float:
    """Of preferences in all ratings."""
    return float(bench.data(name).graded().count_pairs().sum()) / 1e6


def on_preferences(bench: Bench) -> dict[str, dict[int, Any]]:
    """By data set and number of factors, the first of five folds."""
    return {
        name: {k: bench.step(f"s2/{name}/dealt-{k}", partial(one, bench, name, k)) for k in FACTORS if k <= most}
        for name, most in MOST.items()
    }


def run(bench: Bench) -> Found:
    """Beside RSVD and SVD++, which S2 leaves on folds over ratings."""
    dealt = on_preferences(bench)
    numbers = [
        Number(f"{SMALL}, all preferences", "millions", 7.0, millions(bench, SMALL), 0.05, 2),
        Number(f"{LARGE}, all preferences", "millions", 13.7, millions(bench, LARGE), None, 2),
        *(
            Number(f"{name}, {k} factors", title, None, row[key], digits=4)
            for name, rows in dealt.items() for k, row in rows.items() for key, title in MEASURES.items()
        ),
    ]  # fmt: skip
    figures: list[Figure] = []
    claims: list[Claim] = []
    for name, rows in dealt.items():
        others = {who: found for who, found in against_factors(bench, name).items() if who in ("RSVD", "SVD++")}
        every = {"GPW-OPT, dealt preferences": rows, **{f"{who}, ratings": found for who, found in others.items()}}
        figures += curves(every, "factors", name, MEASURES)
        loss = [row["loss"] for row in rows.values()]
        told = ", ".join(f"{k}: {row['loss']:.4f}" for k, row in rows.items())
        best = min(row["loss"] for found in others.values() for row in found.values())
        claims += [
            Claim(f"{name}: the loss falls with every step", loss == sorted(loss, reverse=True), told),
            Claim(f"{name}: it ends below RSVD and SVD++ with any number of factors", loss[-1] < best, f"{best:.3f}"),
        ]
    past = [row["loss"] for k, row in dealt[SMALL].items() if k >= 100]
    claims.append(
        Claim(f"{SMALL}: near 0 from 100 factors on", max(past) < 0.01, ", ".join(f"{loss:.4f}" for loss in past))
    )
    return Found(tuple(numbers), tuple(claims), tuple(figures))


EXHIBIT = Exhibit(
    "s2-figures6.15-6.20", "Preferences dealt to folds", f"{PLACE}, Figures 6.15 to 6.20", run, (SMALL, LARGE),
    stands_in=f"The first of five folds; of MovieLens 1M the preferences of {SOME_USERS:,} users, up to {MOST[LARGE]} "
    "factors. S2 counts ten times too few preferences in all of MovieLens 1M: that count is shown, not judged.",
)  # fmt: skip
