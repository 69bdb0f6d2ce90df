"""Feedback as tables that `read_sessions`, `read_events`, `read_preferences` and `read` take as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import ColumnElement, select

from fullrank.errors import DataError, ParameterError, check, did_you_mean, shown
from fullrank.serving.database import Database, explained
from fullrank.serving.fields import seconds
from fullrank.serving.rows import happened, load
from fullrank.serving.schema import events, state
from fullrank.serving.sessions import HEADS, SHOWN, Sessions, is_head, name_of

if TYPE_CHECKING:
    import polars as pl

Rows: TypeAlias = list[tuple[Any, ...]]

COLUMNS = {
    "sessions": ("session", "user", "item", "action"),
    "events": ("user", "item", "time"),
    "preferences": ("user", "better", "worse"),
    "ratings": ("user", "item", "rating", "time"),
}
SCALE = (SHOWN, "clicked", "bought")
SPACES = {"user": "user", "item": "item", "better": "item", "worse": "item"}  # columns that hold names, of what
BATCH = 10_000  # events at a time


class Export:
    """Frames of feedback, one after another; afterwards `left_out` says what went into none of them, and why.

    Columns by kind: sessions have session, user, item, action; events user, item, time; preferences user, better,
    worse; ratings user, item, rating, time. Times are the client's, or the server's where there was none or it was
    more than a day ahead. Names are integers or strings in all of a column; where they are both, `ids="text"` makes
    all of them text.
    """

    def __init__(self, database: Database, kind: str, since: int, scale: Sequence[str] | None, ids: str) -> None:
        self.kind, self.columns = kind, COLUMNS[kind]
        self.left_out: Counter[str] = Counter()
        self.rows = 0
        self._database, self._since, self._scale, self._ids = database, since, scale, ids
        self._types: dict[str, type] = {}  # of users and of items
        self._until = 0  # the number of the last event

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """At least one frame, so that a file has its columns."""
        self.rows, empty = 0, True
        self.left_out, self._types = Counter(), {}
        with explained(self._database), self._database.reading() as connection:
            self._until = int(connection.execute(select(state.c.last_seq)).scalar_one())  # what comes later waits
        for rows in self._sessions() if self.kind == "sessions" else self._others():
            if rows:
                empty = False
                self.rows += len(rows)
                yield self._frame(rows)
        if empty:
            yield self._frame([])

    def _sessions(self) -> Iterator[Rows]:
        sessions = Sessions(self._scale or SCALE)
        names: set[str] = set()
        for some in self._bodies(is_head(), HEADS):
            heads = [(name_of(body), body) for body, _ in some]
            self._check_distinct(heads, names)
            with self._database.reading() as connection:
                yield [tuple(row) for row in sessions.make(connection, heads)]
        self.left_out += sessions.left_out
        self._count_homeless()

    def _check_distinct(self, heads: list[tuple[str, dict[str, Any]]], names: set[str]) -> None:
        for name, _ in heads:
            if name in names:
                raise DataError(f"two sessions are called {shown(name)}: an event has the id of a recommendation.")
            names.add(name)

    def _count_homeless(self) -> None:
        """Actions that name no list, or one that is not here."""
        lists = events.alias("lists")
        on_view = select(lists.c.seq).where(
            lists.c.own == 0, lists.c.event_id == events.c.about, lists.c.kind == "shown"
        )
        on_offer = select(lists.c.seq).where(lists.c.kind.in_(["shown", "offer"]), lists.c.about == events.c.about)
        alone = (events.c.kind == "action") & ~on_view.exists() & ~on_offer.exists()
        for some in self._bodies(alone, BATCH):
            for body, _ in some:
                gone = body.get("on") is not None
                self.left_out["actions on lists that are not here" if gone else "actions on no list"] += 1

    def _others(self) -> Iterator[Rows]:
        kinds = {"events": ["action", "session"], "preferences": ["preference"], "ratings": ["rating"]}[self.kind]
        for some in self._bodies(events.c.kind.in_(kinds), BATCH):
            yield [row for body, time in some for row in self._rows_of(body, time)]

    def _rows_of(self, body: dict[str, Any], time: int) -> Rows:
        user = body["user"]
        if self.kind == "preferences":
            return [(user, body["better"], body["worse"])]
        if self.kind == "ratings":
            return [(user, body["item"], body["value"], time)]
        done = [(body["item"], body["action"])] if body["kind"] == "action" else [
            (offer["item"], offer["action"]) for offer in body["offers"]
        ]  # fmt: skip
        return [(user, item, time) for item, action in done if self._is_event(action)]

    def _is_event(self, action: str) -> bool:
        """Whether somebody took an item: anything but seeing it; with a scale, what is above that."""
        if self._scale is None or action == SHOWN:
            return action != SHOWN
        better = action in self._scale and (SHOWN not in self._scale or self._above(action))
        if not better:
            self.left_out[f"actions '{action}', which are not above '{SHOWN}' on the scale"] += 1
        return better

    def _above(self, action: str) -> bool:
        scale = list(self._scale or SCALE)
        return scale.index(action) > scale.index(SHOWN)

    def _bodies(self, which: ColumnElement[bool], size: int) -> Iterator[list[tuple[dict[str, Any], int]]]:
        """Bodies and times in the order of their numbers, some at a time, so that writers are not held up."""
        last = -1
        while True:
            some = (
                select(events)
                .where(events.c.seq > last, events.c.seq <= self._until, events.c.received >= self._since, which)
                .order_by(events.c.seq)
                .limit(size)
            )
            with explained(self._database), self._database.reading() as connection:
                rows = connection.execute(some).mappings().all()
            bodies = [(load(row), row) for row in rows]
            yield [(body, happened(body, row["received"], row["ahead"])) for body, row in bodies]
            if len(rows) < size:
                return
            last = rows[-1]["seq"]

    def _frame(self, rows: Rows) -> pl.DataFrame:
        import polars as pl

        columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * len(self.columns)
        return pl.DataFrame([self._series(name, column) for name, column in zip(self.columns, columns, strict=True)])

    def _series(self, name: str, column: Sequence[Any]) -> pl.Series:
        import polars as pl

        if name == "time":
            return pl.Series(name, column, dtype=pl.Int64).cast(pl.Datetime("us"))
        if name == "rating":
            return pl.Series(name, column, dtype=pl.Float64)
        if name not in SPACES:
            return pl.Series(name, column, dtype=pl.String)
        if self._ids == "text":
            return pl.Series(name, [str(value) for value in column], dtype=pl.String)
        kind = self._types.setdefault(SPACES[name], type(column[0])) if column else str
        for value in column:
            if type(value) is not kind:
                raise DataError(
                    f"the {SPACES[name]}s are integers and strings, as {shown(value)}; a column holds one of them: "
                    "make all of them text with ids='text' (--ids text)."
                )
        return pl.Series(name, column, dtype=pl.Int64 if kind is int else pl.String)


def export(
    database: Database, kind: str, since: str | float | datetime | None, *, scale: Sequence[str] | None, ids: str
) -> Export:
    """What to take out of a store; nothing is read before it is iterated over."""
    if kind not in COLUMNS:
        raise ParameterError(f"there is no kind of feedback '{kind}'. {did_you_mean(str(kind), list(COLUMNS))}")
    check("ids", ids, ids in ("exact", "text"), "'exact' or 'text'")
    if scale is not None:
        distinct = len(set(scale)) == len(scale) and all(isinstance(action, str) and action for action in scale)
        check("scale", scale, distinct and len(scale) > 0, "different actions, worst first")
        check("scale", scale, kind != "sessions" or SHOWN in scale, f"a scale with '{SHOWN}', as what nothing was done with is")  # fmt: skip # noqa: E501
    return Export(database, kind, _microseconds(since), scale, ids)


def _microseconds(since: str | float | datetime | None) -> int:
    """A day or a moment in UTC, by the server's clock."""
    if isinstance(since, datetime):
        since = (since if since.tzinfo else since.replace(tzinfo=UTC)).timestamp()
    try:
        return round((seconds(since) or 0.0) * 1_000_000)
    except DataError as error:
        raise ParameterError(f"since: {error}") from None
