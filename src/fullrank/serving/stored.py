"""The store as the application uses it: nothing waits on the loop, and nobody is asked for twice."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from fullrank.data.ids import Name, is_canonical_integer
from fullrank.errors import ConflictError, StorageError, StoreBusyError
from fullrank.serving.context import Intake
from fullrank.serving.events import parse_event
from fullrank.serving.store import FeedbackStore, Status

FAULTS: dict[type[Exception], int] = {ConflictError: 409, StoreBusyError: 503, StorageError: 503}


class StoredFeedback:
    """Feedback in a store; `close` writes what waits."""

    def __init__(self, store: FeedbackStore) -> None:
        self._store, self._pool = store, ThreadPoolExecutor(1, "forgetting")

    def submit(self, events: Sequence[Any]) -> Future[list[Any]]:
        """Keep events; done when they are durable."""
        return self._store.submit(events)

    def offer(
        self, recommendation_id: str, user: Name | None, items: Sequence[Name], model: str, version: str, arm: str = ""
    ) -> Future[Any]:
        """Keep what was shown; an empty list is no offer, and somebody without a name has that of the list."""
        if not items:
            nothing: Future[Any] = Future()
            nothing.set_result([])
            return nothing
        who = recommendation_id if user is None else user
        return self._store.offer(recommendation_id, who, items, model, version, arm)

    def forget(self, user: Name) -> Future[int]:
        """Forget whoever is written so: an address has no types, so 7 goes with "7"."""
        written: list[Name] = [user]
        if isinstance(user, str) and is_canonical_integer(user):
            written.append(int(user))
        return self._pool.submit(lambda: sum(self._store.forget(name) for name in written))

    def status(self) -> Status:
        """Whether it takes events."""
        return self._store.status()

    def close(self) -> None:
        """Write what waits, and let go of the store."""
        self._pool.shutdown()
        self._store.close()


def intake_of(feedback: StoredFeedback) -> Intake:
    """How the application takes feedback into a store."""
    return Intake(feedback, parse_event, FAULTS)
