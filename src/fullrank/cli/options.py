"""Options that several commands share, and DATA: a file, a folder or a known name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.errors import NoInputError, ParameterError

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


def read_data(source: str, columns: dict[str, str | int] | None, **options: Any) -> tuple[str, Interactions]:
    """DATA of a command: a file, the folder of a known data set, or its name; with what to call it."""
    from fullrank.data import sources

    if source == "-" or Path(source).is_file() or (Path(source).exists() and not Path(source).is_dir()):
        return source, read(source, columns, **options)
    if Path(source).is_dir() or source in sources.names():
        loaded = sources.load(source)
        return loaded.name, loaded.data
    known = ", ".join(sources.names())
    raise NoInputError(f"{source}: no such file, and no known data set ({known}); check the path.")
