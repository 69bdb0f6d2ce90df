"""Reading feedback from files and tables, strictly: nothing is lost without being counted."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fullrank.data import graded, interactions
from fullrank.data.canonical import TINY, Duplicates, Values
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.memory import check_address_space, check_fits
from fullrank.data.preferences import Preferences, preferences
from fullrank.data.reading.dialect import HEAD, Column, Field, Kind, locate, plain, sniff
from fullrank.data.reading.options import check_actions, check_options
from fullrank.data.reading.refusals import OnBad, Refusals
from fullrank.data.reading.sparse import from_sparse, is_sparse
from fullrank.errors import DataError, check

if TYPE_CHECKING:
    from fullrank.data.reading.text import Batch, TextReader

Columns: TypeAlias = Mapping[str, Column] | None
Feedback: TypeAlias = Literal["explicit", "implicit"]

ROLES: dict[str, dict[str, tuple[Kind, bool]]] = {  # what each container is made of: kind, required
    "interactions": {"user": ("id", True), "item": ("id", True), "value": ("number", False), "time": ("time", False)},
    "sessions": {
        "session": ("id", True), "item": ("id", True), "grade": ("number", False), "action": ("id", False),
        "user": ("id", False), "time": ("time", False),
    },
    "preferences": {"user": ("id", True), "better": ("id", True), "worse": ("id", True)},
}  # fmt: skip


def read(
    source: Any,
    columns: Columns = None,
    *,
    feedback: Feedback | None = None,
    duplicates: Duplicates | None = None,
    scale: tuple[float, float] | None = None,
    users: Ids | None = None,
    items: Ids | None = None,
    **options: Any,
) -> Interactions:
    """Ratings, counts or events from a file or a table.

    `source`: the path of a csv, tsv, `::`-separated or parquet file, compressed or not ("-" is standard
    input); a pandas, polars, Arrow or other data frame; a scipy sparse matrix (users x items); a dict
    of columns. `columns` says which column is what, by name or by position from 0, and reads no
    other: {"user": "uid", "item": 2}. Without it columns are found by their usual names, or stand in
    the order user, item, value, time.

    `feedback="implicit"` wants values above 0 (counts) and adds up duplicates. `duplicates`: see
    `Interactions.of`. `scale=(1, 5)` refuses values outside. `users`, `items`: catalogues that may
    hold some without feedback, or the names of a matrix' rows and columns. Further options: `separator`,
    `header`, `encoding`, `time_unit` ("s", "ms", "us", "ns"), `on_bad` ("error", "skip", "quarantine"),
    `quarantine` (a path).

    >>> read({"user": ["ann", "bob"], "item": [7, 8], "rating": [5, 3]})
    Interactions(2 rows, 2 users, 2 items, values 3..5)
    """
    check_options(options, feedback=feedback, duplicates=duplicates, scale=scale)
    limits = _limits(feedback, scale)
    if is_sparse(source):
        check("columns", columns, columns is None, "left out for a sparse matrix, whose rows are users")
        return from_sparse(source, duplicates or "sum", limits, users, items)
    fields = [
        replace(field, **limits) if field.role == "value" else field for field in _fields("interactions", columns)
    ]
    table = read_table(source, fields, **options)
    rule: Duplicates = duplicates or ("sum" if feedback == "implicit" else "last")
    users, items = _into(table, "user", users), _into(table, "item", items)
    return interactions.canonical(table.columns, users, items, rule, table.intake)


def read_sessions(
    source: Any, columns: Columns = None, *, scale: Sequence[str] | None = None, **options: Any
) -> Graded:
    """Sessions with their offer sets: a row per session and item, with a grade or an action.

    `scale` orders the actions from worst to best: ("shown", "clicked", "bought"). Columns: session,
    item, grade or action, user, time. Everything else as in `read`.

    >>> read_sessions({"session": [1, 1], "item": ["tea", "jam"], "action": ["shown", "bought"]},
    ...               scale=("shown", "bought"))
    Graded(1 cases, 2 offers, 1 users, 2 items)
    """
    check_options(options)
    check_actions(scale)
    fields = {field.role: field for field in _fields("sessions", columns)}
    fields.pop("action" if scale is None else "grade", None)
    if scale is None:
        fields["grade"] = replace(fields.get("grade", Field("grade", "number")), required=True)
    else:
        action = fields.get("action", Field("action", "id"))
        rule = f"is not on the scale {', '.join(scale)}; add it there, or leave the row out"
        fields["action"] = replace(action, required=True, allowed=tuple(scale), rule=rule)
    table = read_table(source, list(fields.values()), **options)
    grade = table.columns["grade"] if scale is None else _levels(table, scale)
    user = table.columns.get("user", table.columns["session"])
    return graded.canonical(
        table.columns["session"], table.columns["item"], grade, user, table.columns.get("time"),
        names=table.ids["session"], users=table.ids.get("user", table.ids["session"]), items=table.ids["item"],
        scale=None if scale is None else tuple(scale), intake=table.intake,
    )  # fmt: skip


def _levels(table: Table, scale: Sequence[str]) -> Values:
    """Actions as places on the scale; they were read as ids of their own space."""
    level: Values = graded.levels([str(name) for name in table.ids["action"]], scale)[table.columns["action"]]
    return level


def read_preferences(source: Any, columns: Columns = None, **options: Any) -> Preferences:
    """Pairwise preferences: columns user, better, worse. Everything else as in `read`.

    >>> read_preferences({"user": [1], "better": ["tea"], "worse": ["jam"]})
    Preferences(1 of 1 users over 2 items)
    """
    check_options(options)
    table = read_table(source, _fields("preferences", columns), **options)
    user, better, worse = (table.columns[role] for role in ("user", "better", "worse"))
    return preferences(user, better, worse, table.ids["user"], table.ids["item"], table.intake)


def column_names(source: str | os.PathLike[str], separator: str | None = None, encoding: str = "utf-8") -> list[str]:
    """The names in the first line of a text file, or of the columns of a parquet file, as they are compared."""
    from fullrank.data.reading.stream import Stream

    with Stream(source) as stream:
        if stream.magic.startswith(b"PAR1") and stream.regular:
            check_address_space()
            import polars as pl

            return [plain(name) for name in pl.scan_parquet(stream.name).collect_schema().names()]
        dialect = sniff(stream.read(HEAD), stream.name, [], separator, True, encoding)
    return [plain(name) for name in dialect.header or ()]


@dataclass
class Table:
    """Columns by role (ids as codes), the ids they are codes of, and what happened on the way."""

    name: str
    columns: dict[str, Any]
    ids: dict[str, Ids]
    intake: Intake


def read_table(
    source: Any,
    fields: Sequence[Field],
    *,
    separator: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    time_unit: str = "s",
    on_bad: OnBad = "error",
    quarantine: str | Path | None = None,
) -> Table:
    """The wanted columns of any source; the ground of `read`, `read_sessions` and `read_preferences`."""
    from fullrank.data.reading.stream import Stream, check_room

    check_room(source)
    if not isinstance(source, str | os.PathLike):
        from fullrank.data.reading.typed import frame_batches

        refusals = Refusals(type(source).__name__, on_bad, quarantine, places="row")
        into = _Collector(fields, refusals, text=False)
        return into.collect(frame_batches(source, fields, refusals, time_unit, into.prepare))
    with Stream(source) as stream:
        if stream.magic.startswith(b"PAR1") and stream.regular:
            from fullrank.data.reading.typed import parquet_batches

            refusals = Refusals(stream.name, on_bad, quarantine, places="row")
            into = _Collector(fields, refusals, text=False)
            return into.collect(parquet_batches(stream.name, fields, refusals, time_unit, into.prepare))
        from fullrank.data.reading.text import TextReader

        refusals = Refusals(stream.name, on_bad, quarantine)
        into = _Collector(fields, refusals, text=True)
        head = stream.read(HEAD)
        dialect = sniff(head, stream.name, fields, separator, header, encoding)
        places = locate(fields, dialect.header, dialect.width, stream.name)
        at = {places[field.role]: field for field in fields if field.role in places}
        reader = TextReader(stream, dialect, at, unit=time_unit, prepare=into.prepare, refusals=refusals)
        table = into.collect(_watched(reader.batches(head), reader, into))
    unread = dialect.width - len(places)
    if unread:
        table.intake = table.intake.noting(f"{unread} further column{'s' * (unread > 1)} not read")
    return table


def _watched(batches: Iterator[Batch], reader: TextReader, into: _Collector) -> Iterator[Batch]:
    """The same batches; the first tells how many rows to expect, and whether they will fit into memory."""
    stream = reader.stream
    for batch in batches:
        if not into.expected and batch.rows and stream.size and stream.consumed:
            expanded = stream.size * stream.expanded / stream.consumed  # bytes of text in all
            rows = batch.rows * max(1.0, expanded / reader.offset)
            check_fits(rows * 40, f"{stream.name}: about {rows:,.0f} rows")
            into.expected = int(1.02 * rows)
        yield batch


class _Collector:
    """Batches of columns into a table: ids by space, numbers and times as they come."""

    def __init__(self, fields: Sequence[Field], refusals: Refusals, *, text: bool) -> None:
        from fullrank.data.reading.columns import IdColumn

        self.fields = {field.role: field for field in fields}
        self.refusals = refusals
        self.expected = 0  # rows, where that can be told early
        roles: dict[str, list[str]] = {}
        for field in fields:
            if field.kind == "id":
                roles.setdefault(field.space, []).append(field.role)
        self.spaces = {space: IdColumn(shared, text) for space, shared in roles.items()}

    def prepare(self, role: str, column: Any) -> Any:
        """What can be done to a column in any thread and any order: numbering its strings."""
        field = self.fields[role]
        return self.spaces[field.space].numbered(column) if field.kind == "id" else column

    def collect(self, batches: Iterator[Batch]) -> Table:
        """All batches, in order, as one table."""
        from fullrank.data.reading.columns import Growing

        plain: dict[str, Growing] = {}
        rows = 0
        for batch in batches:
            rows += batch.rows
            for role, column in batch.columns.items():
                field = self.fields[role]
                if field.kind == "id":
                    self.spaces[field.space].add(role, column, self.expected)
                else:
                    plain.setdefault(role, Growing(column.dtype)).append(column, self.expected)
        refusals = self.refusals
        dropped, notes = sum(refusals.counts.values()), refusals.finish()
        if rows == 0:
            why = f"all {dropped:,} rows were refused" if dropped else "there is a header at most"
            raise DataError(f"{refusals.name}: no interactions; {why}.")
        columns: dict[str, Any] = {}
        ids: dict[str, Ids] = {}
        for space, found in self.spaces.items():
            if found.used:
                codes, ids[space] = found.finish()
                columns.update(codes)
        columns.update((role, growing.whole()) for role, growing in plain.items())
        return Table(refusals.name, columns, ids, Intake(rows + dropped, 0, dict(refusals.counts), notes))


def _fields(container: str, columns: Columns) -> list[Field]:
    roles = ROLES[container]
    if columns is None:
        return [Field(role, kind, None, required) for role, (kind, required) in roles.items()]
    for role in columns:
        check("columns", dict(columns), role in roles, f"a mapping from {', '.join(roles)} to columns")
    for role, (_, required) in roles.items():
        check("columns", dict(columns), role in columns or not required, f"a mapping that tells the {role} column")
    return [Field(role, roles[role][0], columns[role]) for role in roles if role in columns]


def _into(table: Table, role: str, ids: Ids | None) -> Ids:
    """The ids of a column: its own, or a given catalogue that must hold them all."""
    if ids is None:
        return table.ids[role]
    try:
        table.columns[role] = ids.codes(table.ids[role].names)[table.columns[role]]
    except DataError as error:
        raise DataError(f"{table.name}: {role}s outside the given catalogue: {error}") from None
    return ids


def _limits(feedback: Feedback | None, scale: tuple[float, float] | None) -> dict[str, Any]:
    """What values may be, as a field's limits: inside a scale, and above 0 where they are counts."""
    least, most = (-math.inf, math.inf) if scale is None else scale
    if feedback == "implicit" and least <= 0:
        rule = "in implicit feedback, where values are counts above 0; leave it out, or read as feedback='explicit'"
        return {"least": TINY, "most": most, "rule": rule}
    return {"least": least, "most": most, "rule": f"is outside the scale {scale}; correct it, or give another scale"}
