"""fullrank demo"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from fullrank.cli.printing import note, print_result


def demo(
    seed: Annotated[int, typer.Option(help="Of the simulated world and of the split.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """A simulated world whose truth is known: what is observed of it, and how it is split."""
    import fullrank

    world = fullrank.simulate.ratings(seed=seed)
    split = fullrank.halved(fullrank.leave_last(world.data, 5, seed=seed), seed=seed)
    note("A simulated world of ratings that are missing not at random; its complete truth is known.")
    truth = world.truth(np.arange(world.data.n_users))
    observed = world.data.value
    print_result(
        {
            "data": "simulated ratings",
            **fullrank.describe(world.data),
            "mean of all ratings, observed or not": float(truth.mean()),
            "mean of the observed ratings": float(np.mean(observed)) if observed is not None else 0.0,
            "split": split.how,
            "rows to train on": len(split.train),
            "rows to choose on": 0 if split.valid is None else len(split.valid),
            "rows held out": len(split.held_out),
        },
        json,
    )
