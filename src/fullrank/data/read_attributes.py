"""Reading tables of titles and other attributes, by the ids that feedback has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeAlias

from fullrank.data.attributes import Attributes, Labels, Texts
from fullrank.data.ids import Ids, Name, is_canonical_integer, name_fault
from fullrank.data.reading.attribute_rows import Cell, Rows, id_place, parquet_rows, text_rows
from fullrank.data.reading.names import TITLES, plain
from fullrank.data.reading.stream import Stream, check_room
from fullrank.errors import DataError, check, shown

Role: TypeAlias = Literal["item", "user"]

BAR = "|"  # between several values in one cell


def read_attributes(
    source: str | os.PathLike[str], ids: Ids, *, of: Role = "item", encoding: str = "utf-8"
) -> Attributes:
    """Titles and other attributes of items or users: a csv, tsv or parquet file with an id in every row.

    The id stands in a column with a usual name (product_id, sku, id, ...), else in the first; the title in one called
    title, name, label, description, ..., else, of items, in the second. All others are attributes; several values in
    one cell stand between bars (Comedy|Drama). `ids` are those of the feedback: they tell which separator there is
    and whether there is a header, and ids in the file are integers where they are.
    """
    check("of", of, of in ("item", "user"), "'item' or 'user'")
    check_room(source)
    with Stream(source) as stream:
        parquet = stream.magic.startswith(b"PAR1") and stream.regular
        table = parquet_rows(stream.name) if parquet else text_rows(stream, encoding, of, partial(is_known, ids))
        return _attributes(table, ids, of, stream.name)


def is_known(ids: Ids, cell: str) -> bool:
    """Whether a cell is one of these ids."""
    return (cell if ids.are_strings else int(cell) if is_canonical_integer(cell) else None) in ids


def _attributes(table: Rows, ids: Ids, of: Role, name: str) -> Attributes:
    twice = next((one for one in table.names if list(table.names).count(one) > 1), None)
    if twice is not None:
        raise DataError(f"{name}: column {shown(twice)} occurs twice in the header; rename one of them.")
    if len(table.names) < 2:
        raise DataError(f"{name}: has one column only; expected {of} ids and at least one column about them.")
    if not table.rows:
        raise DataError(f"{name}: no {of}s; there is a header at most.")
    at = id_place(table.names, of)
    keys = _keys(table, at, ids, of, name)
    if not any(key in ids for key in keys):
        some = f" such as {shown(ids.name(0))}" if len(ids) else ""
        raise DataError(
            f"{name}: none of {len(keys):,} {of} ids is in the data, the first is {shown(keys[0])}; give ids{some}."
        )
    others = [place for place in range(len(table.names)) if place != at]
    title = _title_place(table.names, others, of)
    columns = {table.names[place]: _column([row[place] for row in table.rows], place == title) for place in others}
    return Attributes(Ids(keys), columns, None if title is None else table.names[title])


def _keys(table: Rows, at: int, ids: Ids, of: Role, name: str) -> list[Name]:
    """The ids of the rows, as the feedback has them; each once."""
    first: dict[Name, int] = {}
    for row, place in zip(table.rows, table.places, strict=True):
        where = f"{name}:{place}" if table.word == "line" else f"{name}: row {place}"
        cell = row[at] if isinstance(row[at], str) else ""
        fault = name_fault(str(cell))
        if fault:
            raise DataError(f"{where}: {of} id {shown(cell)} {fault}.")
        if not ids.are_strings and not is_canonical_integer(str(cell)):
            raise DataError(
                f"{where}: {of} id {shown(cell)} is no integer, as the {of} ids of the data are; correct or remove it."
            )
        key: Name = str(cell) if ids.are_strings else int(str(cell))
        if key in first:
            raise DataError(
                f"{where}: {of} id {shown(key)} is on {table.word} {first[key]} already; keep one of the two."
            )
        first[key] = place
    return list(first)


def _title_place(names: Sequence[str], others: Sequence[int], of: Role) -> int | None:
    """The column of titles, by its usual names; of items without one the first that is not the id."""
    there = {plain(names[place]): place for place in reversed(others)}
    usual = next((there[name] for name in TITLES if name in there), None)
    return others[0] if usual is None and of == "item" else usual


def _column(cells: Sequence[Cell], is_title: bool) -> Texts | Labels:
    """Text as it is; tuples where there are several values in any cell."""
    several = any(isinstance(cell, tuple) or BAR in cell for cell in cells)
    if is_title or not several:
        return tuple(cell if isinstance(cell, str) else f"{BAR}".join(cell) for cell in cells)
    return tuple(cell if isinstance(cell, tuple) else _split(cell) for cell in cells)


def _split(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(BAR) if part.strip())
