"""Reading lists that any system made, and judgements in the form of TREC."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.data.outside import OutsideLists, ordered
from fullrank.data.read import Columns, read
from fullrank.data.reading.dialect import HEAD
from fullrank.data.reading.encoding import as_utf8
from fullrank.data.reading.fields import Field, Kind
from fullrank.data.reading.names import USUAL_NAMES, plain
from fullrank.data.reading.options import check_options
from fullrank.data.reading.runs import form_of, json_columns, jsonl_frame, mapping_columns, trec_columns
from fullrank.data.reading.stream import Stream
from fullrank.data.reading.table import Table, read_table
from fullrank.errors import DataError, check

ROLES: dict[str, Kind] = {"user": "id", "item": "id", "rank": "number", "score": "number"}


def read_lists(source: Any, columns: Columns = None, **options: Any) -> OutsideLists:
    """Lists that any system made, from a file or a table.

    Parameters
    ----------
    source
        The path of a csv, tsv or parquet file with columns user, item and rank or score (lists as cells are taken
        apart), of JSON lines with the same, of a TREC run, of a JSON object {user: {item: score}} as ranx writes it;
        a data frame, a dict of columns, {user: {item: score}} or {user: [items, best first]}.
    columns
        Which column is what, by name or position from 0: {"user": "uid", "item": 2, "score": "pred"}. Without it
        columns are found by their usual names, or stand in the order user, item, rank or score.
    options
        How text is read, as in `read`: `separator`, `header`, `decimal`, `encoding`, `on_bad`, `quarantine`.

    A rank (1 is best) is taken as it is, also where there is a score; in a TREC run scores decide, as in trec_eval.
    Equal scores are ties. Without either column lists are in the order of the rows.

    >>> read_lists({"ann": ["tea", "jam"], "bob": ["tea"]})
    OutsideLists(3 rows, 2 people, lists of up to 2 items by order)
    """
    check_options(options)
    encoding = options.get("encoding") or "utf-8"
    if isinstance(source, str | os.PathLike):
        form = _form(source, encoding)
        if form in ("run", "qrels"):
            with Stream(source) as stream:
                return _from_trec(trec_columns(stream, "run", encoding))
        if form:
            with Stream(source) as stream:
                given = json_columns(stream, encoding) if form == "json" else jsonl_frame(stream, encoding)
            return _from_table(_explode(given), columns, {}, os.fspath(source))
        fields = _fields(columns, _has_names(source, options))
        if _is_parquet(source):
            return _from_table(_explode_parquet(source), columns, options, os.fspath(source))
        return _lists(read_table(source, fields, **options), columns)
    if isinstance(source, Mapping) and not _are_columns(source, columns):
        return _from_table(mapping_columns(source, "the lists"), None, {})
    return _from_table(_explode(source), columns, options)


def read_held_out(source: Any, columns: Columns = None, **options: Any) -> tuple[Interactions, float | None]:
    """What people did afterwards: any feedback, or judgements as TREC qrels or as JSON {user: {item: relevance}}.

    Of judgements the second result is 1, the least value that is relevant.
    """
    if not isinstance(source, str | os.PathLike):
        return read(source, columns, **options), None
    encoding = options.get("encoding") or "utf-8"
    form = _form(source, encoding)
    if form not in ("qrels", "json"):
        return read(source, columns, **options), None
    with Stream(source) as stream:
        given = trec_columns(stream, "qrels", encoding) if form == "qrels" else json_columns(stream, encoding)
    value = given.get("value", given.get("score"))
    judged = read({"user": given["user"], "item": given["item"], "value": value}, feedback="explicit")
    return judged, 1.0


def _form(source: str | os.PathLike[str], encoding: str) -> str:
    with Stream(source) as stream:
        if stream.magic.startswith(b"PAR1") or not stream.regular:
            return ""
        return form_of(as_utf8(stream, encoding).read(HEAD))


def _is_parquet(source: str | os.PathLike[str]) -> bool:
    with Stream(source) as stream:
        return stream.regular and stream.magic.startswith(b"PAR1")


def _has_names(source: str | os.PathLike[str], options: Mapping[str, Any]) -> bool:
    """Whether the first line of a text names users and items."""
    from fullrank.data.reading.table import column_names

    if options.get("header") is not None:
        return bool(options["header"])
    names = column_names(source, options.get("separator"), options.get("encoding") or "utf-8")
    return all(any(usual in names for usual in USUAL_NAMES[role]) for role in ("user", "item"))


def _are_columns(source: Mapping[Any, Any], columns: Columns) -> bool:
    names = {plain(str(name)) for name in source}
    return columns is not None or all(any(usual in names for usual in USUAL_NAMES[role]) for role in ("user", "item"))


def _fields(columns: Columns, named: bool) -> list[Field]:
    """The columns of lists; without names the third is a rank or a score, whichever it turns out to be."""
    if columns is not None:
        for role in columns:
            check("columns", dict(columns), role in ROLES, f"a mapping from {', '.join(ROLES)} to columns")
        for role in ("user", "item"):
            check("columns", dict(columns), role in columns, f"a mapping that tells the {role} column")
        return [Field(role, ROLES[role], column, exact=True) for role, column in columns.items()]
    roles = ("user", "item", "rank", "score") if named else ("user", "item", "score")
    return [Field(role, ROLES[role], None, role in ("user", "item"), exact=True) for role in roles]


def _from_table(source: Any, columns: Columns, options: Mapping[str, Any], name: str = "") -> OutsideLists:
    """Lists of columns with names; faults are told with the file's, where there is one."""
    try:
        return _lists(read_table(source, _fields(columns, named=True), **options), columns)
    except DataError as error:
        what = f"{type(source).__name__}: "
        raise DataError(str(error).replace(what, f"{name}: ", 1) if name else str(error)) from error


