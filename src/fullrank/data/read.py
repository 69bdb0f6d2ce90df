"""Reading feedback from files and tables, strictly: nothing is lost without being counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from fullrank.arrays import Floats
from fullrank.data import events, graded, interactions
from fullrank.data.canonical import TINY, Duplicates
from fullrank.data.events import Events
from fullrank.data.feedback import what_values_are
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, Meaning
from fullrank.data.preferences import Preferences, preferences
from fullrank.data.reading.fields import Column, Field, Kind, Limits
from fullrank.data.reading.names import meaning_of, plain
from fullrank.data.reading.options import check_actions, check_options
from fullrank.data.reading.sparse import from_sparse, is_sparse
from fullrank.data.reading.table import Table, read_table
from fullrank.errors import DataError, check

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
COUNTED = "in implicit feedback, where values are counts above 0; leave it out, or read as feedback='explicit'"
NAMED = (
    "is no count above 0, which the name of its column promises; leave it out (--on-bad skip), or read as "
    "feedback='explicit' (--kind ratings)"
)
MEANINGS: dict[Feedback, Meaning] = {"explicit": "ratings", "implicit": "events"}


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

    `feedback="implicit"` wants values above 0 (counts) and adds up duplicates; so does, with nothing said, a column
    with the name of a count (quantity, plays, ...), unless `feedback="explicit"`. `duplicates`: see
    `Interactions.of`. `scale=(1, 5)` refuses values outside. `users`, `items`: catalogues that may
    hold some without feedback, or the names of a matrix' rows and columns. Further options, see `read_table`:
    `separator`, `header`, `decimal`, `encoding`, `time_unit`, `time_format`, `on_bad`, `quarantine`.

    >>> read({"user": ["ann", "bob"], "item": [7, 8], "rating": [5, 3]})
    Interactions(2 rows, 2 users, 2 items, values 3..5)
    """
    check_options(options, feedback=feedback, duplicates=duplicates, scale=scale)
    limits = _limits(feedback, scale)
    if is_sparse(source):
        check("columns", columns, columns is None, "left out for a sparse matrix, whose rows are users")
        kind = None if feedback is None else MEANINGS[feedback]
        return from_sparse(source, duplicates or "sum", limits, users, items, kind)
    table, kind = _read_rows(source, columns, feedback, scale, (users, items), options)
    rule: Duplicates = duplicates or ("sum" if kind == "events" else "last")
    return interactions.canonical(table.columns, table.ids["user"], table.ids["item"], rule, table.intake, kind)


def read_events(
    source: Any,
    columns: Columns = None,
    *,
    scale: tuple[float, float] | None = None,
    users: Ids | None = None,
    items: Ids | None = None,
    **options: Any,
) -> Events:
    """Events from a file or a table, every one kept where somebody takes the same item again.

    Columns user, item, value, time; a value is a count above 0. Everything else as in `read`.

    >>> read_events({"user": [1, 1, 1], "item": ["tea", "jam", "tea"], "time": [10, 10, 20]})
    Events(3 events, 1 repeat, 1 users, 2 items, 1970-01-01..1970-01-01)
    """
    check_options(options, scale=scale)
    if is_sparse(source):
        raise DataError("a sparse matrix has no events, but one value for each user and item; read it with `read`.")
    table, _ = _read_rows(source, columns, "implicit", scale, (users, items), options)
    return events.canonical(table.columns, table.ids["user"], table.ids["item"], table.intake)


def read_with_repeats(
    source: Any,
    columns: Columns = None,
    *,
    feedback: Feedback | None = None,
    duplicates: Duplicates | None = None,
    **options: Any,
) -> Interactions | Events:
    """As `read`, but events with times, of which some repeat others, stay events, unless a rule merges `duplicates`."""
    if duplicates is not None or feedback == "explicit" or is_sparse(source):
        return read(source, columns, feedback=feedback, duplicates=duplicates, **options)
    check_options(options, feedback=feedback)
    table, kind = _read_rows(source, columns, feedback, None, (None, None), options)
    users, items, value = table.ids["user"], table.ids["item"], table.columns.get("value")
    counts = value is None or value.min(initial=1) > 0
    if "time" in table.columns and counts and what_values_are(value, kind) == "events":
        every = events.canonical(table.columns, users, items, table.intake)
        if every.repeats:
            return every
        table.columns = interactions.present(user=every.user, item=every.item, value=every.value, time=every.time)
    rule: Duplicates = "sum" if kind == "events" else "last"
    return interactions.canonical(table.columns, users, items, rule, table.intake, kind)


