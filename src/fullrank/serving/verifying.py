"""Whether a store is whole: the database's own checks, the digest of every row, and what was acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from fullrank.errors import shown
from fullrank.serving.database import Database
from fullrank.serving.rows import digest_of
from fullrank.serving.schema import events, gaps, state

ROWS = 5_000  # at a time
MOST_NAMED = 100  # damaged rows; further ones are counted


def verify(database: Database) -> list[str]:
    """What is damaged or missing, a sentence each."""
    try:
        return [*database.check(), *_check_missing(database), *_check_rows(database)]
    except SQLAlchemyError as error:
        return [str(database.explain(error))]


def missing(name: str, first: int, last: int) -> str:
    """What to say of events that were acknowledged and are not there."""
    return (
        f"{name}: the events numbered {first} to {last} were acknowledged and are missing; "
        "this is an older copy, or its log was cut off."
    )


def _check_missing(database: Database) -> list[str]:
    with database.reading() as connection:
        last = int(connection.execute(select(state.c.last_seq)).scalar_one())
        known = [(first, end) for first, end in connection.execute(select(gaps.c.first, gaps.c.last))]
    acknowledged = database.last_acknowledged()
    if acknowledged > last:
        known.append((last + 1, acknowledged))
    return [missing(database.name, first, end) for first, end in known]


def _check_rows(database: Database) -> list[str]:
    damaged = [row for row in _rows(database) if digest_of(row) != row["digest"]]
    told = [
        f"{database.name}: the event {shown(row['event_id'])} (number {row['seq']}) is not what was stored."
        for row in damaged[:MOST_NAMED]
    ]
    more = len(damaged) - len(told)
    return [*told, f"{database.name}: and {more} more events."] if more else told


def _rows(database: Database) -> Iterator[dict[str, Any]]:
    """All rows in the order of their numbers, some at a time, so that writers are not held up."""
    last = -1
    while True:
        with database.reading() as connection:
            some = select(events).where(events.c.seq > last).order_by(events.c.seq).limit(ROWS)
            rows = [dict(row) for row in connection.execute(some).mappings()]
        yield from rows
        if len(rows) < ROWS:
            return
        last = rows[-1]["seq"]
