"""Lists of ids in files: one in every row."""

from __future__ import annotations

import os
from functools import partial

from fullrank.data.ids import Ids, Name, is_canonical_integer, name_fault
from fullrank.data.read_attributes import Role, is_known
from fullrank.data.reading.attribute_rows import GENERAL, Rows, id_place, parquet_rows, text_rows
from fullrank.data.reading.names import USUAL_NAMES, plain
from fullrank.data.reading.stream import Stream, check_room
from fullrank.errors import DataError, shown


def read_ids(source: str | os.PathLike[str], ids: Ids, *, of: Role = "item", encoding: str = "utf-8") -> list[Name]:
    """The ids in a file, each once, in its order: text with one in every line, or a csv, tsv or parquet file.

    Parameters
    ----------
    source
        The file. Of several columns the one with a usual name (product_id, sku, user, ...) is taken, else the first.
    ids
        Those of the model: ids in text are integers where these are.
    of
        Whether they are of items or of users.
    encoding
        Of a text file.
    """
    check_room(source)
    with Stream(source) as stream:
        parquet = stream.magic.startswith(b"PAR1") and stream.regular
        table = parquet_rows(stream.name) if parquet else text_rows(stream, encoding, of, partial(is_known, ids))
        return list(dict.fromkeys(_names(_without_header(table, of), ids, of, stream.name)))


def as_id(text: str, ids: Ids) -> Name:
    """What is written as an id of these: integers as integers where they all are.

    >>> as_id("7", Ids([1, 2])), as_id("07", Ids([1, 2])), as_id("7", Ids(["1"]))
    (7, '07', '7')
    """
    return int(text) if not ids.are_strings and is_canonical_integer(text) else text


def _without_header(table: Rows, of: Role) -> Rows:
    """A table of one column, whose first line may be its name."""
    if len(table.names) > 1 or table.word == "row" or not table.rows:
        return table
    first = table.rows[0][0]
    if not isinstance(first, str) or plain(first) not in {*USUAL_NAMES[of], *GENERAL}:
        return table
    return Rows([first], table.rows[1:], table.places[1:])


def _names(table: Rows, ids: Ids, of: Role, name: str) -> list[Name]:
    at = id_place(table.names, of)
    names = []
    for row, place in zip(table.rows, table.places, strict=True):
        cell = row[at] if isinstance(row[at], str) else ""
        fault = name_fault(str(cell))
        if fault:
            where = f"{name}:{place}" if table.word == "line" else f"{name}: row {place}"
            raise DataError(f"{where}: {of} id {shown(cell)} {fault}.")
        names.append(as_id(str(cell), ids))
    return names
