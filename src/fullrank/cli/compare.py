"""fullrank compare"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli.options import (
    DATA_HELP,
    Cut,
    Json,
    Metrics,
    Overwrite,
    Relevant,
    Repeat,
    Seed,
    data_plan,
    listed,
    reads,
)
from fullrank.cli.printing import bar, note, note_data, print_json, resumable
from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.comparison.comparison import Comparison
    from fullrank.comparison.inputs import Loaded
    from fullrank.comparison.plan import Plan


@reads()
def compare(
    source: Annotated[str, typer.Argument(metavar="DATA", help=f"{DATA_HELP} Or a plan (.toml).")],
    models: Annotated[
        str | None, typer.Option(help="Which, by name: allrank,ials,itemcf. By default those that suit the data.")
    ] = None,
    split: Cut = None,
    relevant: Relevant = None,
    metrics: Metrics = None,
    repeat: Repeat = False,
    tune: Annotated[int, typer.Option(help="Trials to tune every model with; 0: as they are.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option(help="The folder for report, results and best model.")] = None,
    title: Annotated[str, typer.Option(help="What the report is called.")] = "",
    sampled: Annotated[int, typer.Option(help="Candidates of the sampled metrics shown for warning.", min=1)] = 100,
    items: Annotated[str | None, typer.Option(help="A table about items: an id, a title, anything else.")] = None,
    users: Annotated[str | None, typer.Option(help="A table about users, likewise.")] = None,
    overwrite: Overwrite = False,
    save_plan: Annotated[Path | None, typer.Option(help="Write all this as a plan, and stop.")] = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Compare recommenders on your data, and tell which to use, how sure that is, and what to distrust."""
    from fullrank.comparison.plan import ModelPlan, Plan, check_plan, read_plan, write_plan
    from fullrank.runtime.output import output_folder

    if source.endswith(".toml"):
        if models or split or metrics or relevant is not None or tune or items or users or repeat or reading:
            raise ParameterError("a plan says all of this itself; change the file, or give the data instead of a plan.")
        plan = read_plan(source)
        plan = plan if out is None else plan.model_copy(update={"out": str(out)})
    else:
        plan = check_plan(
            Plan(
                data=data_plan(source, **reading, items=items, users=users),
                title=title, split=split, relevant=relevant, metrics=tuple(listed(metrics)), tune=tune, seed=seed,
                sampled=sampled, repeat=repeat, out=None if out is None else str(out),
                model=tuple(ModelPlan(recipe=name) for name in listed(models)),
            )
        )  # fmt: skip
    if save_plan is not None:
        write_plan(plan, save_plan)
        note(f"written: {save_plan}")
        return
    folder = output_folder(Path(plan.out or "comparison"))
    loaded = plan.data.load()
    for line in loaded.notes:
        note(f"{loaded.name}: {line}")
    note_data(loaded.name, loaded.data)
    run_and_report(folder, lambda **how: run_plan(plan, loaded, overwrite=overwrite, **how), json)


def run_plan(plan: Plan, loaded: Loaded, **how: Any) -> Comparison:
    """The comparison of a plan."""
    from fullrank.comparison.compare import compare as compare_models

    return compare_models(
        loaded.data, plan.recipes if plan.model else None, split=plan.split, relevant=plan.relevant,
        metrics=plan.metrics or None, tune=plan.tune, repeat=plan.repeat, seed=plan.seed, sampled=plan.sampled,
        kind=loaded.kind, title=plan.title or loaded.name, titles=loaded.titles, attributes=loaded.words, **how,
    )  # fmt: skip


def run_and_report(folder: Path, run: Callable[..., Comparison], json: bool) -> Comparison:
    """Run a comparison with a bar, write what it found, and print it; after Ctrl-C what there is."""
    from fullrank.comparison.compare import Interrupted
    from fullrank.report.page import write

    def tell(comparison: Comparison) -> None:
        write(comparison.results, folder / "report.html", overwrite=True)
        if json:
            print_json(comparison.to_json())
        else:
            print(comparison)
        note(f"report: {folder / 'report.html'}")

    with resumable():
        try:
            with bar() as progress:
                comparison = run(out=folder, progress=progress)
        except Interrupted as interrupted:
            tell(interrupted.comparison)
            raise
    tell(comparison)
    return comparison
