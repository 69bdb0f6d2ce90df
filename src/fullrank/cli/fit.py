"""fullrank fit"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import (
    DATA_HELP,
    Json,
    Overwrite,
    Seed,
    choose,
    reads,
)
from fullrank.cli.printing import bar, note, note_data, print_result, resumable


@reads()
def fit(
    source: Annotated[str, typer.Argument(metavar="DATA", help=f"{DATA_HELP} Or a plan (.toml).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The model file.")],
    model: Annotated[str | None, typer.Option(help="Its name: allrank (unless given), ials, itemcf, ...")] = None,
    parameters: Annotated[list[str] | None, typer.Option("--set", help="A parameter: --set factors=64.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file kept meanwhile; a killed fit goes on from it.")
    ] = None,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Fit a model on all of your data and write it to a file."""
    from fullrank.errors import ParameterError
    from fullrank.models.feedback import fit as fit_recipe
    from fullrank.models.files import save
    from fullrank.models.protocols import IterativeRecipe
    from fullrank.runtime.atomic import check_writable

    check_writable(out, overwrite=overwrite)
    data, recipe, _ = choose(source, model, parameters or [], **reading)
    loaded = data.load()
    train: Any = loaded.data.whole() if hasattr(loaded.data, "held_out") else loaded.data
    note_data(loaded.name, train)
    if checkpoint is not None and not isinstance(recipe, IterativeRecipe):
        name = type(recipe).__name__
        raise ParameterError(f"{name} is not trained in rounds and has no checkpoint; leave out --checkpoint.")
    _doubt(recipe, train)
    start = time.monotonic()
    with resumable(checkpoint is not None), bar() as progress:

        def tell(done: int, of: int, objective: float) -> None:
            if progress is not None:
                progress(f"{done} of {of}", done / of)

        fitted = fit_recipe(recipe, train, seed, {"progress": tell, "checkpoint": checkpoint})
    seconds = time.monotonic() - start
    save(fitted, out, overwrite=overwrite)
    summary = {"model": str(recipe), "users": len(train.users), "items": len(train.items), "rows": len(train)}
    print_result({**summary, "seconds": round(seconds, 3), "file": str(out)}, json)


def _doubt(recipe: Any, train: Any) -> None:
    """Tell where a model of one class is about to learn from dislikes as if they were likes."""
    from fullrank.comparison.defaults import threshold
    from fullrank.data.feedback import kind_of
    from fullrank.models.neighbours.bestseller import Bestseller

    least = threshold(train, kind_of(train))
    if least is not None and getattr(recipe, "relevant", 0) is None and not isinstance(recipe, Bestseller):
        note(
            f"{type(recipe).__name__} learns from all ratings, whatever their value; say --set relevant={least:g} for "
            f"those from {least:g} on."
        )
