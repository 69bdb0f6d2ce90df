"""Lists that were shown, joined with what was done on them: a list with its actions is a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, and_, bindparam, or_, select

from fullrank.data.ids import Name
from fullrank.errors import DataError, shown
from fullrank.serving.rows import load
from fullrank.serving.schema import events

Body: TypeAlias = dict[str, Any]

SHOWN = "shown"
HEADS = 1_000  # sessions at a time
AT_ONCE = 5_000


class Row(NamedTuple):
    """An item of a session."""

    session: str
    user: Name
    item: Name
    action: str


class Sessions:
    """Makes sessions of lists, by a scale of actions; counts what belongs to none."""

    def __init__(self, scale: Sequence[str]) -> None:
        self._level = {action: level for level, action in enumerate(scale)}
        self.left_out: Counter[str] = Counter()

    def make(self, connection: Connection, heads: Sequence[tuple[str, Body]]) -> Iterator[Row]:
        """The rows of sessions, by their first events: (name of the session, body)."""
        lists = [(name, body) for name, body in heads if body["kind"] != "session"]
        views = _group((body["recommendation_id"], body) for body in _find(connection, "shown", [n for n, _ in lists]))
        ids = {name: [name, *(view["event_id"] for view in views.get(name, []))] for name, _ in lists}
        wanted = sorted({id_ for some in ids.values() for id_ in some})
        actions = _group((body["on"], body) for body in _find(connection, "action", wanted))
        for name, body in heads:
            if body["kind"] == "session":
                offers = ((offer["item"], self._check(offer["action"], body)) for offer in body["offers"])
                yield from (Row(name, body["user"], item, action) for item, action in offers)
            else:
                done = [action for id_ in ids[name] for action in actions.get(id_, [])]
                yield from self._join(name, body, views.get(name, []), done)

    def _join(self, name: str, body: Body, views: list[Body], actions: list[Body]) -> Iterator[Row]:
        """What was shown of a list, each item with the strongest action on it."""
        user = body["user"]
        seen = [item for view in views if _same(view["user"], user) for item in view["items"]] or body["items"]
        best: dict[Name, str] = dict.fromkeys(seen, SHOWN)
        acted: set[Name] = set()
        for action in actions:
            done = self._check(action["action"], action)
            if not _same(action["user"], user):
                self.left_out["actions of somebody else than the list was shown to"] += 1
            elif action["item"] not in best:
                self.left_out["actions on items that the list did not show"] += 1
            elif action["item"] not in acted or self._level[done] > self._level[best[action["item"]]]:
                best[action["item"]] = done
                acted.add(action["item"])
        yield from (Row(name, user, item, action) for item, action in best.items())

    def _check(self, action: str, body: Body) -> str:
        if action not in self._level:
            raise DataError(
                f"the action {shown(action)} of the event {shown(body['event_id'])} is not on the scale "
                f"{', '.join(self._level)}; give one that has it: --scale {','.join(self._level)},{action}."
            )
        return action


def _same(one: Name, other: Name) -> bool:
    return one == other and type(one) is type(other)


def _group(pairs: Iterable[tuple[str, Body]]) -> dict[str, list[Body]]:
    groups: dict[str, list[Body]] = {}
    for name, body in pairs:
        groups.setdefault(name, []).append(body)
    return groups


def _find(connection: Connection, kind: str, about: Sequence[str]) -> Iterator[Body]:
    """The events of a kind that belong to these lists, in their order."""
    query = (
        select(events)
        .where(events.c.kind == kind, events.c.about.in_(bindparam("ids", expanding=True)))
        .order_by(events.c.seq)
    )
    for start in range(0, len(about), AT_ONCE):
        rows = connection.execute(query, {"ids": list(about[start : start + AT_ONCE])}).mappings()
        yield from map(load, rows)


def is_head() -> Any:
    """Whether an event begins a session: a list of the service, one shown by itself, or a whole session.

    A `Shown` that names a recommendation belongs to that; where the service did not keep it, the first one begins it.
    """
    other = events.alias("other")
    same = and_(
        other.c.about == events.c.about,
        or_(other.c.own == 1, and_(other.c.kind == "shown", other.c.seq < events.c.seq)),
    )
    earlier = select(other.c.seq).where(same).exists()
    return or_(events.c.own == 1, events.c.kind == "session", and_(events.c.kind == "shown", ~earlier))


def name_of(body: Body) -> str:
    """What a session is called: its recommendation, or its first event."""
    return str(body.get("recommendation_id") or body["event_id"])
