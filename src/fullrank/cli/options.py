"""Options that several commands share, and DATA: a file, a folder or a known name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank.errors import NoInputError, ParameterError

if TYPE_CHECKING:
    from fullrank.data.sources import Source

COLUMNS_HELP = "Which column is what: user=NAME,item=NAME,value=NAME,time=NAME (positions from 0 also)."


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


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """The --set options as keyword arguments: numbers, true and false as such, everything else as text.

    >>> parse_settings(["factors=64", "catalogue=true", "which=scores"])
    {'factors': 64, 'catalogue': True, 'which': 'scores'}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (equals and name.isidentifier()):
            raise ParameterError(f"--set: {pair!r} is not NAME=VALUE; write e.g. --set catalogue=true.")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def is_file(source: str) -> bool:
    """Whether DATA is something to read as a file: a path, a pipe, standard input."""
    return source == "-" or (Path(source).exists() and not Path(source).is_dir())


def read_source(source: str, settings: dict[str, Any]) -> Source[Any]:
    """DATA that is no file: the folder of a known data set, or its name."""
    from fullrank.data import sources

    if Path(source).is_dir() or source in sources.names():
        return sources.load(source, **settings)
    known = ", ".join(sources.names())
    raise NoInputError(f"{source}: no such file, and no known data set ({known}); check the path.")
