"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.experiments.plan import DataPlan, Plan

DATA_HELP = "A file ('-' is stdin), a folder or a known name."
COLUMNS_HELP = "Which column is what: user=NAME,item=NAME,value=NAME,time=NAME (positions from 0 also)."

KindOfData: TypeAlias = Annotated[str | None, typer.Option(help="ratings, events, sessions or preferences.")]
Columns: TypeAlias = Annotated[str | None, typer.Option(help=COLUMNS_HELP)]
Scale: TypeAlias = Annotated[str | None, typer.Option(help="Actions in sessions, worst first: shown,clicked,bought.")]
Separator: TypeAlias = Annotated[str | None, typer.Option(help="Between the fields of a text file; found by itself.")]
Encoding: TypeAlias = Annotated[str | None, typer.Option(help="Of a text file; utf-8 unless given.")]
TimeUnit: TypeAlias = Annotated[str | None, typer.Option(help="Of times given as numbers: s, ms, us or ns.")]
Duplicates: TypeAlias = Annotated[str | None, typer.Option(help="last, first, sum, mean, max or error.")]
OnBad: TypeAlias = Annotated[str | None, typer.Option(help="Bad rows: error, skip or quarantine.")]
Quarantine: TypeAlias = Annotated[Path | None, typer.Option(help="Where bad rows are listed.")]
Settings: TypeAlias = Annotated[
    list[str] | None, typer.Option("--data-set", help="An option of a known data set: --data-set catalogue=true.")
]
Seed: TypeAlias = Annotated[int, typer.Option(help="The same seed gives the same numbers.", min=0)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Overwrite: TypeAlias = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]


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


def chosen(source: str, model: str | None, parameters: list[str], **reading: Any) -> tuple[DataPlan, Any, Plan | None]:
    """What to read, and the recipe: of a plan, where DATA is one, else of the options of a command."""
    from fullrank.experiments.compare import recipe_of
    from fullrank.experiments.plan import read_plan

    if not source.endswith(".toml"):
        return data_plan(source, **reading), recipe_of(model or "allrank", **parse_settings(parameters)), None
    if parameters or any(value is not None for value in reading.values()):
        raise ParameterError("a plan says all of this itself; change the file, or give the data instead of a plan.")
    plan = read_plan(source)
    recipes = plan.recipes() or {}
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
    from fullrank.experiments.inputs import KINDS
    from fullrank.experiments.plan import DataPlan

    if given.get("kind") is not None and given["kind"] not in KINDS:
        raise ParameterError(f"--kind: '{given['kind']}' is none; write {', '.join(KINDS)}.")
    return DataPlan(
        source=source, columns=parse_columns(columns), scale=tuple(listed(scale)) or None,
        settings=parse_settings(settings or [], option) or None,
        quarantine=None if quarantine is None else str(quarantine), **given,
    )  # fmt: skip