def _lists(table: Table, columns: Columns) -> OutsideLists:
    rank, score, intake = table.columns.get("rank"), table.columns.get("score"), table.intake
    user, item = table.columns["user"], table.columns["item"]
    if columns is None and score is not None and not table.taken.get("score"):
        ranks = _are_ranks(user, score)
        intake = intake.noting(f"the third column was taken as the {'rank' if ranks else 'score'}")
        rank, score = (score, None) if ranks else (None, score)
    if rank is None and score is None:
        intake = intake.noting("neither ranks nor scores: the order of the rows was taken")
    return ordered(user, item, table.ids["user"], table.ids["item"], rank=rank, score=score, intake=intake)


def _from_trec(given: dict[str, Any]) -> OutsideLists:
    """Of a run scores decide; where ranks order items otherwise, that is told."""
    lists = _from_table({name: given[name] for name in ("user", "item", "score")}, None, {})
    by_rank = _from_table({name: given[name] for name in ("user", "item", "rank", "score")}, None, {})
    if not by_rank.intake.doubts:
        return lists
    doubt = "ranks order some items otherwise than scores; the scores were taken, as trec_eval does"
    return replace(lists, intake=replace(lists.intake, doubts=(*lists.intake.doubts, doubt)))


def _are_ranks(user: Any, number: Any) -> bool:
    """Whether the numbers of every person are 1, 2, 3, ... (or from 0) in some order."""
    order = np.lexsort((number, user))
    who = user[order]
    place = np.arange(len(who)) - np.searchsorted(who, who)
    return any(np.array_equal(number[order], place + first) for first in (0, 1))


def _explode_parquet(path: str | os.PathLike[str]) -> Any:
    """A parquet file; as a data frame, taken apart, where cells are lists."""
    import polars as pl

    try:
        schema = pl.scan_parquet(os.fspath(path), glob=False).collect_schema()
        nested = any(isinstance(kind, pl.List | pl.Array) for kind in schema.values())
        return _explode(pl.read_parquet(os.fspath(path), glob=False)) if nested else path
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return path  # which is refused where it is read


def _explode(source: Any) -> Any:
    """A row for every cell of columns that hold lists; anything else as it is."""
    import polars as pl

    if not isinstance(source, pl.DataFrame):
        return source
    nested = [name for name, kind in source.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if not nested:
        return source
    one = {name: name[:-1] for name in nested if name.endswith("s") and name[:-1] not in source.columns}  # items: item
    try:
        return source.explode(nested).drop_nulls(nested).rename(one)
    except pl.exceptions.PolarsError as error:
        names = " and ".join(nested)
        raise DataError(f"lists: {names} have different lengths in some row; give every item one of each.") from error
