"""Figures 6.8 to 6.10, 6.21 to 6.23: learning time against the number of factors and of preferences."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from fullrank.data.preferences import Preferences
from fullrank.experiments.bench import Bench
from fullrank.experiments.exhibits import Claim, Exhibit, Figure, Found, Number
from fullrank.experiments.papers.s2.preferences import on_preferences
from fullrank.experiments.papers.s2.protocol import LARGE, PLACE, SMALL, exponent, lines
from fullrank.experiments.papers.s2.quality import RUNS, against_factors
from fullrank.models.opportunity import OpportunityCost

HOURS = (2.0, 17.0, 9.0)  # as S2 tells them: MovieLens 100K and 1M, then 100K with preferences dealt to folds
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)


def of_share(bench: Bench, share: float) -> float:
    """Seconds of S2's descent, one feature, over a share of all preferences of MovieLens 100K; the better of two."""
    data: Preferences = bench.once("s2 pairs", lambda: bench.data(SMALL).graded().pairs())
    some = data.where(np.random.default_rng(0).random(len(data)) < share)
    seconds = []
    for _ in range(2):
        start = time.monotonic()
        OpportunityCost(1, reg=0.02, rate=0.002, solver="sgd").fit(some)
        seconds.append(time.monotonic() - start)
    return min(seconds)


def run(bench: Bench) -> Found:
    """Seconds on this machine beside S2's hours."""
    found = {name: against_factors(bench, name) for name in (SMALL, LARGE)}
    dealt = on_preferences(bench)
    shares = {share: bench.step(f"s2/share-{share}", partial(of_share, bench, share)) for share in SHARES}
    fits = {name: rows["GPW-OPT"][0] for name, rows in RUNS.items()}
    seconds = {  # of one fit
        f"{SMALL}, 200 factors, folds over ratings": found[SMALL]["GPW-OPT"][200]["learning"] / fits[SMALL],
        f"{LARGE}, 100 factors, folds over ratings": found[LARGE]["GPW-OPT"][100]["learning"] / fits[LARGE],
        f"{SMALL}, 200 factors, preferences dealt": dealt[SMALL][200]["learning"],
    }  # fmt: skip
    faster = min(3600 * hours / ours for hours, ours in zip(HOURS, seconds.values(), strict=True))
    descent = found[SMALL]["GPW-OPT by S2's descent"]
    by_factors, by_share = exponent({k: row["learning"] for k, row in descent.items()}), exponent(shares)
    return Found(
        tuple(
            Number(name, "seconds", 3600 * hours, ours, None, 1)
            for (name, ours), hours in zip(seconds.items(), HOURS, strict=True)
        ),
        (
            Claim("by S2's descent, time is linear in the number of factors", 0.75 < by_factors < 1.35,
                  f"to the power {by_factors:.2f}", essential=False),
            Claim("and in the number of preferences", 0.75 < by_share < 1.35, f"to the power {by_share:.2f}",
                  essential=False),
            Claim("the exact fit takes less than a hundredth of S2's time", faster > 100, f"1/{faster:.0f} or less"),
        ),
        (
            *(Figure(f"Learning time, {name}", "factors", "seconds of all folds run", lines(rows, "learning"), log="xy")
              for name, rows in found.items()),
            Figure("Learning time, preferences dealt", "factors", "seconds", lines(dealt, "learning"), log="xy"),
            Figure("S2's descent, one feature", "share of the preferences", "seconds",
                   {"seconds": list(shares.items())}),
        ),
    )  # fmt: skip


EXHIBIT = Exhibit(
    "s2-figures6.8-6.10", "Learning time", f"{PLACE}, Figures 6.8 to 6.10 and 6.21 to 6.23", run, (SMALL, LARGE),
    stands_in="Seconds of one fit on this machine; S2's were measured on another, and are shown, not judged.",
    why="Seconds depend on what else the machine does.",
)  # fmt: skip
