"""fullrank protocol make | judge | show"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli.compare import run_and_report
from fullrank.cli.judge import Libraries, ListColumns, Strict, read_named
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
from fullrank.cli.printing import note, note_data, print_result
from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.comparison.comparison import Comparison
    from fullrank.comparison.sealed import SealedProtocol

GAME = typer.Argument(metavar="PROTOCOL", help="A file that 'fullrank protocol make' wrote (.frp).")

protocol = typer.Typer(
    name="protocol", help="Sealed protocols: data, held-out part and rules in one file.", no_args_is_help=True,
    rich_markup_mode=None,
)  # fmt: skip


@protocol.command()
@reads()
def make(
    source: Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file: game.frp.")],
    split: Cut = None,
    relevant: Relevant = None,
    metrics: Metrics = None,
    repeat: Repeat = False,
    public: Annotated[Path | None, typer.Option(help="Also a copy without the held-out part, for everybody.")] = None,
    title: Annotated[str, typer.Option(help="What reports are called.")] = "",
    overwrite: Overwrite = False,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Seal a game: training data for anybody, a held-out part, and the rules it is judged by."""
    from fullrank.comparison.sealed import seal
    from fullrank.runtime.atomic import check_writable

    for path in (out, public):
        if path is not None:
            check_writable(path, overwrite=overwrite)
    loaded = data_plan(source, **reading).load()
    note_data(loaded.name, loaded.data)
    game = seal(
        loaded.data, split=split, relevant=relevant, metrics=listed(metrics) or None, repeat=repeat, seed=seed,
        title=title or loaded.name,
    )  # fmt: skip
    game.save(out, overwrite=overwrite)
    if public is not None:
        game.save(public, public=True, overwrite=overwrite)
    print_result(_facts(game), json)


@protocol.command()
def show(
    game: Annotated[Path, GAME],
    train: Annotated[Path | None, typer.Option(help="Write the training data: .csv, .tsv or .parquet.")] = None,
    public: Annotated[Path | None, typer.Option(help="Write a copy without the held-out part.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """The rules and the id of a protocol; its training data, where it is asked for."""
    from fullrank.comparison.sealed import open_protocol
    from fullrank.data.write import write

    opened = open_protocol(game)
    if train is not None:
        write(opened.train, train, overwrite=overwrite)
        note(f"training data: {train}")
    if public is not None:
        opened.save(public, public=True, overwrite=overwrite)
        note(f"public copy: {public}")
    print_result(_facts(opened), json)


@protocol.command()
def judge(
    game: Annotated[Path, GAME],
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=FILE]...", help="Lists or scores of any system, or a model file (.fr)."),
    ] = None,
    with_: Annotated[
        str | None, typer.Option("--with", help="Recipes to fit on the training data: ials,itemcf.")
    ] = None,
    list_columns: ListColumns = None,
    strict: Strict = False,
    as_: Libraries = None,
    out: Annotated[Path, typer.Option(help="The folder for report and results.")] = Path("judged"),
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """The verdict on lists by the rules of a protocol, with its id and that of the result."""
    from fullrank.comparison.sealed import open_protocol
    from fullrank.runtime.output import output_folder

    opened, folder = open_protocol(game), output_folder(out)
    if not given and with_ is None:
        raise ParameterError("there is nothing to judge; give NAME=FILE, or recipes --with.")
    judged = read_named(given or [], list_columns)

    def run(**how: Any) -> Comparison:
        return opened.judge(
            judged, recipes=listed(with_), strict=strict, libraries=listed(as_), overwrite=overwrite, **how
        )

    manifest = run_and_report(folder, run, json).results.manifest
    note(f"protocol {manifest.protocol}")
    note(f"result   {manifest.result}")


def _facts(game: SealedProtocol) -> dict[str, Any]:
    rules = game.rules
    return {
        "id": game.id, "title": rules.title, "kind": rules.kind, "split": rules.how, "relevant": rules.relevant,
        "metrics": ", ".join(rules.metrics), "excluded": rules.exclude or "nothing", "seed": rules.seed,
        "rows": {name: len(part) for name, part in game.parts.items()}, "users": game.train.n_users,
        "items": game.train.n_items, "sealed": "held_out" in game.parts,
    }  # fmt: skip
