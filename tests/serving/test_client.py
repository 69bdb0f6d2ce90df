"""The client against a real server on loopback that keeps what it was sent and answers what it was told to."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import fullrank
from fullrank.client import Client, ServiceError, UnreachableError
from fullrank.errors import FullrankError, ParameterError

Answer = tuple[int, dict[str, str], bytes] | None  # None: the connection is cut without an answer


class Service(ThreadingHTTPServer):
    """Answers are taken from `answers`, and when there are none left events get receipts, all else an empty object."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.command, self.path, headers, json.loads(body) if body else None))
        given = self.server.answers.pop(0) if self.server.answers else (200, {}, receipts(body))
        status, more, content = given or (0, {}, b"")
        if not status:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def receipts(body: bytes) -> bytes:
    events = (json.loads(body) if body else {}).get("events")
    stored = [{"event_id": event["event_id"], "status": "stored"} for event in events or []]
    return json.dumps({} if events is None else {"receipts": stored}).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def problem(status: int, detail: str, **headers: str) -> Answer:
    content = {"type": "about:blank", "title": "Refused", "status": status, "detail": detail, "instance": "/1"}
    return status, {"Content-Type": "application/problem+json", **headers}, json.dumps(content).encode()


def test_every_call_is_the_request_that_is_documented(service: Service) -> None:
    client = Client(service.url, key="secret")
    service.answers = [(200, {}, b'{"items": [{"item": "tea"}]}')]
    assert client.recommend("shop", "ann", 3, exclude=["jam"]) == {"items": [{"item": "tea"}]}
    client.recommend("shop", history=["jam"])
    client.rank("a/b é", 7, ("tea", "jam"))
    client.similar("shop", "tea", 2)
    client.events([{"event_id": "e1", "kind": "rating"}])
    assert client.forget("../ann?x=1") == {}
    assert client.health()
    assert [(method, path, body) for method, path, _, body in service.requests] == [
        ("POST", "/v1/models/shop/recommend", {"user": "ann", "n": 3, "exclude": ["jam"]}),
        ("POST", "/v1/models/shop/recommend", {"n": 10, "history": ["jam"]}),
        ("POST", "/v1/models/a%2Fb%20%C3%A9/rank", {"user": 7, "items": ["tea", "jam"]}),
        ("POST", "/v1/models/shop/similar", {"item": "tea", "n": 2}),
        ("POST", "/v1/events", {"events": [{"event_id": "e1", "kind": "rating"}]}),
        ("DELETE", "/v1/users/..%2Fann%3Fx%3D1", None),
        ("GET", "/v2/health/ready", None),
    ]
    for method, _, headers, _ in service.requests:
        assert headers["authorization"] == "Bearer secret"
        assert (headers.get("content-type") == "application/json") == (method == "POST")
    assert "secret" not in repr(client)


def test_without_a_key_none_is_sent_and_a_path_in_front_is_kept(service: Service) -> None:
    Client(f"{service.url}/shop/").similar("m", 1)
    ((_, path, headers, _),) = service.requests
    assert path == "/shop/v1/models/m/similar"
    assert "authorization" not in headers


def test_many_events_go_in_batches_and_each_has_an_id_of_its_own(service: Service) -> None:
    given = [{"kind": "shown", "n": n} for n in range(2001)]
    answers = Client(service.url).events(iter(given))
    batches = [body["events"] for _, _, _, body in service.requests]
    assert [len(batch) for batch in batches] == [1000, 1000, 1]
    every = [event for batch in batches for event in batch]
    assert [answer["event_id"] for answer in answers] == [event["event_id"] for event in every]
    assert [event["n"] for event in every] == list(range(2001))
    assert len({event["event_id"] for event in every}) == 2001
    assert "event_id" not in given[0]
    assert Client(service.url).events([]) == []


@pytest.mark.parametrize("failure", [None, problem(503, "busy"), problem(503, "busy", **{"Retry-After": "0"})])
def test_what_fails_on_the_way_is_sent_again_with_the_same_ids(service: Service, failure: Answer) -> None:
    service.answers = [failure, failure]
    answers = Client(service.url, pause=0.001).events([{"kind": "a"}, {"kind": "b"}])
    assert [answer["status"] for answer in answers] == ["stored", "stored"]
    bodies = [body for _, _, _, body in service.requests]
    assert len(bodies) == 3
    assert bodies[0] == bodies[1] == bodies[2]


def test_it_waits_as_long_as_the_service_asks(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("fullrank.serving.client.time.sleep", waited.append)
    later = [problem(503, "busy", **{"Retry-After": text}) for text in ("7", "86400", "Wed, 01 Jan 2020 00:00:00 GMT")]
    service.answers = [*later, None]
    Client(service.url, pause=0.5).similar("m", 1)
    assert waited == [7, 60, 0.5 * 4, 0.5 * 8]


def test_it_gives_up_and_says_so(service: Service) -> None:
    service.answers = [problem(503, "The store is full.")] * 9
    with pytest.raises(UnreachableError, match=r"no answer in 3 tries \(The store is full.\); try again later"):
        Client(service.url, tries=3, pause=0.001).events([{"kind": "a"}])
    assert len(service.requests) == 3


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    client = Client(url, tries=2, pause=0.001)
    assert not client.health()
    with pytest.raises(UnreachableError, match="no answer in 2 tries"):
        client.recommend("m", 1)


@pytest.mark.parametrize(
    ("status", "content", "says"),
    [
        (409, b'{"title": "Conflict", "detail": "event e1 was sent with another body."}', "event e1 was sent with"),
        (401, b'{"title": "No key"}', "^No key$"),
        (500, b"<html>", r"the service gave no reason \(HTTP 500\)"),
        (404, b"[1]", r"the service gave no reason \(HTTP 404\)"),
        (302, b"", r"the service gave no reason \(HTTP 302\)"),
    ],
)
def test_problems_are_errors_with_their_sentence(service: Service, status: int, content: bytes, says: str) -> None:
    service.answers = [(status, {"Location": "http://127.0.0.1:1/"}, content)]
    with pytest.raises(ServiceError, match=says) as raised:
        Client(service.url, key="secret").recommend("m", 1)
    assert raised.value.status == status
    assert isinstance(raised.value, FullrankError)
    assert len(service.requests) == 1  # refused is refused, and no key goes elsewhere


def test_a_service_that_is_not_ready(service: Service) -> None:
    service.answers = [problem(503, "starting")]
    assert not Client(service.url).health()
    assert len(service.requests) == 1


def test_an_answer_that_is_no_json_is_an_error_of_the_service(service: Service) -> None:
    service.answers = [(200, {}, b"<html>")]
    with pytest.raises(ServiceError, match="answered something that is not JSON"):
        Client(service.url).recommend("m", 1)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x", "http://", "http://me:pass@x", "http://x?key=1", ""])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ParameterError, match="'url' parameter must be an address such as"):
        Client(url)


def test_fullrank_alone_does_not_import_it() -> None:
    import subprocess
    import sys

    code = "import fullrank, sys; assert not [name for name in sys.modules if name.startswith('fullrank.serving')]"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert fullrank.client.Client is Client
