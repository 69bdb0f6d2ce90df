"""fullrank judge"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from fullrank.cli.compare import run_and_report
from fullrank.cli.options import Json, Metrics, Overwrite, Relevant, Seed, listed, parse_columns, reads
from fullrank.cli.printing import note, note_data
from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.comparison.comparison import Comparison

ListColumns: TypeAlias = Annotated[
    str | None, typer.Option(help="Columns of the lists: user=NAME,item=NAME,rank=NAME or score=NAME.")
]
Libraries: TypeAlias = Annotated[
    str | None, typer.Option("--as", help="The same lists as other libraries count them: implicit,trec_eval,...")
]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Refuse irregular lists and leaks.")]


@reads(but=("kind", "scale", "settings"))
def judge(
    given: Annotated[
        list[str], typer.Argument(metavar="NAME=FILE...", help="Lists or scores of any system, or a model file (.fr).")
    ],
    held_out: Annotated[str, typer.Option(help="What people did afterwards: feedback, or TREC qrels.")],
    train: Annotated[str | None, typer.Option(help="What was known before; what people have is left out.")] = None,
    with_: Annotated[str | None, typer.Option("--with", help="Recipes to fit on it: ials,itemcf.")] = None,
    relevant: Relevant = None,
    metrics: Metrics = None,
    seen: Annotated[bool, typer.Option("--seen", help="What people have already stays a candidate.")] = False,
    strict: Strict = False,
    as_: Libraries = None,
    list_columns: ListColumns = None,
    out: Annotated[Path, typer.Option(help="The folder for report and results.")] = Path("judged"),
    title: Annotated[str, typer.Option(help="What the report is called.")] = "",
    items: Annotated[str | None, typer.Option(help="A table about items: an id, a title, anything else.")] = None,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Judge lists, scores or models that any system made: what can be said of them, and what stays open."""
    from fullrank.comparison.judge import judge as judge_lists
    from fullrank.data.read import read_with_repeats
    from fullrank.data.read_lists import read_held_out
    from fullrank.runtime.output import output_folder

    folder, options = output_folder(out), {**reading, "columns": parse_columns(reading.get("columns"))}
    after, least = read_held_out(held_out, **options)
    note_data(held_out, after)
    before = None if train is None else read_with_repeats(train, **options)
    if before is not None:
        note_data(str(train), before)
    judged = read_named(given, list_columns)
    about = {} if items is None else _attributes(items, before or after, reading.get("encoding") or "utf-8")

    def run(**how: Any) -> Comparison:
        return judge_lists(
            after, judged, train=before, recipes=listed(with_), relevant=least if relevant is None else relevant,
            metrics=listed(metrics) or None, exclude=None if seen else "train", strict=strict, seed=seed,
            libraries=listed(as_),
            title=title or f"judged on {held_out}", overwrite=overwrite, **about, **how,
        )  # fmt: skip

    run_and_report(folder, run, json)


def read_named(given: list[str], columns: str | None) -> dict[str, Any]:
    """What is judged, by name."""
    named = dict(_named(one) for one in given)
    if len(named) < len(given):
        raise ParameterError("two files have the same name; write name=FILE with a name for each.")
    return {name: _read(name, path, columns) for name, path in named.items()}


def _named(text: str) -> tuple[str, str]:
    """A name and a file; a file alone is called as it is without its folder and ending."""
    name, equals, path = text.partition("=")
    return (name, path) if equals and name and path else (Path(text).name.partition(".")[0], text)


def _read(name: str, path: str, columns: str | None) -> Any:
    from fullrank.data.read_lists import read_lists
    from fullrank.models.files import load

    if path.endswith(".fr"):
        return load(path)
    lists = read_lists(path, parse_columns(columns))
    note(f"{name}: {lists}; {lists.intake}")
    return lists


def _attributes(path: str, data: Any, encoding: str) -> dict[str, Any]:
    from fullrank.data.read_attributes import read_attributes

    table = read_attributes(path, data.items, encoding=encoding)
    named = {table.ids.name(code): code for code in range(len(table))}
    titles, words = table.titles_for(table.ids), table.words_for(table.ids)
    return {
        "titles": {name: titles[code] for name, code in named.items()},
        "attributes": {name: words[code] for name, code in named.items()},
    }
