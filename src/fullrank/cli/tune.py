"""fullrank tune"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank.cli.options import (
    DATA_HELP,
    Json,
    Repeat,
    Seed,
    choose,
    reads,
)
from fullrank.cli.printing import bar, note_data, print_json, resumable


@reads()
def tune(
    source: Annotated[str, typer.Argument(metavar="DATA", help=f"{DATA_HELP} Or a plan (.toml).")],
    model: Annotated[str | None, typer.Option(help="Its name: allrank (unless given), ials, itemcf, ...")] = None,
    trials: Annotated[int, typer.Option(help="How many settings are tried.", min=1)] = 20,
    metric: Annotated[str | None, typer.Option(help="What decides, e.g. recall@10.")] = None,
    parameters: Annotated[list[str] | None, typer.Option("--set", help="A parameter to start from.")] = None,
    split: Annotated[str | None, typer.Option(help="As in 'fullrank compare'.")] = None,
    relevant: Annotated[float | None, typer.Option(help="The least rating that counts as relevant.")] = None,
    repeat: Repeat = False,
    journal: Annotated[Path | None, typer.Option(help="Keeps the trials; an interrupted search goes on.")] = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Find parameters of a model that do well on a part of your data it was not trained on."""
    from fullrank.comparison.protocol import make_setting
    from fullrank.models.parameters import parameters as plain
    from fullrank.tuning.tune import tune as search

    data, recipe, plan = choose(source, model, parameters or [], **reading)
    loaded = data.load()
    note_data(loaded.name, loaded.data)
    options: dict[str, Any] = {
        "split": split,
        "relevant": relevant,
        "metrics": [metric] if metric else None,
        "repeat": repeat,
        "seed": seed,
    }
    if plan is not None:
        options = {"split": plan.split, "relevant": plan.relevant, "metrics": plan.metrics or None}
        options |= {"repeat": plan.repeat, "seed": plan.seed}
    where = make_setting(loaded.data, kind=loaded.kind, **options)
    with resumable(journal is not None), bar() as progress:
        tuned = search(
            recipe, where.for_tuning(), trials=trials, metric=where.metrics[0], relevant=where.relevant,
            seed=where.seed, journal=journal,
            progress=lambda done, of, best, text: progress and progress(f"{done} of {of} {text}", done / of),
        )  # fmt: skip
    if json:
        print_json({
            "model": type(tuned.recipe).__name__, "parameters": plain(tuned.recipe), "value": tuned.value,
            **tuned.to_json(),
        })  # fmt: skip
        return
    first = tuned.points[0].value
    print(tuned.recipe)
    print(f"{tuned.metric} {tuned.value:.4f} on the validation part" + (f", {first:.4f} as it was" if first else ""))
