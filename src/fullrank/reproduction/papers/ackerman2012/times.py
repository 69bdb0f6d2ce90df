"""Figures 6.8 to 6.10, 6.21 to 6.23: learning time against the number of factors and of preferences."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from fullrank.data.preferences import Preferences
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings, Number
from fullrank.reproduction.papers.ackerman2012.preferences import on_preferences
from fullrank.reproduction.papers.ackerman2012.protocol import LARGE, PLACE, SMALL, exponent, lines
from fullrank.reproduction.papers.ackerman2012.quality import RUNS, against_factors
from fullrank.reproduction.workspace import Workspace

HOURS = (2.0, 17.0, 9.0)  # as the thesis tells them: MovieLens 100K and 1M, then 100K with preferences dealt to folds
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


def of_share(workspace: Workspace, share: float) -> float:
    """Seconds of Ackerman's descent, one feature, over a share of MovieLens 100K's preferences; the better of two."""
    data: Preferences = workspace.once("ackerman2012 pairs", lambda: workspace.data(SMALL).graded().pairs())
    some = data.where(np.random.default_rng(0).random(len(data)) < share)
    seconds = []
    for _ in range(2):
        start = time.monotonic()
        OpportunityCost(1, reg=0.02, rate=0.002, solver="sgd").fit(some)
        seconds.append(time.monotonic() - start)
    return min(seconds)


def run(workspace: Workspace) -> Findings:
    """Seconds on this machine beside Ackerman's hours."""
    results = {name: against_factors(workspace, name) for name in (SMALL, LARGE)}
    dealt = on_preferences(workspace)
    shares = {
        share: workspace.step(f"ackerman2012/share-{share}", partial(of_share, workspace, share)) for share in SHARES
    }
    fits = {name: rows["GPW-OPT"][0] for name, rows in RUNS.items()}
    seconds = {  # of one fit
        f"{SMALL}, 200 factors, folds over ratings": results[SMALL]["GPW-OPT"][200]["learning"] / fits[SMALL],
        f"{LARGE}, 100 factors, folds over ratings": results[LARGE]["GPW-OPT"][100]["learning"] / fits[LARGE],
        f"{SMALL}, 200 factors, preferences dealt": dealt[SMALL][200]["learning"],
    }  # fmt: skip
    faster = min(3600 * hours / ours for hours, ours in zip(HOURS, seconds.values(), strict=True))
    descent = results[SMALL]["GPW-OPT by Ackerman's descent"]
    by_factors, by_share = exponent({k: row["learning"] for k, row in descent.items()}), exponent(shares)
    return Findings(
        tuple(
            Number(name, "seconds", 3600 * hours, ours, None, 1)
            for (name, ours), hours in zip(seconds.items(), HOURS, strict=True)
        ),
        (
            Claim("by Ackerman's descent, time is linear in the number of factors", 0.75 < by_factors < 1.35,
                  f"to the power {by_factors:.2f}", essential=False),
            Claim("and in the number of preferences", 0.75 < by_share < 1.35, f"to the power {by_share:.2f}",
                  essential=False),
            Claim("the exact fit takes less than a hundredth of Ackerman's time", faster > 100,
                  f"1/{faster:.0f} or less"),
        ),
        (
            *(Figure(f"Learning time, {name}", "factors", "seconds of all folds run", lines(rows, "learning"), log="xy")
              for name, rows in results.items()),
            Figure("Learning time, preferences dealt", "factors", "seconds", lines(dealt, "learning"), log="xy"),
            Figure("Ackerman's descent, one feature", "share of the preferences", "seconds",
                   {"seconds": list(shares.items())}),
        ),
    )  # fmt: skip


EXHIBIT = Exhibit(
    "ackerman2012-figures6.8-6.10", "Learning time", f"{PLACE}, Figures 6.8 to 6.10 and 6.21 to 6.23", run,
    (SMALL, LARGE),
    stands_in="Seconds of one fit on this machine; Ackerman's were measured on another, and are shown, not judged.",
    why="Seconds depend on what else the machine does.",
)  # fmt: skip
