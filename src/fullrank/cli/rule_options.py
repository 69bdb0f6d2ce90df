"""The rules of lists as options of a command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank.cli.options import listed
from fullrank.errors import ParameterError

if TYPE_CHECKING:
    from fullrank.data.attributes import Attributes
    from fullrank.data.ids import Ids, Name
    from fullrank.data.interactions import Interactions
    from fullrank.models.kinds.model import Model
    from fullrank.recommending.rules import Rules

RULES: dict[str, Any] = {
    "exclude": Annotated[str | None, typer.Option(help="Nobody gets these items: a file with ids, or id,id,...")],
    "only": Annotated[str | None, typer.Option(help="Choose among these items: a file with ids, or id,id,...")],
    "repeat": Annotated[bool, typer.Option("--repeat", help="Also what they have seen.")],
    "allow": Annotated[str | None, typer.Option(help="A file of user,item: these people get only these items.")],
    "deny": Annotated[str | None, typer.Option(help="A file of user,item: these people do not get these items.")],
    "items": Annotated[
        str | None, typer.Option(help="What is known of items: a file with ids, or a known data set (name or folder).")
    ],
    "where": Annotated[
        str | None, typer.Option(help="Only items of which this holds: \"year >= 2000 and genre != 'News'\".")
    ],
    "most": Annotated[list[str] | None, typer.Option(help="At most so many of a list with the same value: genre:3.")],
    "diversify": Annotated[str | None, typer.Option(help="mmr:0.3, or calibrated:0.5; :COLUMN says by what.")],
    "pool": Annotated[
        int | None, typer.Option(help="Candidates that --diversify picks from; 10 n, at least 100.", min=1)
    ],
}


def read_rules(model: Model, given: Mapping[str, Any], reading: Mapping[str, Any]) -> tuple[Rules, tuple[str, ...]]:
    """The rules these options say, for this model, and what to tell of the files they are from."""
    from fullrank.recommending.rules import Rules

    encoding, items = reading.get("encoding", "utf-8"), model.train.items
    about, notes = (None, ()) if given["items"] is None else read_about(given["items"], items, encoding)
    allow, deny = (
        None if given[which] is None else read_pairs(given[which], model, reading) for which in ("allow", "deny")
    )
    notes += tuple(table[1] for table in (allow, deny) if table is not None and table[1])
    rules = Rules(
        exclude=[] if given["exclude"] is None else read_names(given["exclude"], items, "item", encoding),
        only=None if given["only"] is None else read_names(given["only"], items, "item", encoding),
        repeat=bool(given["repeat"]),
        allow=None if allow is None else allow[0],
        deny=None if deny is None else deny[0],
        where=given["where"], most=parse_most(given["most"] or []), items=about, diversify=given["diversify"],
        pool=given["pool"],
    )  # fmt: skip
    return rules, notes


def parse_most(texts: list[str]) -> dict[str, int]:
    """The --most options.

    >>> parse_most(["genre:3", "release: year:2"])
    {'genre': 3, 'release: year': 2}
    """
    most = {}
    for text in texts:
        column, _, number = text.rpartition(":")
        if not column or not number.strip().isdecimal():
            raise ParameterError(f"--most: {text!r} is not COLUMN:NUMBER; write e.g. --most genre:3.")
        most[column.strip()] = int(number)
    return most


def read_people(text: str, users: Ids, encoding: str) -> Any:
    """What --users says: "all", or names; of names with and without integers those that may be known."""
    from fullrank.cli.printing import note

    if text == "all":
        return "all"
    names = read_names(text, users, "user", encoding)
    odd = [name for name in names if isinstance(name, str) != users.are_strings]
    if len(odd) in (0, len(names)):
        return names
    note(f"{len(odd):,} of {len(names):,} users get no list, since all ids of the model are integers: {odd[0]!r}, ...")
    return [name for name in names if isinstance(name, str) == users.are_strings]


def read_names(text: str, ids: Ids, of: Any, encoding: str) -> list[Name]:
    """Ids from a file, or written with commas between."""
    from fullrank.data.read_ids import as_id, read_ids

    if Path(text).exists():
        return read_ids(text, ids, of=of, encoding=encoding)
    if "," not in text and Path(text).suffix in (".csv", ".tsv", ".txt", ".parquet", ".gz") and text not in ids:
        return read_ids(text, ids, of=of, encoding=encoding)  # tells that there is no such file
    return [as_id(name, ids) for name in listed(text)]


def read_pairs(path: str, model: Model, reading: Mapping[str, Any]) -> tuple[Interactions, str]:
    """A table of users and items with ids like those of the model, and what to tell of rows that cannot have such."""
    import numpy as np

    from fullrank.data.interactions import Interactions
    from fullrank.data.read import read
    from fullrank.data.read_ids import as_id

    table = read(path, **reading)
    columns, fit = [], np.ones(len(table), dtype=bool)
    for own, codes, known in (
        (table.users, table.user, model.train.users), (table.items, table.item, model.train.items),
    ):  # fmt: skip
        names = [as_id(str(name), known) for name in own]  # text has no types
        fit &= np.array([isinstance(name, str) == known.are_strings for name in names], dtype=bool)[codes]
        columns.append((names, codes))
    users, items = ([names[code] for code in codes[fit].tolist()] for names, codes in columns)
    lost = int((~fit).sum())
    told = f"{path}: {lost:,} of {len(fit):,} rows have an id that is no integer, as all of the model's are"
    return Interactions.of(users, items), told if lost else ""


def read_about(source: str, items: Ids, encoding: str) -> tuple[Attributes, tuple[str, ...]]:
    """What a file says of items, or a known data set: titles and genres; and what to tell of it."""
    from fullrank.comparison.inputs import is_file, load_known
    from fullrank.data.attributes import Attributes
    from fullrank.data.read_attributes import read_attributes

    if is_file(source) or not (Path(source).is_dir() or _is_known(source)):
        about = read_attributes(source, items, encoding=encoding)
    else:
        known = load_known(source, {})
        columns = {name: column for name, column in (("title", known.titles), ("genres", known.genres)) if column}
        if not columns:
            raise ParameterError(f"--items: {known.name} says nothing of its items; give a file about them.")
        about = Attributes(known.items, columns, "title" if known.titles else None)
    lost = about.count_unknown(items)
    missing = f"; {lost:,} of {len(items):,} items of the model have no row there" if lost else ""
    return about, (f"{source} has {len(about):,} items with {', '.join(about.columns)}{missing}",)


def _is_known(source: str) -> bool:
    from fullrank.data import sources

    return source in sources.names()
