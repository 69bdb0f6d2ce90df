"""A store on a PostgreSQL server, which several servers of ours may share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from fullrank.errors import ConfigError, FullrankError, NotAllowedError, StorageError, StoreDownError
from fullrank.serving.schema import METADATA

MIGRATING = 0x66756C6C  # the number of the lock that two servers, started at once, take in turn
FORBIDDEN = ("28", "42501", "3D000", "25006")  # SQLSTATEs: no login, no right, no such database, read only
SESSION = "-c synchronous_commit=on -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000"


class Postgresql:
    """A server. Lost connections are made again by the next transaction."""

    def __init__(self, url: URL, *, tombstones: Path | None = None) -> None:
        self.name = url.render_as_string(hide_password=True)
        self.tombstones = tombstones
        timeout = {"connect_timeout": 5, "options": SESSION} | dict(url.query)
        self._engine = create_engine(url.set(query={}), connect_args=timeout, pool_pre_ping=True, pool_size=4)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATING})"))
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            yield connection.execution_options(postgresql_readonly=True)

    def explain(self, error: SQLAlchemyError) -> FullrankError:
        said = " ".join(str(getattr(error, "orig", None) or error).split())
        state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
        if state.startswith("53") and state not in ("53300",):
            return StorageError(f"{self.name}: no space left on the server ({said}); nothing of this was stored.")
        if state.startswith(FORBIDDEN):
            return NotAllowedError(f"{self.name}: the server refuses it ({said}).")
        return StoreDownError(f"{self.name}: the server cannot be reached or failed ({said}); try again.")

    def is_final(self, error: SQLAlchemyError) -> bool:
        return False  # the server itself knows what is on its disk

    def note_acknowledged(self, seq: int) -> None:
        """The server keeps its own log whole."""

    def last_acknowledged(self) -> int:
        return 0

    def check(self) -> list[str]:
        return []  # pages have the server's checksums; rows have ours

    def compact(self) -> None:
        with self._engine.connect() as connection:
            plain = connection.execution_options(isolation_level="AUTOCOMMIT")
            plain.execute(text("SET statement_timeout = 0"))
            for table in METADATA.sorted_tables:
                plain.execute(text(f"VACUUM (FULL) {table.name}"))
            plain.execute(text("CHECKPOINT") if _may_checkpoint(plain) else text("SELECT 1"))
            connection.invalidate()  # the setting goes with it

    def close(self) -> None:
        self._engine.dispose()


def _may_checkpoint(connection: Connection) -> bool:
    return bool(connection.execute(text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).scalar())


def open_postgresql(address: str, *, tombstones: Path | None = None) -> Postgresql:
    """A server by its address; one that is none is refused without showing the password."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise ConfigError("the address of the store is none; write postgresql+psycopg://user@host/database.") from None
    if url.drivername != "postgresql+psycopg":
        raise ConfigError(f"a store on {url.drivername} is unknown; write postgresql+psycopg://user@host/database.")
    try:
        import psycopg  # noqa: F401 - SQLAlchemy takes it by the address
    except ImportError:
        raise ConfigError("a store on PostgreSQL needs psycopg: pip install 'fullrank[postgresql]'.") from None
    return Postgresql(url, tombstones=tombstones)
