"""What the routes of one application share."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from fullrank.data.ids import Name
from fullrank.errors import FullrankError
from fullrank.serving.access import Hosts, Keys
from fullrank.serving.gate import Gate
from fullrank.serving.logs import RequestLog
from fullrank.serving.metrics import Metrics
from fullrank.serving.problems import Problem, busy
from fullrank.serving.registry import Registry

THREADS = 2  # for what takes longer than a request may hold up others
DEADLINE = 10.0  # seconds: to receive a request, and to answer it

Answer = TypeVar("Answer")


class Feedback(Protocol):
    """Where feedback is kept: the store, or whatever takes its place."""

    def submit(self, events: Sequence[Any]) -> Future[list[Any]]:
        """Keep events; done, with a receipt for each, when they are durable."""

    def offer(
        self, recommendation_id: str, user: Name | None, items: Sequence[Name], model: str, version: str, arm: str = ""
    ) -> Future[Any]:
        """Keep what was shown to somebody."""

    def forget(self, user: Name) -> Any:
        """Let nothing of somebody remain; a future, or the answer itself."""


@dataclass(frozen=True)
class Intake:
    """How feedback is taken in: where it goes, how an event is read, and which faults of the store mean which status.

    `parse` raises an error of ours for what is no event. Without `feedback` the service is read-only.
    """

    feedback: Feedback | None = None
    parse: Callable[[Mapping[str, Any]], Any] = dict
    faults: Mapping[type[Exception], int] = field(default_factory=dict)

    def store(self) -> Feedback:
        """Where it goes; a problem where there is none."""
        if self.feedback is None:
            raise Problem(503, "this service keeps no feedback; whoever runs it can give it a store.")
        return self.feedback

    def problem(self, error: Exception) -> Problem | None:
        """What a fault of the store is to whoever asked; None where it is none of its own."""
        for kind, status in self.faults.items():
            if isinstance(error, kind):
                return busy(str(error)) if status == 503 else Problem(status, str(error))
        return None


@dataclass(eq=False)
class Context:
    """Models, feedback, limits and counters; `draining` is set when the service is about to end."""

    registry: Registry
    intake: Intake = field(default_factory=Intake)
    keys: Keys = field(default_factory=Keys)
    hosts: Hosts = field(default_factory=Hosts)
    gate: Gate = field(default_factory=Gate)
    log: RequestLog = field(default_factory=RequestLog)
    metrics: Metrics = field(default_factory=Metrics)
    deadline: float = DEADLINE
    draining: bool = False
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, "lists"))
    _numbers: Any = field(default_factory=itertools.count)
    _prefix: str = field(default_factory=lambda: secrets.token_hex(4))

    def number(self) -> str:
        """A name for the next request."""
        return f"{self._prefix}-{next(self._numbers):x}"

    async def work(self, quick: bool, function: Callable[..., Answer], *given: Any) -> Answer:
        """Do what takes time: here where it is quick, else in a thread; what is refused becomes a problem."""
        try:
            if quick:
                return self._timed(1, function, *given)
            doing = asyncio.get_running_loop().run_in_executor(self.pool, self._timed, THREADS, function, *given)
            return await asyncio.wait_for(doing, self.deadline)
        except FullrankError as error:
            raise Problem(422, str(error)) from None
        except TimeoutError:
            raise busy("the answer took too long; ask for less.", 10) from None

    def _timed(self, threads: int, function: Callable[..., Answer], *given: Any) -> Answer:
        start = time.perf_counter()
        try:
            return function(*given)
        finally:
            self.gate.note((time.perf_counter() - start) / threads)
