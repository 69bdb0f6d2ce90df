"""fullrank tune"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullrank.cli.options import (
    DATA_HELP,
    Columns,
    Duplicates,
    Encoding,
    Json,
    KindOfData,
    OnBad,
    Quarantine,
    Scale,
    Seed,
    Separator,
    Settings,
    TimeUnit,
    data_plan,
    parse_settings,
)
from fullrank.cli.printing import bar, note, print_json


def tune(
    source: Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)],
    model: Annotated[str, typer.Option(help="Its name: allrank, ials, itemcf, ...")] = "allrank",
    trials: Annotated[int, typer.Option(help="How many settings are tried.", min=1)] = 20,
    metric: Annotated[str | None, typer.Option(help="What decides, e.g. recall@10.")] = None,
    parameters: Annotated[list[str] | None, typer.Option("--set", help="A parameter to start from.")] = None,
    split: Annotated[str | None, typer.Option(help="As in 'fullrank compare'.")] = None,
    relevant: Annotated[float | None, typer.Option(help="The least rating that counts as relevant.")] = None,
    journal: Annotated[Path | None, typer.Option(help="Keeps the trials; an interrupted search goes on.")] = None,
    kind: KindOfData = None,
    columns: Columns = None,
    scale: Scale = None,
    separator: Separator = None,
    encoding: Encoding = None,
    time_unit: TimeUnit = None,
    duplicates: Duplicates = None,
    on_bad: OnBad = None,
    quarantine: Quarantine = None,
    settings: Settings = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find parameters of a model that do well on a part of your data it was not trained on."""
    from fullrank.experiments.compare import recipe_of
    from fullrank.experiments.parts import parameters as plain
    from fullrank.experiments.setting import setting
    from fullrank.experiments.tune import tune as search

    recipe = recipe_of(model, **parse_settings(parameters or []))
    loaded = data_plan(
        source, kind=kind, columns=columns, scale=scale, separator=separator, encoding=encoding, time_unit=time_unit,
        duplicates=duplicates, on_bad=on_bad, quarantine=quarantine, settings=settings,
    ).load()  # fmt: skip
    note(f"{loaded.name}: {loaded.data}")
    asked = setting(
        loaded.data, split=split, relevant=relevant, metrics=None if metric is None else [metric], kind=loaded.kind,
        seed=seed,
    )  # fmt: skip
    with bar() as progress:
        found = search(
            recipe, asked.for_tuning(), trials=trials, metric=asked.metrics[0], relevant=asked.relevant, seed=seed,
            journal=journal,
            progress=lambda done, of, best, text: progress and progress(f"{done} of {of} {text}", done / of),
        )  # fmt: skip
    if json:
        print_json({
            "model": type(found.recipe).__name__, "parameters": plain(found.recipe), "value": found.value,
            **found.to_json(),
        })  # fmt: skip
        return
    first = found.points[0].value
    print(found.recipe)
    print(f"{found.metric} {found.value:.4f} on the validation part" + (f", {first:.4f} as it was" if first else ""))
