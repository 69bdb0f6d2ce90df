"""What a store needs of a database: SQLite and PostgreSQL each give it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from fullrank.errors import FullrankError


class Database(Protocol):
    """A file or a server, its connections, and what its errors mean."""

    name: str  # for messages, without a password
    tombstones: Path | None  # the file beside it that says who was forgotten

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that no other writer is in; committed and durable when it is left without an error."""

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that changes nothing."""

    def explain(self, error: SQLAlchemyError) -> FullrankError:
        """What went wrong, for people."""

    def is_final(self, error: SQLAlchemyError) -> bool:
        """Whether nothing may be written after this: what is on the disk is no longer known."""

    def note_acknowledged(self, seq: int) -> None:
        """Remember outside the database that events up to this one are durable."""

    def last_acknowledged(self) -> int:
        """What was remembered so; 0 where nothing was."""

    def check(self) -> list[str]:
        """What the database itself finds damaged."""

    def compact(self) -> None:
        """Write everything anew, so that nothing of what was deleted is left in its files."""

    def close(self) -> None:
        """Let go of everything."""


@contextmanager
def explained(database: Database) -> Iterator[None]:
    """Errors of the database as ours."""
    try:
        yield
    except SQLAlchemyError as error:
        raise database.explain(error) from error
