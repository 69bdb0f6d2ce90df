"""The tables of a store, and how one of an older version becomes one of this."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    insert,
    inspect,
    select,
    update,
)

from fullrank.errors import DataError

Step: TypeAlias = Callable[[Connection], None]

METADATA = MetaData()
NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers rows by an INTEGER

state = Table(  # one row
    "fullrank_state",
    METADATA,
    Column("version", Integer, nullable=False),
    Column("last_seq", BigInteger, nullable=False),  # the number of the last event that was ever stored
    Column("salt", Text, nullable=False),  # of the hashes of those who were forgotten
)
events = Table(
    "fullrank_events",
    METADATA,
    Column("seq", NUMBER, primary_key=True, autoincrement=False),  # in the order of commits, whatever clocks say
    Column("own", SmallInteger, nullable=False),  # 1: an offer of the service itself, event_id is a recommendation_id
    Column("event_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("user", Text, nullable=False),  # as JSON: 7 and "7" are two
    Column("about", Text),  # the recommendation_id or event_id of the list it belongs to
    Column("body", Text, nullable=False),
    Column("received", BigInteger, nullable=False),  # the server's time, microseconds since 1970
    Column("ahead", SmallInteger, nullable=False),  # 1: the client's time was more than a day ahead of that
    Column("digest", LargeBinary, nullable=False),  # of all of the above
)
Index("fullrank_events_id", events.c.own, events.c.event_id, unique=True)
Index("fullrank_events_user", events.c.user)
about_list = events.c.about.is_not(None)
Index("fullrank_events_about", events.c.about, sqlite_where=about_list, postgresql_where=about_list)
forgotten = Table(
    "fullrank_forgotten",
    METADATA,
    Column("token", Text, primary_key=True),  # a salted hash: nothing of the person is kept
    Column("seq", BigInteger, nullable=False),  # events up to this number are gone
)
gaps = Table(
    "fullrank_gaps",
    METADATA,
    Column("first", NUMBER, primary_key=True, autoincrement=False),  # events from this number ...
    Column("last", BigInteger, nullable=False),  # ... to this one were acknowledged and are missing
)


def _create(connection: Connection) -> None:
    METADATA.create_all(connection, checkfirst=False)
    connection.execute(insert(state).values(version=0, last_seq=0, salt=secrets.token_hex(8)))


STEPS: Sequence[Step] = (_create,)  # STEPS[v] makes version v + 1 of version v; 0 is an empty database
VERSION = len(STEPS)


def migrate(connection: Connection, where: str, steps: Sequence[Step] = STEPS) -> None:
    """Bring a store up to this version, inside the transaction of the connection: whole or not at all."""
    version = find_version(connection, where)
    if version > len(steps):
        raise DataError(newer(where, version, len(steps)))
    for step in steps[version:]:
        step(connection)
    if version < len(steps):
        connection.execute(update(state).values(version=len(steps)))


def check_version(connection: Connection, where: str) -> None:
    """Refuse to read a store of another version: only whoever may write can bring it up to this one."""
    version = find_version(connection, where)
    if version > VERSION:
        raise DataError(newer(where, version, VERSION))
    if version < VERSION:
        raise DataError(
            f"{where}: a store of version {version}, this fullrank reads {VERSION}; open it once for writing."
        )


def find_version(connection: Connection, where: str) -> int:
    """The version of a store; 0 where nothing is there yet, and an error where something else is."""
    tables = set(inspect(connection).get_table_names())
    if state.name in tables:
        version = connection.execute(select(state.c.version)).scalar()
        if version is None:
            raise DataError(f"{where}: the store has lost its version; restore it from a copy.")
        return int(version)
    others = sorted(tables)
    if others and connection.dialect.name == "sqlite":  # in PostgreSQL one may share a database
        raise DataError(f"{where}: is a database of something else, with the table {others[0]}; give another path.")
    return 0


def newer(where: str, version: int, known: int) -> str:
    """What to say of a store from the future."""
    return f"{where}: a store of version {version}, this fullrank knows versions up to {known}; install a newer one."
