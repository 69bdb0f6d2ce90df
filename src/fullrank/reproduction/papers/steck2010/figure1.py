"""Figure 1: ATOP against the value that missing ratings are given."""

from __future__ import annotations

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings
from fullrank.reproduction.papers.steck2010.protocol import MOVIELENS, NETFLIX, PLACE, STANDS_IN, VALUES, WEIGHTS, grid
from fullrank.reproduction.workspace import Workspace


def run(workspace: Workspace) -> Findings:
    """For every value the weight and the regularisation that are best on XV."""
    results = grid(workspace)
    weight = {value: max(WEIGHTS, key=lambda w: results[value, w]["xv"]) for value in VALUES}
    curve = {half: {value: results[value, weight[value]][half] for value in VALUES} for half in ("xv", "test")}
    test = curve["test"]
    best = max(test, key=lambda value: test[value])
    low, high = (min(v for v in VALUES if v >= 1), max(VALUES))
    drop, slope = test[best] - test[3.6], test[best] - test[low]
    return Findings(
        claims=(
            Claim("there is a maximum, near 2", 1 <= best <= 2.5, f"at {best:g}"),
            Claim("below it ATOP hardly changes", slope < 0.01, f"{slope:.4f} down to {low:g}"),
            Claim("above it ATOP drops", drop > max(0.02, 3 * slope), f"by {drop:.3f} to 3.6"),
            Claim("from 3.6 on there is a plateau", abs(test[3.6] - test[high]) < 0.005,
                  f"{test[3.6]:.3f} and {test[high]:.3f}"),
            Claim("because there the best weight is 0", all(weight[v] == 0 for v in VALUES if v >= 3.6),
                  ", ".join(f"{v:g}: {weight[v]:g}" for v in VALUES if v >= 3.6)),
            Claim("both halves agree", max(abs(curve["xv"][v] - test[v]) for v in VALUES) < 0.01),
        ),
        figures=(
            Figure("ATOP, weight and regularisation chosen on XV", "imputed rating", "ATOP",
                   {name: list(line.items()) for name, line in curve.items()}),
        ),
    )  # fmt: skip


EXHIBIT = Exhibit(
    "steck2010-figure1", "ATOP against the imputed rating", f"{PLACE}, Figure 1", run, (MOVIELENS,), NETFLIX, STANDS_IN
)
