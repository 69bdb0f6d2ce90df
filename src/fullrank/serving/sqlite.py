"""A store in one file: SQLite with a write-ahead log, synced at every commit, for one server at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool

from fullrank.errors import (
    DataError,
    FullrankError,
    LockedError,
    NoInputError,
    NotAllowedError,
    OutputError,
    StorageError,
    StoreDownError,
)
from fullrank.runtime.atomic import locked

FINAL = ("SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC", "SQLITE_IOERR_READ", "SQLITE_CORRUPT", "SQLITE_NOTADB")
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "busy_timeout=5000")


class Sqlite:
    """A file, the lock beside it, and a note of the last event that was acknowledged."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path, self.name, self.read_only = path, str(path), read_only
        self.tombstones: Path | None = path.with_name(path.name + ".forgotten")
        self._last = path.with_name(path.name + ".last")
        self._held = ExitStack()
        _check_path(path, read_only)
        if not read_only:
            self._held.enter_context(locked(path))
            with suppress(OSError):  # SQLite says what is wrong
                _create(path)
        self._writer = _engine(path, "rwc", PRAGMAS, "BEGIN IMMEDIATE")
        self._reader = _engine(path, _read_mode(path), ("busy_timeout=5000",), "BEGIN")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._writer.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._reader.connect() as connection:
            yield connection

    def explain(self, error: SQLAlchemyError) -> FullrankError:
        said, code = getattr(error, "orig", None) or error, _code(error)
        if code == "SQLITE_FULL":
            return StorageError(f"{self.name}: no space left on the disk; nothing of this was stored.")
        if code in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
            return DataError(f"{self.name}: damaged, or no store ({said}); run 'fullrank feedback verify' on it.")
        if code.startswith("SQLITE_BUSY"):
            return LockedError(f"{self.name}: another program is writing to it; wait for it.")
        if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return NotAllowedError(f"{self.name}: no permission to open or write it ({said}).")
        if self.is_final(error):
            return StoreDownError(f"{self.name}: the disk failed ({said}); mend it and open the store again.")
        return StorageError(f"{self.name}: cannot be read or written ({said}); nothing of this was stored.")

    def is_final(self, error: SQLAlchemyError) -> bool:
        return _code(error) in FINAL

    def note_acknowledged(self, seq: int) -> None:
        with suppress(OSError):  # a help for `verify`, on which nothing rests
            handle = os.open(self._last, os.O_WRONLY | os.O_CREAT, 0o666)
            try:
                os.pwrite(handle, b"%020d\n" % seq, 0)
            finally:
                os.close(handle)

    def last_acknowledged(self) -> int:
        try:
            return int(self._last.read_bytes())
        except (OSError, ValueError):
            return 0

    def check(self) -> list[str]:
        with self.reading() as connection:
            lines = connection.execute(text("PRAGMA integrity_check")).scalars().all()
        return [f"{self.name}: {line}" for line in lines if line != "ok"]

    def compact(self) -> None:
        with self._writer.connect() as connection:
            plain = connection.execution_options(outside_transactions=True)
            plain.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).all()
            plain.execute(text("VACUUM"))
            busy = plain.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).one()[0]
        if busy:
            raise LockedError(f"{self.name}: somebody reads it, so its log could not be emptied; compact it again.")

    def close(self) -> None:
        self._writer.dispose()
        self._reader.dispose()
        self._held.close()


def _check_path(path: Path, read_only: bool) -> None:
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; give the path of a file.")
    if read_only and not path.exists():
        raise NoInputError(f"{path}: there is no such store.")
    if read_only:
        return
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; create it first.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise NotAllowedError(f"{path}: no permission to write; open it to read only (--read-only).")


def _create(path: Path) -> None:
    """A file that nobody else may read, since what people did is their own; its name is durable, too."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read_mode(path: Path) -> str:
    """A log can be read only with an index beside it; a store at rest in a folder that is read-only has none."""
    at_rest = not path.with_name(path.name + "-wal").exists()
    return "ro&immutable=1" if at_rest and not os.access(path.parent, os.W_OK) else "ro"


def _engine(path: Path, mode: str, pragmas: tuple[str, ...], begin: str) -> Engine:
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"

    def connect() -> sqlite3.Connection:  # by ourselves: an address for SQLAlchemy would be taken apart twice
        return sqlite3.connect(address, uri=True, check_same_thread=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool if mode.startswith("ro") else QueuePool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, tables are made inside of them too
        connection.text_factory = _decode
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        if "outside_transactions" not in connection.get_execution_options():  # as VACUUM must be
            connection.exec_driver_sql(begin)

    return engine


def _decode(content: bytes) -> str:
    """Text, also where it is damaged: its digest tells, and whoever reads on is not held up."""
    return content.decode("utf-8", "replace")


def _code(error: SQLAlchemyError) -> str:
    return getattr(getattr(error, "orig", None), "sqlite_errorname", "") or ""
