"""Malformed and hostile requests (FAULTS, section 5): refused with the right status, and the service goes on."""

from __future__ import annotations

import gzip
import json
import socket
import time
from contextlib import suppress
from typing import Any

import pytest

from fullrank.serving.access import Keys, read_keys
from tests.recommending.world import DATA
from tests.serving.server import Running, parse, read_answer, running

LIST = "/v1/models/films/recommend"
SOMEBODY = int(DATA.users.name(3))
KEY = "a-key-of-some-length"


def refused(answer: Any, status: int) -> str:
    """The detail of a problem of this status, whose form is that of RFC 9457."""
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "detail", "instance"}
    assert answer.json["status"] == status
    for word in ("Traceback", ".py", "site-packages", "fullrank.", "uvicorn", "starlette", "/tmp", "pydantic"):  # H31
        assert word not in answer.body.decode(), answer.body
    return str(answer.json["detail"])


@pytest.fixture(autouse=True)
def _goes_on(service: Running) -> Any:
    yield
    assert service.post(LIST, {"user": SOMEBODY}).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b'{"user": NaN}', b'{"user": 3, "n": Infinity}', b'{"user": 3, "n": -Infinity}', b'{"user": 3, "n": 1e999}',
        b'{"user": ' + b"7" * 5000 + b"}", b"[" * 100_000, b'{"a":' * 100_000, b"[" * 33 + b"]" * 33,
        b'{"user": 3, "user": 4}', b'{"user": "\xff\xfe"}', b'{"user": "\\ud800"}', b'{"\\udfff": 1}',
        b'{"user": "a\\u0000b"}', b'{"user": "a\x00b"}', b"\xef\xbb\xbf{}", b"", b"{", b"{'user': 3}", b'{"user": 3,}',
        b'{"user": 3} {}', b'{"user": 03}',
    ],
)  # fmt: skip
def test_h1_h2_h5_h6_what_is_no_strict_json_is_400(service: Running, body: bytes) -> None:
    refused(service.post(LIST, body), 400)


def test_nesting_is_counted_to_32_and_no_further(service: Running) -> None:
    deep = lambda levels: b'{"user": ' + b"[" * levels + b"]" * levels + b', "only": [' + b"[]," * 40 + b"[]]}"  # noqa: E731
    refused(service.post(LIST, deep(31)), 422)  # 32 with the object: JSON, but no id
    refused(service.post(LIST, deep(32)), 400)


@pytest.mark.parametrize(
    "body",
    [
        None, [], "text", 7, {}, {"user": None}, {"user": 3, "history": []}, {"user": 3, "unknown": 1}, {"user": True},
        {"user": 3.5}, {"user": ""}, {"user": "x" * 1025}, {"user": 2**63}, {"user": {"$ne": 1}}, {"user": [3]},
        *({"user": 3, "n": n} for n in (0, -1, 10**9, 2**64, "10; drop", "10", 2.5, None, True, 1001)),
        {"user": 3, "exclude": list(range(1001))}, {"user": 3, "only": "all"}, {"user": 3, "where": ""},
        {"user": 3, "repeat": 1}, {"user": 3, "n": 101, "explain": True}, {"history": [1, {"item": 2, "value": 3.0}]},
        {"history": [{"item": 1, "value": "5"}]}, {"history": [1, 1]}, {"history": list(range(1001))},
        {"history": [{"item": 1, "value": 1e300}]},
    ],
)  # fmt: skip
def test_h5_h7_h8_valid_json_of_a_wrong_meaning_is_422(service: Running, body: Any) -> None:
    refused(service.post(LIST, json.dumps(body).encode()), 422)


def test_refusals_say_where_and_what(service: Running) -> None:
    assert refused(service.post(LIST, {"user": 3, "n": 0}), 422) == "/n: input should be greater than or equal to 1."
    assert refused(service.post(LIST, {"user": 3, "n": 5000}), 422) == "/n: input should be less than or equal to 1000."
    assert "'colour'" in refused(service.post(LIST, {"user": 3, "colour": 1}), 422)
    assert refused(service.post(LIST, {"user": "x" * 1025}), 422).startswith("/user: ")
    assert refused(service.post(LIST, {"user": 3, "exclude": [1, 2.5]}), 422).startswith("/exclude/1: ")


