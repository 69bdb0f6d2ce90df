"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer

from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.comparison.plan import DataPlan, Plan
    from fullrank.data.ids import Ids, Name

DATA_HELP = "A file ('-' is stdin), a folder or a known name."
ENCODING_HELP = "Of text files; utf-8 unless given."
COLUMNS_HELP = "Which column is what: user=NAME,item=NAME,value=NAME,time=NAME (positions from 0 also)."

READING: dict[str, Any] = {  # how DATA is read: the same options of every command that reads it
    "kind": Annotated[str | None, typer.Option(help="ratings, events, sessions or preferences.")],
    "columns": Annotated[str | None, typer.Option(help=COLUMNS_HELP)],
    "scale": Annotated[str | None, typer.Option(help="Actions in sessions, worst first: shown,clicked,bought.")],
    "separator": Annotated[str | None, typer.Option(help="Between the fields of a text file (\\t: tab); else found.")],
    "header": Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line names columns; found by itself.")
    ],
    "decimal": Annotated[str | None, typer.Option(help="The decimal mark of a text file: . or ,")],
    "encoding": Annotated[str | None, typer.Option(help=ENCODING_HELP)],
    "time_unit": Annotated[str | None, typer.Option(help="Of times given as numbers: s, ms, us or ns.")],
    "time_format": Annotated[str | None, typer.Option(help="Of times given as dates: %d/%m/%Y, %Y-%m-%d %H:%M, ...")],
    "duplicates": Annotated[str | None, typer.Option(help="last, first, sum, mean, max or error.")],
    "on_bad": Annotated[str | None, typer.Option(help="Bad rows: error, skip or quarantine.")],
    "quarantine": Annotated[Path | None, typer.Option(help="Where bad rows are listed.")],
    "settings": Annotated[
        list[str] | None, typer.Option("--data-set", help="An option of a known data set: --data-set catalogue=true.")
    ],
}
Cut: TypeAlias = Annotated[
    str | None, typer.Option("--split", help="leave-last:5, holdout:0.2, time:2001-01-31 or time:0.2 (the last fifth).")
]
Relevant: TypeAlias = Annotated[float | None, typer.Option(help="The least rating that counts as relevant.")]
Metrics: TypeAlias = Annotated[str | None, typer.Option(help="recall@10,ndcg@10,... The first one decides.")]
Seed: TypeAlias = Annotated[int, typer.Option(help="The same seed gives the same numbers.", min=0)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Repeat: TypeAlias = Annotated[
    bool, typer.Option("--repeat", help="Judge with items people had before: they stay candidates.")
]
Items: TypeAlias = Annotated[
    Path | None, typer.Option("--items", help="A table about items, an id and a title: shown beside ids.")
]
Encoding: TypeAlias = Annotated[str | None, typer.Option(help=ENCODING_HELP)]
Overwrite: TypeAlias = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


def reads(but: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of READING, `but` some: it takes those that were given as one argument, `reading`."""
    decorate = with_options({name: annotation for name, annotation in READING.items() if name not in but}, "reading")

    def and_leave_out(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*, reading: dict[str, Any], **given: Any) -> None:
            command(**given, reading={name: value for name, value in reading.items() if value is not None})

        return decorate(run)

    return and_leave_out


def with_options(options: dict[str, Any], argument: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options: it takes them all as one argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = [one.replace(annotation=hints[name]) for name, one in signature(command).parameters.items()]
        own = [one for one in own if one.name != argument]
        more = [Parameter(name, Parameter.KEYWORD_ONLY, default=_unset(options[name]), annotation=options[name]) for name in options]  # fmt: skip # noqa: E501

        @wraps(command)
        def run(**given: Any) -> None:
            shared = {name: given.pop(name) for name in options}
            command(**given, **{argument: shared})

        run.__signature__ = signature(command).replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in (*own, *more)}
        return run

    return decorate


def _unset(annotation: Any) -> Any:
    """What an option is that was not given: False for a switch."""
    return False if annotation.__origin__ is bool else None


def parse_columns(text: str | None) -> dict[str, str | int] | None:
    """The --columns option as a mapping.

    >>> parse_columns("user=uid,item=2")
    {'user': 'uid', 'item': 2}
    """
    if text is None:
        return None
    columns: dict[str, str | int] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not (equals and role and column):
            raise ParameterError(f"--columns: {part!r} is not ROLE=COLUMN; write e.g. user=uid,item=2.")
        columns[role.strip()] = int(column) if column.isascii() and column.isdigit() else column
    return columns


def parse_settings(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """The --set options as keyword arguments: numbers, true and false as such, everything else as text.

    >>> parse_settings(["factors=64", "catalogue=true", "which=scores"])
    {'factors': 64, 'catalogue': True, 'which': 'scores'}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (equals and name.isidentifier()):
            raise ParameterError(f"{option}: {pair!r} is not NAME=VALUE; write e.g. {option} factors=64.")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def listed(text: str | None) -> list[str]:
    """What is written with commas between.

    >>> listed("allrank, ials"), listed(None)
    (['allrank', 'ials'], [])
    """
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def parse_history(text: str, items: Ids) -> list[Name] | dict[Name, float]:
    """The --history option: items, or items with values.

    >>> from fullrank.data.ids import Ids
    >>> parse_history("7,8", Ids([7, 8])), parse_history("7=5,8=1", Ids([7, 8]))
    ([7, 8], {7: 5.0, 8: 1.0})
    """
    from fullrank.data.read_ids import as_id

    pairs = [part.partition("=") for part in listed(text)]
    names = [as_id(name, items) for name, _, _ in pairs]
    if not any(equals for _, equals, _ in pairs):
        return names
    try:
        return {name: float(value) for name, (_, _, value) in zip(names, pairs, strict=True)}
    except ValueError:
        raise ParameterError(f"--history: {text!r} has items with and without values; give all one.") from None


def read_titles(path: Path | None, ids: Ids, encoding: str | None) -> dict[Name, str]:
    """What a table calls these items; nothing where there is no table."""
    if path is None:
        return {}
    from fullrank.data.read_attributes import read_attributes

    table = read_attributes(path, ids, encoding=encoding or "utf-8")
    return dict(zip(ids, table.titles_for(ids), strict=True))


def choose(source: str, model: str | None, parameters: list[str], **reading: Any) -> tuple[DataPlan, Any, Plan | None]:
    """What to read, and the recipe: of a plan, where DATA is one, else of the options of a command."""
    from fullrank.comparison.naming import make_recipe
    from fullrank.comparison.plan import read_plan

    if not source.endswith(".toml"):
        return data_plan(source, **reading), make_recipe(model or "allrank", **parse_settings(parameters)), None
    if parameters or reading:
        raise ParameterError("a plan says all of this itself; change the file, or give the data instead of a plan.")
    plan = read_plan(source)
    recipes = plan.recipes()
    if model is None and len(recipes) == 1:
        return plan.data, next(iter(recipes.values())), plan
    if model not in recipes:
        raise ParameterError(f"{source}: which model? Say --model with one of {', '.join(recipes) or 'none'}.")
    return plan.data, recipes[model], plan


def data_plan(
    source: str, *, columns: str | None = None, scale: str | None = None, settings: list[str] | None = None,
    quarantine: Path | None = None, option: str = "--data-set", **given: Any,
) -> DataPlan:  # fmt: skip
    """What to read and how, from the options of a command; `option` is what it calls those of a known data set."""
    from fullrank.comparison.inputs import KINDS
    from fullrank.comparison.plan import DataPlan

    if given.get("kind") is not None and given["kind"] not in KINDS:
        raise ParameterError(f"--kind: '{given['kind']}' is none; write {', '.join(KINDS)}.")
    return DataPlan(
        source=source, columns=parse_columns(columns), scale=tuple(listed(scale)) or None,
        settings=parse_settings(settings or [], option) or None,
        quarantine=None if quarantine is None else str(quarantine), **given,
    )  # fmt: skip
