"""fullrank demo"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.compare import run_and_report
from fullrank.cli.options import Json, Overwrite
from fullrank.cli.printing import note


def demo(
    seed: Annotated[int, typer.Option(help="Of the simulated world and of the split.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="The folder for report, results and best model.")] = Path("demo"),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Compare recommenders in a simulated world whose complete truth is known."""
    import fullrank
    from fullrank.comparison.compare import compare
    from fullrank.runtime.output import output_folder

    world = fullrank.simulate.ratings(seed=seed)
    note("A simulated world of ratings that are missing not at random; its complete truth is known.")
    note(f"{world.data}")

    def run(**how: Any) -> Any:
        return compare(
            world.data, split="holdout:0.2", relevant=5, seed=seed, title="A simulated world", truth=world.everything,
            overwrite=overwrite, **how,
        )  # fmt: skip

    run_and_report(output_folder(out), run, json)