def test_h3_bodies_beyond_a_mebibyte_are_413_early(service: Running) -> None:
    head = f"POST {LIST} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
    huge = parse(service.raw(head + b"Content-Length: 200000000\r\n\r\n" + b"x" * 4096))
    assert "1,048,576" in refused(huge, 413)
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as one:
        one.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):
            for _ in range(200):  # 200 MB, had anybody listened
                one.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
        refused(parse(read_answer(one)), 413)
    exact = b'{"user": 3, "where": "' + b"x" * ((1 << 20) - 24) + b'"}'
    assert len(exact) == 1 << 20
    refused(service.post(LIST, exact), 422)
    refused(service.post(LIST, exact + b" "), 413)


def test_h3_lying_lengths_are_400(service: Running) -> None:
    for length in ("-1", "1e3", "abc", "99999999999999999999999"):
        assert service.post(LIST, {"user": 3}, Content_Length=length).status in (400, 413)
    refused(service.post(LIST, b'{"user": 3}', Content_Length="5"), 400)  # cut: no JSON


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "gzip, identity"])
def test_h4_compressed_bodies_are_415(service: Running, coding: str) -> None:
    refused(service.post(LIST, gzip.compress(b"0" * 10_000_000), Content_Encoding=coding), 415)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "-",
             "application/json; charset=latin-1", "application/jsonp", ""],
)  # fmt: skip
def test_h5_h16_other_content_types_are_415(service: Running, kind: str) -> None:
    refused(service.post(LIST, {"user": 3}, Content_Type=kind), 415)


def test_json_with_its_charset_is_taken(service: Running) -> None:
    assert service.post(LIST, {"user": SOMEBODY}, Content_Type='Application/JSON; charset="UTF-8"').status == 200


@pytest.mark.parametrize(
    "name", ["'; drop table users--", "' or 1=1", "%00", "../../etc/passwd", "a\r\nX: y", "\u202e"]
)
def test_h11_h14_odd_ids_are_only_ids(service: Running, name: str) -> None:
    answer = service.post("/v1/models/shop/recommend", {"user": name})
    assert (answer.status, answer.json["fallback"]) == (200, "popular")
    assert "x" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/v1/models/../../etc/passwd", "/v1/models/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/v1/models/%252e%252e%252f", "/..",
     "/v1/models/..\\..\\x", "/v1/models/films%00", "/v1/models/films/", "//v1/models", "/v1/models/nothing", "/docs",
     "/redoc", "/debug", "/v1/models/%ff", "/v1/models/" + "x" * 3000],
)  # fmt: skip
def test_h12_h32_there_is_nothing_elsewhere(service: Running, path: str) -> None:
    refused(service.ask("GET", path), 404)


def test_other_methods_are_405(service: Running) -> None:
    for method, path in (("GET", LIST), ("PUT", "/v1/models"), ("TRACE", "/v1/models"), ("POST", "/v2/health/live")):
        answer = service.ask(method, path)
        refused(answer, 405)
        assert answer.headers["allow"]


def test_h16_other_hosts_are_421(service: Running) -> None:
    for host in (
        "evil.example",
        "localhost.evil.example",
        "evil.example:8000",
        "127.0.0.1.nip.io",
        "[::2]",
        "x@localhost",
    ):
        refused(service.ask("GET", "/v1/models", Host=host), 421)
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000"):
        assert service.ask("GET", "/v1/models", Host=host).status == 200
    two = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    refused(parse(service.raw(two)), 400)
    refused(parse(service.raw(b"GET /v1/models HTTP/1.1\r\n\r\n")), 400)


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_h17_nothing_is_shared_with_other_origins(service: Running, origin: str) -> None:
    before = service.ask("OPTIONS", LIST, Origin=origin, Access_Control_Request_Method="POST")
    answer = service.post(LIST, {"user": SOMEBODY}, Origin=origin)
    assert before.status == 405
    assert answer.status == 200
    assert not any(name.startswith("access-control") for name in (*before.headers, *answer.headers))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_h18_keys_are_needed_and_never_logged(models: list[str], tmp_path: Any) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# ours\n{KEY}\nanother-key-of-some-length\n")
    with running(models[:1], keys=read_keys(path)) as one:
        for headers in ({}, {"X_API_Key": "wrong-key-wrong-key"}, {"X_API_Key": KEY[:-1]}, {"X_API_Key": ""},
                        {"Authorization": f"Basic {KEY}"}, {"Authorization": KEY}):  # fmt: skip
            answer = one.post(LIST, {"user": 3}, **headers)
            refused(answer, 401)
            assert answer.headers["www-authenticate"] == "bearer"
        refused(one.ask("GET", f"/v1/models?key={KEY}"), 401)
        for hidden in ("/metrics", "/openapi.json", "/nothing"):
            refused(one.ask("GET", hidden), 401)
        assert one.post(LIST, {"user": 3}, X_API_Key=KEY).status == 200
        assert one.post(LIST, {"user": 3}, Authorization="bearer another-key-of-some-length").status == 200
        assert one.ask("GET", "/v2/health/ready").status == 200
        assert len(one.lines()) >= 12
        assert "key" not in one.log.getvalue()
    assert KEY not in repr(Keys.of([KEY]))


