"""Connections with deadlines: uvicorn has none for the head of a request, for who never asks or never reads.

Every connection of uvicorn is held by one of these, which counts the bytes of a head and knows since when it waits; one
loop looks at all of them every second.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fullrank.serving.context import DEADLINE, Context
from fullrank.serving.problems import MEDIA_TYPE, Problem, busy, problem_bytes, title_of

HEAD = 64 << 10  # bytes of a head that is not complete
ADDRESS = 8 << 10  # bytes of an address that is not complete
LOOK = 1.0  # seconds between two looks


@dataclass(eq=False)
class Connections:
    """All that are open."""

    context: Context
    most: int
    open: set[Connection] = field(default_factory=set)
    seconds: float = DEADLINE

    def protocol(self) -> Callable[..., Connection]:
        """What uvicorn makes for a new connection."""
        return lambda **given: Connection(self, HttpToolsProtocol(**given))

    async def watch(self) -> None:
        """Close those that take too long, for as long as the service runs."""
        while True:
            await asyncio.sleep(LOOK)
            now = time.monotonic()
            for one in list(self.open):
                one.look(now)
            self.context.metrics.connections.set(len(self.open))
            self.context.metrics.waiting.set(self.context.gate.active + self.context.gate.put_off)


class Connection:
    """A connection: uvicorn's own, `inner`, does all work."""

    def __init__(self, among: Connections, inner: HttpToolsProtocol) -> None:
        self.among, self.inner = among, inner
        self.head, self.since = 0, time.monotonic()  # bytes of a head so far, and since when we wait
        self.unread: float | None = None  # since when nobody reads what we wrote
        setattr(inner, "send_400_response", self._refuse_parse)  # noqa: B010 (the one place where it answers itself)

    def connection_made(self, transport: Any) -> None:
        """Begin; or refuse, where there are too many."""
        self.inner.connection_made(transport)
        self.among.open.add(self)
        if len(self.among.open) > self.among.most:
            self._refuse(busy("too many connections; come again in a second."))

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        self.among.open.discard(self)
        self.inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Read on; whatever is not the body of a request is a head, which must not be long nor take long."""
        inner, before = self.inner, self.inner.cycle
        if inner.transport.is_closing():
            return
        outside = before is None or not before.more_body
        if outside and not self.head:
            self.since = time.monotonic()
        inner.data_received(data)
        if inner.cycle is not before:
            self.head = 0
        elif outside:
            self._count(len(data))

    def eof_received(self) -> None:
        """Nothing more will come."""
        self.inner.eof_received()

    def pause_writing(self) -> None:
        """Too much is written that nobody has read."""
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        """It has been read."""
        self.inner.resume_writing()

    def look(self, now: float) -> None:
        """Close it where it takes too long to ask, or to read an answer."""
        cycle, transport = self.inner.cycle, self.inner.transport
        if transport.get_write_buffer_size():
            self.unread = self.unread or now
            if now - self.unread > self.among.seconds:
                transport.abort()
            return
        self.unread = None
        idle = cycle is None or cycle.response_complete
        if not idle or (cycle is not None and not self.head) or now - self.since <= self.among.seconds - LOOK:
            return
        if self.head:
            self._refuse(Problem(408, f"the request did not come within {self.among.seconds:g} seconds."))
        else:
            transport.close()

    def _count(self, size: int) -> None:
        self.head += size
        if len(getattr(self.inner, "url", b"")) > ADDRESS:
            self._refuse(Problem(414, f"the address is longer than {ADDRESS:,} bytes."))
        elif self.head > HEAD or len(self.inner.headers or ()) > 100:
            self._refuse(Problem(431, f"the headers are longer than {HEAD:,} bytes, or more than 100."))

    def _refuse_parse(self, _message: str) -> None:
        self._refuse(Problem(400, "this is no HTTP request; look at its first lines, and at its headers."))

    def _refuse(self, problem: Problem) -> None:
        """Answer what never became a request, with a line in the log, and close."""
        transport, context = self.inner.transport, self.among.context
        if transport.is_closing():
            return
        number = context.number()
        body = problem_bytes(problem, number)
        more = "".join(f"{name}: {value}\r\n" for name, value in problem.headers.items())
        head = (
            f"HTTP/1.1 {problem.status} {title_of(problem.status)}\r\ncontent-type: {MEDIA_TYPE.decode()}\r\n"
            f"content-length: {len(body)}\r\n{more}connection: close\r\n\r\n"
        )
        transport.write(head.encode() + body)
        transport.close()
        context.metrics.count("", problem.status, time.monotonic() - self.since)
        context.log.write({"time": time.time(), "request": number, "status": problem.status})
