"""Figures 6.15 to 6.20: all preferences first, then dealt to folds."""

from __future__ import annotations

from functools import partial
from typing import Any

from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings, Number
from fullrank.reproduction.papers.ackerman2012.protocol import (
    FACTORS,
    LARGE,
    MEASURES,
    PLACE,
    SMALL,
    SOME_USERS,
    curves,
    dealt_ratings,
    measure,
    preference_folds,
)
from fullrank.reproduction.papers.ackerman2012.quality import against_factors
from fullrank.reproduction.workspace import Workspace

MOST = {SMALL: 200, LARGE: 25}
REG = 0.004


def one(workspace: Workspace, name: str, factors: int) -> dict[str, float] | None:
    """Fitted to four fifths of the preferences."""
    first, *others = preference_folds(workspace, name)
    judged = dealt_ratings(workspace, name).graded()
    return measure(OpportunityCost(factors, reg=REG), [first], [split.held_out for split in others], judged)


def millions(workspace: Workspace, name: str) -> float:
    """Of preferences in all ratings."""
    return float(workspace.data(name).graded().count_pairs().sum()) / 1e6


def on_preferences(workspace: Workspace) -> dict[str, dict[int, Any]]:
    """By data set and number of factors, the first of five folds."""
    return {
        name: {
            k: workspace.step(f"ackerman2012/{name}/dealt-{k}", partial(one, workspace, name, k))
            for k in FACTORS
            if k <= most
        }
        for name, most in MOST.items()
    }


def run(workspace: Workspace) -> Findings:
    """Beside RSVD and SVD++, which the thesis leaves on folds over ratings."""
    dealt = on_preferences(workspace)
    numbers = [
        Number(f"{SMALL}, all preferences", "millions", 7.0, millions(workspace, SMALL), 0.05, 2),
        Number(f"{LARGE}, all preferences", "millions", 13.7, millions(workspace, LARGE), None, 2),
        *(
            Number(f"{name}, {k} factors", title, None, row[key], digits=4)
            for name, rows in dealt.items() for k, row in rows.items() for key, title in MEASURES.items()
        ),
    ]  # fmt: skip
    figures: list[Figure] = []
    claims: list[Claim] = []
    for name, rows in dealt.items():
        others = {
            who: by_factors for who, by_factors in against_factors(workspace, name).items() if who in ("RSVD", "SVD++")
        }
        every = {
            "GPW-OPT, dealt preferences": rows,
            **{f"{who}, ratings": by_factors for who, by_factors in others.items()},
        }
        figures += curves(every, "factors", name, MEASURES)
        loss = [row["loss"] for row in rows.values()]
        seen = ", ".join(f"{k}: {row['loss']:.4f}" for k, row in rows.items())
        best = min(row["loss"] for by_factors in others.values() for row in by_factors.values())
        claims += [
            Claim(f"{name}: the loss falls with every step", loss == sorted(loss, reverse=True), seen),
            Claim(f"{name}: it ends below RSVD and SVD++ with any number of factors", loss[-1] < best, f"{best:.3f}"),
        ]
    past = [row["loss"] for k, row in dealt[SMALL].items() if k >= 100]
    claims.append(
        Claim(f"{SMALL}: near 0 from 100 factors on", max(past) < 0.01, ", ".join(f"{loss:.4f}" for loss in past))
    )
    return Findings(tuple(numbers), tuple(claims), tuple(figures))


EXHIBIT = Exhibit(
    "ackerman2012-figures6.15-6.20", "Preferences dealt to folds", f"{PLACE}, Figures 6.15 to 6.20", run,
    (SMALL, LARGE),
    stands_in=f"The first of five folds; of MovieLens 1M the preferences of {SOME_USERS:,} users, up to {MOST[LARGE]} "
    "factors. The thesis counts ten times too few preferences in all of MovieLens 1M: that count is shown, not judged.",
)  # fmt: skip
