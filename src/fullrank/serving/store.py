"""The store of feedback: events are kept for good when their receipt is there, and each is kept once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from fullrank.data.ids import Name
from fullrank.errors import ConflictError, FullrankError, NotAllowedError, StoreBusyError, StoreDownError
from fullrank.serving.commits import Receipt
from fullrank.serving.database import Database, explained
from fullrank.serving.events import Event
from fullrank.serving.exporting import Export, export
from fullrank.serving.fields import check_name
from fullrank.serving.postgresql import open_postgresql
from fullrank.serving.rows import draft_event, draft_offer, key_of
from fullrank.serving.schema import check_version, events, gaps, migrate, state
from fullrank.serving.sqlite import Sqlite
from fullrank.serving.tombstones import all_of, bury, read_file, replay, write_file
from fullrank.serving.verifying import missing, verify
from fullrank.serving.writer import Task, Writer

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "ConflictError", "FeedbackStore", "Receipt", "Status", "StoreBusyError", "StoreDownError", "open_store",
]  # fmt: skip


@dataclass(frozen=True)
class Status:
    """How a store is."""

    #: Whether the last commit worked; a store that failed looks again by itself.
    ready: bool
    #: Why not.
    reason: str
    #: Events that wait to be written.
    waiting: int


class FeedbackStore:
    """Events in a file or on a server; build it with `open_store`, and close it (or use it in a `with`).

    Any thread may call anything. One thread writes, in the order of the calls.
    """

    def __init__(self, database: Database, writer: Writer | None, notes: tuple[str, ...]) -> None:
        self._database, self._writer = database, writer
        self.notes = notes  # what was noticed while it was opened

    def submit(self, events: Iterable[Event]) -> Future[list[Receipt]]:
        """Store a batch, whole or not at all; done when it is durable, with a receipt for every event in order.

        The same event again is "known". Another one under an id that is taken fails the batch with `ConflictError`;
        a disk or a server that fails, with `StorageError`. More than may wait is refused with `StoreBusyError`.
        """
        task = Task([draft_event(event) for event in events])
        self._write().put(task)
        return task.future

    def offer(
        self, recommendation_id: str, user: Name, items: Sequence[Name], model: str, version: str, arm: str = ""
    ) -> Future[list[Receipt]]:
        """Keep a list that the service showed, before anything that is submitted later; nobody needs to wait for it.

        While the store fails it waits and is not lost; where too much waits, the future says `StoreBusyError`.
        """
        task = Task([draft_offer(recommendation_id, user, items, model=model, version=version, arm=arm)], keep=True)
        try:
            self._write().put(task)
        except (StoreBusyError, StoreDownError) as error:
            task.future.set_exception(error)
        return task.future

    def forget(self, user: Name) -> int:
        """Delete all that a person did, for good; how many events there were.

        What was submitted before is deleted, and comes back from no copy of the store; what is submitted later is
        that of a new person. The bytes are gone from the files after `compact`.
        """
        key = key_of(check_name("user", user))

        def work() -> int:
            with self._database.writing() as connection:
                gone = bury(connection, key)
                tombstones = all_of(connection)
            write_file(self._database.tombstones, tombstones)
            return gone

        return int(self._do(work))

    def compact(self) -> None:
        """Write the store anew, so that nothing of what was deleted is left in its files."""
        self._do(self._database.compact)

    def verify(self) -> list[str]:
        """What is damaged or missing, a sentence each; nothing where all is whole."""
        return verify(self._database)

    def export(
        self, kind: str = "sessions", since: str | float | datetime | None = None, *,
        scale: Sequence[str] | None = None, ids: str = "exact",
    ) -> Export:  # fmt: skip
        """The feedback as polars frames, in batches; see `Export`."""
        return export(self._database, kind, since, scale=scale, ids=ids)

    def count(self) -> int:
        """How many events are kept, lists of the service itself among them."""
        from sqlalchemy import func

        with explained(self._database), self._database.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(events)).scalar_one())

    def status(self) -> Status:
        """Whether it takes events, and how many wait."""
        failure = self._writer.failure if self._writer else None
        return Status(failure is None, str(failure or ""), self._writer.waiting if self._writer else 0)

    @property
    def read_only(self) -> bool:
        return self._writer is None

    def close(self) -> None:
        """Write what waits, and let go of the file."""
        if self._writer:
            self._writer.close()
        self._database.close()

    def __enter__(self) -> FeedbackStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self) -> Writer:
        if self._writer is None:
            raise NotAllowedError(f"{self._database.name}: the store was opened to read only.")
        return self._writer

    def _do(self, work: Any) -> Any:
        task = Task(work=work)
        self._write().put(task)
        return task.future.result()


def open_store(where: str | Path, *, read_only: bool = False, forgotten: str | Path | None = None) -> FeedbackStore:
    """Open a store, or make one.

    Parameters
    ----------
    where
        The path of a file, which is a SQLite database and belongs to one server at a time (a second is refused with
        `LockedError`); or postgresql+psycopg://user@host/database, which several servers may share.
    read_only
        Only to export and verify, also while a server writes.
    forgotten
        The file that says who was forgotten, so that a restored copy of the store does not bring them back; beside a
        SQLite store it is there by itself (PATH.forgotten).
    """
    database = _open(where, read_only, None if forgotten is None else Path(forgotten))
    try:
        with explained(database):
            notes = _check(database) if read_only else _prepare(database)
    except BaseException:
        with suppress(FullrankError):
            database.close()
        raise
    return FeedbackStore(database, None if read_only else Writer(database), notes)


def _open(where: str | Path, read_only: bool, forgotten: Path | None) -> Database:
    if isinstance(where, str) and "://" in where:
        return open_postgresql(where, tombstones=forgotten)
    database = Sqlite(Path(where), read_only=read_only)
    if forgotten is not None:
        database.tombstones = forgotten
    return database


def _check(database: Database) -> tuple[str, ...]:
    with database.reading() as connection:
        check_version(connection, database.name)
    return ()


def _prepare(database: Database) -> tuple[str, ...]:
    """Migrate, delete again who was forgotten, and number new events after all that ever were."""
    buried = read_file(database.tombstones)
    notes = []
    with database.writing() as connection:
        migrate(connection, database.name)
        last = int(connection.execute(select(state.c.last_seq)).scalar_one())
        acknowledged = database.last_acknowledged()
        if acknowledged > last:
            connection.execute(insert(gaps).values(first=last + 1, last=acknowledged))
            notes.append(missing(database.name, last + 1, acknowledged))
        gone = replay(connection, buried)
        if gone:
            notes.append(f"{database.name}: {gone} events of people who were forgotten had come back; deleted again.")
        highest = max([last, acknowledged, *buried.values()])
        if highest > last:
            connection.execute(update(state).values(last_seq=highest))
        tombstones = all_of(connection)
    write_file(database.tombstones, tombstones)
    return tuple(notes)
