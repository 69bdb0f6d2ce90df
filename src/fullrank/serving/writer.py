"""The one thread that writes: what waits is committed together, in the order in which it came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError

from fullrank.errors import FullrankError, StoreBusyError, StoreDownError, check
from fullrank.serving.commits import store_batches
from fullrank.serving.database import Database
from fullrank.serving.rows import Draft
from fullrank.serving.schema import state

MOST_WAITING = 20_000  # events
MOST_BYTES = 64 << 20
GROUP = 5_000  # events of one commit
PAUSE = 0.5  # seconds between looks at a store that failed


@dataclass(frozen=True, eq=False)
class Task:
    """Something to write: a batch of rows, or work of its own; and the answer that somebody may wait for."""

    drafts: Sequence[Draft] = ()
    work: Callable[[], Any] | None = None
    keep: bool = False  # an offer: nobody sends it again, so it waits until the store is back
    future: Future[Any] = field(default_factory=Future)

    @property
    def size(self) -> int:
        return sum(draft.size for draft in self.drafts)

    def is_wanted(self) -> bool:
        """Whether whoever asked is still there; from now on they cannot go."""
        return self.future.running() or self.future.set_running_or_notify_cancel()


class Writer:
    """A queue that is bounded, and the thread that empties it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tasks: deque[Task] = deque()
        self._changed = threading.Condition()
        self._waiting = self._bytes = 0
        self._closed = False
        self._failure: FullrankError | None = None  # of the last try
        self._final = False  # nothing may be written any more
        self._thread = threading.Thread(target=self._run, name="fullrank-feedback", daemon=True)
        self._thread.start()

    def put(self, task: Task) -> None:
        """Add to the queue; refused where it is full, closed or the disk has failed."""
        check("events", len(task.drafts), len(task.drafts) <= MOST_WAITING, f"a batch of at most {MOST_WAITING} events")
        check("events", task.size, task.size <= MOST_BYTES, f"a batch of at most {MOST_BYTES} bytes")
        with self._changed:
            if self._closed:
                raise StoreDownError(f"{self._database.name}: the store is closed; open it again.")
            if self._final:
                raise StoreDownError(str(self._failure))
            if self._waiting + len(task.drafts) > MOST_WAITING or self._bytes + task.size > MOST_BYTES:
                raise StoreBusyError(
                    f"{self._database.name}: {self._waiting} events wait to be written; send this again later."
                )
            self._count(task, 1)
            self._tasks.append(task)
            self._changed.notify()

    @property
    def waiting(self) -> int:
        return self._waiting

    @property
    def failure(self) -> FullrankError | None:
        return self._failure

    def close(self) -> None:
        """Write what waits, then end; what cannot be written fails."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        for task in self._tasks:
            if task.is_wanted():
                task.future.set_exception(StoreDownError(f"{self._database.name}: closed before this was stored."))
        self._tasks.clear()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._tasks and not self._closed and self._failure is None:
                    self._changed.wait()
                if self._failure is not None and not self._closed and all(task.keep for task in self._tasks):
                    self._changed.wait(PAUSE)  # nobody is kept waiting: look again in a moment, or with what comes
                group = self._take()
                if self._closed and not group:
                    return
            self._write(group)
            if self._closed and self._failure is not None and all(task.keep for task in self._tasks):
                return

    def _take(self) -> list[Task]:
        """What is committed together: batches up to a bound, or one piece of work."""
        group: list[Task] = []
        rows = 0
        while self._tasks and rows < GROUP and not (group and (self._tasks[0].work or group[0].work)):
            task = self._tasks.popleft()
            self._count(task, -1)
            if task.is_wanted():
                group.append(task)
                rows += len(task.drafts)
        return group

    def _write(self, group: list[Task]) -> None:
        if self._final:
            self._fail(group, StoreDownError(str(self._failure)))
            return
        try:
            outcomes = self._commit(group)
        except SQLAlchemyError as error:
            self._final = self._final or self._database.is_final(error)
            self._fail(group, self._database.explain(error))
        except FullrankError as error:  # of work of its own: the store itself is as it was
            for task in group:
                task.future.set_exception(error)
        except Exception as error:  # a fault of ours: nobody waits for ever, and nothing is acknowledged
            self._fail(group, StoreDownError(f"{self._database.name}: a fault of ours ({error!r}); report it."))
        else:
            self._failure = None
            for task, outcome in zip(group, outcomes, strict=True):
                if isinstance(outcome, Exception):
                    task.future.set_exception(outcome)
                else:
                    task.future.set_result(outcome)

    def _commit(self, group: list[Task]) -> Sequence[Any]:
        """Write a group; when this returns, it is durable."""
        if len(group) == 1 and group[0].work is not None:
            return [group[0].work()]
        with self._database.writing() as connection:
            if not group:  # only to see whether it works again
                connection.execute(update(state).values(last_seq=state.c.last_seq))
                return []
            outcomes, last = store_batches(connection, [task.drafts for task in group])
        self._database.note_acknowledged(last)
        return outcomes

    def _fail(self, group: list[Task], error: FullrankError) -> None:
        self._failure = error
        kept = [task for task in group if task.keep and not self._final]
        for task in group:
            if task not in kept:
                task.future.set_exception(error)
        with self._changed:
            for task in reversed(kept):
                self._count(task, 1)
                self._tasks.appendleft(task)

    def _count(self, task: Task, sign: int) -> None:
        self._waiting += sign * len(task.drafts)
        self._bytes += sign * task.size
