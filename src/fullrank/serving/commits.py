"""One transaction for all that waits: which events are new, which are known, and which contradict what is kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sqlalchemy import Connection, bindparam, insert, select, update

from fullrank.errors import ConflictError, shown
from fullrank.serving.rows import Draft, row_of
from fullrank.serving.schema import events, state

Key: TypeAlias = tuple[int, str]  # (own, event_id)

AT_ONCE = 5_000  # ids in one question to the database
BODIES = select(events.c.event_id, events.c.body).where(
    events.c.own == bindparam("own"), events.c.event_id.in_(bindparam("ids", expanding=True))
)


class Receipt(NamedTuple):
    """What became of an event: "stored", or "known" where the same one was there already."""

    event_id: str
    status: Literal["stored", "known"]


def store_batches(
    connection: Connection, batches: Sequence[Sequence[Draft]]
) -> tuple[list[list[Receipt] | ConflictError], int]:
    """Add batches in their order, each whole or not at all; what became of each, and the number of the last event."""
    last = int(connection.execute(select(state.c.last_seq).with_for_update()).scalar_one())
    known = _find(connection, (draft for batch in batches for draft in batch))
    outcomes: list[list[Receipt] | ConflictError] = []
    new: list[Draft] = []
    for batch in batches:
        outcome, fresh = _judge(batch, known)
        outcomes.append(outcome)
        known |= {key: draft.body for key, draft in fresh.items()}
        new += fresh.values()
    received = time.time_ns() // 1000
    if new:
        rows = [row_of(draft, last + place, received) for place, draft in enumerate(new, start=1)]
        connection.execute(insert(events), rows)
        last += len(new)
        connection.execute(update(state).values(last_seq=last))
    return outcomes, last


def _find(connection: Connection, drafts: Iterable[Draft]) -> dict[Key, str]:
    """The bodies of those that are kept already."""
    ids: dict[int, list[str]] = {0: [], 1: []}
    for draft in drafts:
        ids[draft.own].append(draft.event_id)
    return {
        (own, event_id): body
        for own, names in ids.items()
        for some in _chunks(names)
        for event_id, body in connection.execute(BODIES, {"own": own, "ids": some})
    }


def _judge(batch: Sequence[Draft], known: dict[Key, str]) -> tuple[list[Receipt] | ConflictError, dict[Key, Draft]]:
    """The receipts of a batch and what is new in it; or the conflict, and then nothing is."""
    fresh: dict[Key, Draft] = {}
    receipts: list[Receipt] = []
    for draft in batch:
        key = (draft.own, draft.event_id)
        kept = fresh[key].body if key in fresh else known.get(key)
        if kept is None:
            fresh[key] = draft
        elif kept != draft.body:
            return ConflictError(f"{_what(draft)} is kept with other content; give a new event an id of its own."), {}
        receipts.append(Receipt(draft.event_id, "stored" if kept is None else "known"))
    return receipts, fresh


def _what(draft: Draft) -> str:
    return f"the {'recommendation' if draft.own else 'event'} {shown(draft.event_id)}"


def _chunks(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