def test_h22_slow_requests_are_closed(models: list[str]) -> None:
    with running(models[:1], deadline=2.0) as one:
        starts = {
            "nothing": b"", "half a head": b"POST / HTTP/1.1\r\nHost: loc",
            "no body": f"POST {LIST} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n".encode(),
        }  # fmt: skip
        slow = {}
        for name, data in starts.items():
            slow[name] = socket.create_connection(("127.0.0.1", one.port), timeout=20)
            slow[name].sendall(data)
        crawling = socket.create_connection(("127.0.0.1", one.port), timeout=20)
        for byte in b"GET ":  # a byte now and then does not help
            with suppress(OSError):
                crawling.sendall(bytes([byte]))
            assert one.post(LIST, {"user": SOMEBODY}).status == 200
            time.sleep(0.9)
        found = {name: read_answer(each) for name, each in slow.items()}
        assert found["nothing"] == b""
        refused(parse(found["half a head"]), 408)
        refused(parse(found["no body"]), 408)
        refused(parse(read_answer(crawling)), 408)
        for each in (*slow.values(), crawling):
            each.close()


def test_h22_who_does_not_read_is_closed(models: list[str]) -> None:
    with running(models[:1], deadline=2.0) as one, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.connect(("127.0.0.1", one.port))
        deaf.setblocking(False)
        with suppress(BlockingIOError):
            for _ in range(3000):
                deaf.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wait_for(lambda: b"fullrank_connections 1.0" in one.ask("GET", "/metrics").body)
        assert wait_for(lambda: b"fullrank_connections 0.0" in one.ask("GET", "/metrics").body)


def wait_for(holds: Any) -> bool:
    """Whether it holds within some time."""
    end = time.monotonic() + 30
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.3)
    return True


def test_h30_long_heads_are_refused(service: Running) -> None:
    many = "".join(f"X-{number}: y\r\n" for number in range(10_000))
    assert parse(service.raw(f"GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n".encode())).status == 431
    assert parse(service.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 40_000 + b"\r\n\r\n")).status == 431
    assert parse(service.raw(b"GET /" + b"x" * 1_000_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")).status == 414
    refused(service.ask("GET", "/v1/models?x=" + "y" * 9000), 414)
    assert service.ask("GET", "/v1/models", Range="bytes=" + ",".join(f"{n}-" for n in range(4000))).status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n", b"nonsense\r\n\r\n", b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n", b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    ],
)  # fmt: skip
def test_h30_what_is_no_http_is_400(service: Running, data: bytes) -> None:
    answer = parse(service.raw(data))
    refused(answer, 400)


def test_h33_many_keys_are_bounded_by_the_body(service: Running) -> None:
    refused(service.post(LIST, {str(number): number for number in range(60_000)}), 422)


def test_h14_h15_a_line_for_every_request_and_users_hashed(models: list[str]) -> None:
    name = "x\n2026 ERROR fake\x1b[31m\u202e\u0085"
    shop = [text for text in models if text.startswith("shop=")]
    for log_users in (False, True):
        with running(shop, log_users=log_users) as one:
            for _ in range(3):
                one.post("/v1/models/shop/recommend", {"user": name})
            one.ask("GET", "/nothing/ann?user=ann")
            one.ask("DELETE", "/v1/users/ann")
            found, text = one.lines(), one.log.getvalue()
            assert [line["status"] for line in found] == [200, 200, 200, 404, 503]
            assert text.isascii()
            assert "\x1b" not in text
            users = {line.get("user") for line in found[:3]}
            assert users == ({name} if log_users else users)
            assert len(users) == 1
            assert ("fake" in text) == log_users
            assert ("ann" in text) == log_users