def _read_rows(
    source: Any, columns: Columns, feedback: Feedback | None, scale: tuple[float, float] | None,
    ids: tuple[Ids | None, Ids | None], options: dict[str, Any],
) -> tuple[Table, Meaning | None]:  # fmt: skip
    """The rows of interactions or events, as codes of the given catalogues, and what their values are."""
    if_counts = _limits("implicit", scale, NAMED) if feedback is None else None
    fields = _fields("interactions", columns, limits=_limits(feedback, scale), if_counts=if_counts)
    table = read_table(source, fields, name_unread=("value", "time", "session"), **options)
    kind = meaning_of(table.taken.get("value", "")) if feedback is None else MEANINGS[feedback]
    if feedback is None and kind == "events":
        table.intake = _doubt_amounts(table)
    table.ids |= {role: _map_onto(table, role, given) for role, given in zip(("user", "item"), ids, strict=True)}
    return table, kind


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
    table = read_table(source, list(fields.values()), name_unread=("time",), **options)
    grade = table.columns["grade"] if scale is None else _grade_actions(table, scale)
    user = table.columns.get("user", table.columns["session"])
    return graded.canonical(
        table.columns["session"], table.columns["item"], grade, user, table.columns.get("time"),
        names=table.ids["session"], users=table.ids.get("user", table.ids["session"]), items=table.ids["item"],
        scale=None if scale is None else tuple(scale), intake=table.intake,
    )  # fmt: skip


def _grade_actions(table: Table, scale: Sequence[str]) -> Floats:
    """Actions as places on the scale; they were read as ids of their own space."""
    level: Floats = graded.levels([str(name) for name in table.ids["action"]], scale)[table.columns["action"]]
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


def _fields(container: str, columns: Columns, **of_values: Any) -> list[Field]:
    """What a container is made of, where its columns are told to be; `of_values` are further fields of the value."""
    fields = _named_fields(ROLES[container], columns)
    return [replace(field, **of_values) if field.role == "value" else field for field in fields]


def _named_fields(roles: dict[str, tuple[Kind, bool]], columns: Columns) -> list[Field]:
    if columns is None:
        return [Field(role, kind, None, required) for role, (kind, required) in roles.items()]
    for role in columns:
        check("columns", dict(columns), role in roles, f"a mapping from {', '.join(roles)} to columns")
    for role, (_, required) in roles.items():
        check("columns", dict(columns), role in columns or not required, f"a mapping that tells the {role} column")
    return [Field(role, roles[role][0], columns[role]) for role in roles if role in columns]


def _map_onto(table: Table, role: str, ids: Ids | None) -> Ids:
    """The ids of a column: its own, or a given catalogue that must hold them all."""
    if ids is None:
        return table.ids[role]
    try:
        table.columns[role] = ids.codes(table.ids[role].names)[table.columns[role]]
    except DataError as error:
        raise DataError(f"{table.name}: {role}s outside the given catalogue: {error}") from None
    return ids


def _doubt_amounts(table: Table) -> Intake:
    """The intake, with a doubt where amounts taken for counts may be amounts of money."""
    name = table.taken["value"]
    if plain(name) != "amount" or not (table.columns["value"] % 1).any():
        return table.intake
    doubt = f"{name} taken as counts, but not all are whole; if it is money, leave it out: --columns user=...,item=..."
    return replace(table.intake, doubts=(*table.intake.doubts, doubt))


def _limits(feedback: Feedback | None, scale: tuple[float, float] | None, rule: str = COUNTED) -> Limits:
    """What values may be: inside a scale, and above 0 where they are counts."""
    least, most = (-math.inf, math.inf) if scale is None else scale
    if feedback == "implicit" and least <= 0:
        return Limits(TINY, most, rule)
    return Limits(least, most, f"is outside the scale {scale}; correct it, or give another scale")
