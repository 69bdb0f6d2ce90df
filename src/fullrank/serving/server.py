"""The application behind a socket: how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import errno
import gc
import socket
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from fullrank.errors import ConfigError, LockedError, NotAllowedError
from fullrank.runtime.threads import one_blas_thread
from fullrank.serving.access import is_loopback
from fullrank.serving.connections import Connections
from fullrank.serving.context import Context

GRACE = 8  # seconds to finish what is under way
NOTICE = 1.0  # seconds in which the service says that it is not ready and still answers
RESERVE = 48  # files that are no connections
MOST = 4096  # connections


def check_host(host: str, *, keys: bool, insecure: bool) -> None:
    """Refuse to serve other machines without keys."""
    if not is_loopback(host) and not keys and not insecure:
        raise ConfigError(
            f"--host {host} is open to other machines, and there are no keys; give --keys FILE, or say --insecure."
        )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; an error that names the address where it cannot."""
    where = f"{host}:{port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ConfigError(f"{where} is no address of this machine ({error.strerror or error}).") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise LockedError(f"{where} is in use by another process; choose another --port.") from None
        if error.errno == errno.EACCES:
            raise NotAllowedError(f"{where}: this user may not listen there; choose a --port above 1023.") from None
        raise ConfigError(f"{where} cannot be listened on ({error.strerror or error}).") from None
    listener.set_inheritable(True)
    return listener


def make_server(app: FastAPI) -> uvicorn.Server:
    """A server for an application, with its limits; it listens where `run` says."""
    context: Context = app.state.context
    connections = Connections(context, _most_connections(), seconds=context.deadline)
    config = uvicorn.Config(
        app, http=connections.protocol(), ws="none", loop="auto", lifespan="on",  # type: ignore[arg-type]
        log_config=None, log_level="critical", access_log=False, server_header=False, date_header=True,
        proxy_headers=False, timeout_keep_alive=int(context.deadline), timeout_graceful_shutdown=GRACE, backlog=2048,
    )  # fmt: skip
    server = uvicorn.Server(config)
    serve, ending = server.serve, Ending(server.handle_exit, context)

    async def watch_and_serve(sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, what: _tell(context, what))
        watches = [asyncio.create_task(task) for task in (connections.watch(), ending.watch())]
        try:
            await serve(sockets)
        finally:
            for watch in watches:
                watch.cancel()

    setattr(server, "serve", watch_and_serve)  # noqa: B010 (composed, not inherited)
    setattr(server, "handle_exit", ending.handle)  # noqa: B010
    return server


def run(app: FastAPI, listener: socket.socket) -> None:
    """Serve until a signal says to end; BLAS has one thread, since requests are the parallel ones."""
    gc.collect()
    gc.freeze()  # models stay: to look through their ids again and again would take time from requests
    with one_blas_thread():
        make_server(app).run([listener])


@dataclass
class Ending:
    """On a signal: no longer ready, but for a moment all is answered, so that whoever sends requests can look away."""

    end: Callable[[int, FrameType | None], None]
    context: Context
    number: int = 0

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take notice of a signal; a second one ends at once."""
        if self.context.draining:
            self.end(number, frame)
        self.context.draining, self.number = True, number

    async def watch(self) -> None:
        """End a moment after the signal."""
        while not self.number:
            await asyncio.sleep(0.05)
        await asyncio.sleep(NOTICE)
        self.end(self.number, None)


def _most_connections() -> int:
    """As many as there may be open files, with some left for models and the store."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else max(min(soft - RESERVE, MOST), 4)


def _tell(context: Context, what: dict[str, Any]) -> None:
    """A fault outside of any request, as a line of the log."""
    context.log.write({"fault": str(what.get("message", "")), "kind": type(what.get("exception")).__name__})
