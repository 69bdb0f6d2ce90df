"""Figure 2: ATOP against the weight of missing ratings."""

from __future__ import annotations

import numpy as np

from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Claim, Figure, Findings
from fullrank.reproduction.papers.steck2010.protocol import (
    MOVIELENS,
    NETFLIX,
    PLACE,
    STANDS_IN,
    VALUES,
    WEIGHTS,
    grid,
    name_of,
    split,
)
from fullrank.reproduction.workspace import Workspace


def run(workspace: Workspace) -> Findings:
    """For every weight the value and the regularisation that are best on XV."""
    results = grid(workspace)
    value = {weight: max(VALUES, key=lambda v: results[v, weight]["xv"]) for weight in WEIGHTS}
    curve = {half: {weight: results[value[weight], weight][half] for weight in WEIGHTS} for half in ("xv", "test")}
    test = list(curve["test"].values())
    best = int(np.argmax(test))
    train = split(workspace, name_of(workspace)).train
    share = len(train) / (train.n_users * train.n_items)
    steady = bool((np.diff(test[: best + 1]) > 0).all() and (np.diff(test[best:]) < 0).all())
    return Findings(
        claims=(
            Claim("one clear maximum, at a small positive weight", 0 < WEIGHTS[best] <= 0.2, f"at {WEIGHTS[best]:g}"),
            Claim("near the share of ratings that are there", share / 4 <= WEIGHTS[best] <= share * 4, f"{share:.3f}"),
            Claim("rising before it and falling after it", steady,
                  ", ".join(f"{w:g}: {v:.3f}" for w, v in zip(WEIGHTS, test, strict=True))),
            Claim("lowest where missing ratings do not count", int(np.argmin(test)) == 0, f"{test[0]:.3f}"),
            Claim("still higher at weight 1", test[-1] > test[0], f"{test[-1]:.3f}"),
        ),
        figures=(
            Figure("ATOP, imputed rating and regularisation chosen on XV", "weight of missing ratings", "ATOP",
                   {name: list(line.items()) for name, line in curve.items()}, log="x"),
        ),
    )  # fmt: skip


EXHIBIT = Exhibit(
    "steck2010-figure2", "ATOP against the weight of missing ratings", f"{PLACE}, Figure 2", run, (MOVIELENS,), NETFLIX,
    STANDS_IN,
)  # fmt: skip
