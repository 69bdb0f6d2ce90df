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
    chosen,
    reads,
)
from fullrank.cli.printing import bar, note_data, print_result, resumable


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
    from fullrank.data.atomic import check_writable
    from fullrank.errors import ParameterError
    from fullrank.experiments.feedback import fit as fit_recipe
    from fullrank.models.files import save
    from fullrank.models.training import IterativeRecipe

    check_writable(out, overwrite=overwrite)
    data, recipe, _ = chosen(
        source, model, parameters or [], **reading)  # fmt: skip
    loaded = data.load()
    train: Any = loaded.data.whole() if hasattr(loaded.data, "held_out") else loaded.data
    note_data(loaded.name, train)
    in_rounds = isinstance(recipe, IterativeRecipe)
    if checkpoint is not None and not in_rounds:
        name = type(recipe).__name__
        raise ParameterError(f"{name} is not trained in rounds and has no checkpoint; leave out --checkpoint.")
    start = time.monotonic()
    with resumable(checkpoint is not None), bar() as progress:
        told = {"progress": lambda done, of, loss: progress and progress(f"{done} of {of}", done / of)}
        training = {**told, **({} if checkpoint is None else {"checkpoint": checkpoint})} if in_rounds else {}
        fitted = fit_recipe(recipe, train, seed, **training)
    seconds = time.monotonic() - start
    save(fitted, out, overwrite=overwrite)
    found = {"model": str(recipe), "users": len(train.users), "items": len(train.items), "rows": len(train)}
    print_result({**found, "seconds": round(seconds, 3), "file": str(out)}, json)
