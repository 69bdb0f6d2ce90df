"""A real server on loopback for tests, raw requests to it, and models to serve."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import fullrank
from fullrank.errors import DataError, FullrankError
from fullrank.runtime.threads import one_blas_thread
from fullrank.serving.application import create_app
from fullrank.serving.logs import RequestLog
from fullrank.serving.registry import open_registry
from fullrank.serving.server import listen, make_server
from tests.recommending.world import ABOUT, DATA, MODELS

TOOK = fullrank.Interactions.of(
    ["ann", "ann", "bob", "bob", "cy", "cy", "all", "all", "all"],
    ["tea", "jam", "tea", "gin", "tea", "jam", "tea", "jam", "gin"],
)


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """A server that answers."""

    app: Any
    port: int
    log: io.StringIO

    def raw(self, data: bytes, *, timeout: float = 30) -> bytes:
        """Everything that comes back for these bytes, until the other side closes or an answer is whole."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as one:
            with suppress(OSError):  # it has heard enough
                one.sendall(data)
            return read_answer(one)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """An answer, to a body that is bytes, or anything that becomes JSON."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        said = {"Host": "localhost", "Content-Length": str(len(data))}
        if body is not None:
            said["Content-Type"] = "application/json"
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items() if value != "-")
        return parse(self.raw(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + data))

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def lines(self) -> list[dict[str, Any]]:
        """The log so far."""
        time.sleep(0.2)
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


def read_answer(one: socket.socket) -> bytes:
    data = b""
    while True:
        head, _, body = data.partition(b"\r\n\r\n")
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if (_ and length and len(body) >= int(length[0].partition(b":")[2])) or b" 204 " in head[:14]:
            return data
        try:
            more = one.recv(1 << 16)
        except ConnectionResetError:
            return data
        if not more:
            return data
        data += more


def parse(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return Answer(int(first.split()[1]), headers, body)


@contextmanager
def served(app: Any, log: io.StringIO | None = None) -> Iterator[Running]:
    """The application on a free port, until the end."""
    listener = listen("127.0.0.1", 0)
    server = make_server(app)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    with one_blas_thread():
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server has ended"
                time.sleep(0.01)
            yield Running(app, listener.getsockname()[1], log or io.StringIO())
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


def save_models(folder: Path) -> list[str]:
    """Files of models, and what serve is told of them."""
    named = {
        "films": MODELS["vectors"], "near": MODELS["rows"], "best": MODELS["one list"], "levels": MODELS["levels"],
        "shop": fullrank.ItemCF(shrink=0).fit(TOOK), "costs": fullrank.OpportunityCost(factors=3, sweeps=2).fit(DATA),
    }  # fmt: skip
    for name, model in named.items():
        fullrank.save(model, folder / f"{name}.fr", overwrite=True)
    return [f"{name}={folder / name}.fr" for name in named]


@contextmanager
def running(models: list[str], folder: Path | None = None, feedback: Any = None, **options: Any) -> Iterator[Running]:
    log: io.StringIO = options.pop("stream", None) or io.StringIO()
    registry = open_registry(models, ABOUT if options.pop("about", True) else None, folder)
    users = options.pop("log_users", False)
    app = create_app(registry, feedback, log=RequestLog(log, users=users), **options)
    with served(app, log) as one:
        yield one


class ConflictError(FullrankError):
    """The same id with another body."""


class BusyError(FullrankError):
    """Too much at once."""


class Memory:
    """Feedback kept in memory: what the service needs of a store, and nothing more."""

    def __init__(self) -> None:
        self.events: dict[str, Any] = {}
        self.offers: dict[str, tuple[Any, ...]] = {}
        self.forgotten: list[Any] = []
        self.busy = False

    def submit(self, events: Sequence[Any]) -> Future[list[Any]]:
        if self.busy:
            raise BusyError("the store is busy; come again.")
        done: Future[list[Any]] = Future()
        clash = [event for event in events if self.events.get(event["event_id"], event) != event]
        if clash:
            done.set_exception(ConflictError(f"event {clash[0]['event_id']!r} is there with another body."))
        else:
            self.events |= {event["event_id"]: event for event in events}
            done.set_result([{"event_id": event["event_id"]} for event in events])
        return done

    def offer(
        self, recommendation_id: str, user: Any, items: Sequence[Any], model: str, version: str, arm: str = ""
    ) -> Future[Any]:
        if self.busy:
            raise BusyError("the store is busy; come again.")
        self.offers[recommendation_id] = (user, list(items), model, version, arm)
        done: Future[Any] = Future()
        done.set_result(None)
        return done

    def forget(self, user: Any) -> Future[Any]:
        self.forgotten.append(user)
        done: Future[Any] = Future()
        done.set_result(None)
        return done


def parse_event(event: Mapping[str, Any]) -> Any:
    if not isinstance(event.get("event_id"), str):
        raise DataError("an event has an event_id.")
    return dict(event)
