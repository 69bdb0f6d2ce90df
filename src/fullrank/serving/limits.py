"""What every request goes through first: limits, access, deadlines; and a line in the log for each."""

from __future__ import annotations

import asyncio
import hashlib
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fullrank.serving.context import Context
from fullrank.serving.problems import Problem, problem_bytes, problem_headers

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY = 1 << 20  # bytes
ADDRESS = 8 << 10  # bytes of path and query
HEADERS, HEADER_BYTES = 100, 32 << 10
LINGER = 1.0  # seconds in which what a refused request still sends is read and thrown away
SECURITY = [
    (b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]  # fmt: skip
DOCS = "/docs"  # there only where it was asked for; its scripts come from elsewhere, which the policy would forbid
PROBES = ("/v2/health/live", "/v2/health/ready")  # answered to anybody, and whatever the load


@dataclass
class Note:
    """What a request leaves in the log and in the counters."""

    number: str
    start: float
    status: int = 0
    route: str = ""  # its template
    user: str = ""
    body: bytes = b""
    media: bytes = b""  # its content type
    more: dict[str, Any] = field(default_factory=dict)


class Gone(Exception):  # noqa: N818 (whoever asked is)
    """Whoever asked has hung up."""


@dataclass(frozen=True)
class Limits:
    """The application behind all limits; itself an ASGI application, without a framework's helpers, to be quick."""

    app: App
    context: Context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        note = Note(self.context.number(), time.perf_counter())
        scope["fullrank.note"] = note
        answer = _noted(note, send, SECURITY[:2] if scope["path"] == DOCS else SECURITY)
        try:
            await self._serve(scope, receive, answer)
        except Problem as problem:
            await _refuse(problem, note, receive, answer)
        except Gone:
            note.status = note.status or 499  # as many servers write it
        except Exception as error:
            note.more["fault"] = _report(error)
            said = f"a fault of ours (report {note.more['fault']}); whoever runs the service can tell."
            await _refuse(Problem(500, said), note, receive, answer)
        finally:
            self._tell(scope, note)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        context, note = self.context, scope["fullrank.note"]
        length = _check_head(scope, context, note)
        if length != 0:
            note.body = await _receive_all(receive, context.deadline)
        if scope["path"] in PROBES:
            await self.app(scope, receive, send)
            return
        try:
            await context.gate.enter()
        except Problem:
            context.metrics.shed.inc()
            raise
        try:
            await self.app(scope, receive, send)
        finally:
            context.gate.leave()

    def _tell(self, scope: Scope, note: Note) -> None:
        seconds = time.perf_counter() - note.start
        self.context.metrics.count(note.route, note.status, seconds)
        line = {
            "time": time.time(), "request": note.number, "method": scope["method"][:16], "route": note.route,
            "status": note.status, "ms": round(1000 * seconds, 3), **note.more,
        }  # fmt: skip
        if note.user:
            line["user"] = note.user
        self.context.log.write(line)


def _check_head(scope: Scope, context: Context, note: Note) -> int | None:
    """Refuse by what comes before the body; how long it says the body is, None where it comes in chunks."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > ADDRESS:
        raise Problem(414, f"the address is longer than {ADDRESS:,} bytes; send what is long in the body.")
    pairs = scope["headers"]
    if len(pairs) > HEADERS or sum(len(name) + len(value) for name, value in pairs) > HEADER_BYTES:
        raise Problem(431, f"there are more than {HEADERS} headers, or {HEADER_BYTES:,} bytes of them; send fewer.")
    headers = dict(pairs)
    server = scope.get("server")
    context.hosts.check([value for name, value in pairs if name == b"host"], server[0] if server else None)
    if scope["path"] not in PROBES:
        context.keys.check(headers)
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise Problem(415, "bodies are taken as they are; send it without Content-Encoding.")
    note.media, length = headers.get(b"content-type", b""), headers.get(b"content-length")
    if length is None:
        return None if b"transfer-encoding" in headers else 0
    if not length.isdigit() or len(length) > 18:
        raise Problem(400, "Content-Length is no number of bytes.")
    if int(length) > BODY:
        raise _too_large()
    return int(length)


def _too_large() -> Problem:
    return Problem(413, f"a body has at most {BODY:,} bytes; send less at a time.", {"connection": "close"})


async def _receive_all(receive: Receive, deadline: float) -> bytes:
    """The whole body, as long as it is short enough and comes in time."""
    task, late = asyncio.current_task(), False

    def give_up() -> None:
        nonlocal late
        late = True
        if task is not None:
            task.cancel()

    timer = asyncio.get_running_loop().call_later(deadline, give_up)  # a third of what asyncio.timeout takes
    body: bytes = b""
    try:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            body += message.get("body", b"")
            if len(body) > BODY:
                raise _too_large()
            if not message.get("more_body", False):
                return bytes(body)
    except asyncio.CancelledError:
        if not late or task is None:
            raise
        task.uncancel()
        said = f"the request did not come within {deadline:g} seconds; send it in one go."
        raise Problem(408, said, {"connection": "close"}) from None
    finally:
        timer.cancel()


def _noted(note: Note, send: Send, more: list[tuple[bytes, bytes]]) -> Send:
    """What sends an answer, keeps its status and adds the headers that all answers have."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            note.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return answer


async def _refuse(problem: Problem, note: Note, receive: Receive, send: Send) -> None:
    """Answer with a problem, unless an answer has begun; and read on for a moment where more may come.

    To close at once would reset the connection, and who is still sending would never see the answer.
    """
    if note.status:
        return
    body = problem_bytes(problem, note.number)
    await send({"type": "http.response.start", "status": problem.status, "headers": problem_headers(problem, body)})
    more = problem.status == 413
    await send({"type": "http.response.body", "body": body, "more_body": more})
    if more:
        await _drain(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return


def _report(error: Exception) -> str:
    """A name for a fault: the same for the same place, and nothing of what was sent."""
    frames = "".join(f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    return hashlib.sha256(f"{type(error).__name__}{frames}".encode()).hexdigest()[:12]
