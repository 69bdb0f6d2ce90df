"""The service over time: swaps under load, feedback, overload, the end; and the command that starts it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import fullrank
from fullrank.serving.application import Intake
from tests.recommending.world import DATA, MODELS
from tests.serving.server import BusyError, ConflictError, Memory, Running, parse_event, read_answer, running

LIST = "/v1/models/films/recommend"
SOMEBODY = int(DATA.users.name(3))
FULLRANK = [sys.executable, "-c", "from fullrank.cli import main; main()"]


def head_for(body: bytes) -> bytes:
    lines = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return f"POST {LIST} HTTP/1.1\r\n{lines}".encode()


def test_h26_models_are_swapped_under_load_without_an_error(models: list[str], tmp_path: Path) -> None:
    other = fullrank.IALS(factors=3, sweeps=1).fit(DATA)
    fullrank.save(other, tmp_path / "new.fr")
    (tmp_path / "bad.fr").write_bytes((tmp_path / "new.fr").read_bytes()[:-1] + b"\0")
    (tmp_path / "text.fr").write_text("no model")
    (tmp_path / "link.fr").symlink_to(models[1].partition("=")[2])
    old = fullrank.recommend(MODELS["vectors"], SOMEBODY, n=5).items
    new = fullrank.recommend(other, SOMEBODY, n=5).items
    with running(models[:1], tmp_path) as one, ThreadPoolExecutor(5) as pool:
        before = one.ask("GET", "/v1/models/films").json["version"]
        stop = threading.Event()
        asking = [pool.submit(ask_until, one, stop) for _ in range(4)]
        for file in ("bad.fr", "text.fr"):
            refused = one.post("/v1/models/films/activate", {"file": file})
            assert refused.status == 409, refused
            assert str(tmp_path) not in refused.body.decode()
        for file in ("nothing.fr", "../x.fr", "/etc/passwd", "link.fr", ".", "..", "a/b", "x\\..\\y"):
            assert one.post("/v1/models/films/activate", {"file": file}).status == 404
        assert one.post("/v1/models/films/activate", {"version": "0" * 64}).status == 404
        assert one.ask("GET", "/v1/models/films").json["version"] == before
        swapped = one.post("/v1/models/films/activate", {"file": "new.fr"})
        assert swapped.status == 200
        after = swapped.json["version"]
        assert swapped.json["versions"] == [after, before]
        assert one.post(LIST, {"user": SOMEBODY, "n": 5}).json["version"] == after
        assert one.post("/v1/models/films/activate", {"version": before}).json["version"] == before
        assert one.post("/v1/models/films/activate", {"version": after}).json["version"] == after
        stop.set()
        found = [answer for future in asking for answer in future.result()]
    assert {status for status, _, _ in found} == {200}
    lists = {before: old, after: new}
    assert all(items == lists[version] for _, version, items in found)
    assert {version for _, version, _ in found} == {before, after}


def ask_until(one: Running, stop: threading.Event) -> list[tuple[int, str, list[Any]]]:
    found = []
    while not stop.is_set():
        answer = one.post(LIST, {"user": SOMEBODY, "n": 5})
        found.append((answer.status, answer.json["version"], [each["item"] for each in answer.json["items"]]))
    return found


def test_without_a_folder_no_file_is_activated(service: Running) -> None:
    assert service.post("/v1/models/films/activate", {"file": "films.fr"}).status == 404
    assert service.post("/v1/models/films/activate", {}).status == 422


def test_feedback_goes_to_the_store(models: list[str]) -> None:
    store = Memory()
    intake = Intake(store, parse_event, {ConflictError: 409, BusyError: 503})
    with running(models[:1], feedback=intake) as one:
        shown = one.post(LIST, {"user": SOMEBODY, "n": 3}).json
        items = [each["item"] for each in shown["items"]]
        assert store.offers == {shown["recommendation_id"]: (SOMEBODY, items, "films", shown["version"], "")}
        event = {"event_id": "e1", "kind": "action", "recommendation_id": shown["recommendation_id"]}
        for _ in range(2):
            answer = one.post("/v1/events", {"events": [event]})
            assert (answer.status, answer.json) == (200, {"receipts": [{"event_id": "e1"}]})
        assert one.post("/v1/events", {"events": [{**event, "kind": "rating"}]}).status == 409
        assert one.post("/v1/events", {"events": []}).status == 422
        nameless = one.post("/v1/events", {"events": [event, {}]})
        assert (nameless.status, nameless.json["detail"]) == (422, "/events/1: an event has an event_id.")
        assert one.post("/v1/events", {"events": [event] * 1001}).status == 422
        assert one.ask("DELETE", "/v1/users/a%2Fb%20%C3%A9").status == 204
        assert store.forgotten == ["a/b é"]
        for path in ("%ff", "", "x" * 1025, "a%00b"):
            assert one.ask("DELETE", f"/v1/users/{path}").status == 400
        assert one.ask("DELETE", "/v1/%75sers/ann").status == 404
        assert store.forgotten == ["a/b é"]
        store.busy = True
        answer = one.post("/v1/events", {"events": [event]})
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert one.post(LIST, {"user": SOMEBODY}).status == 200  # lists are served whatever the store does
        text = one.ask("GET", "/metrics").body.decode()
        assert "fullrank_offers_lost_total 1.0" in text
        assert "fullrank_events_total 2.0" in text


def test_without_a_store_feedback_is_503(service: Running) -> None:
    for answer in (service.post("/v1/events", {"events": [{"event_id": "1"}]}), service.ask("DELETE", "/v1/users/x")):
        assert answer.status == 503
        assert "keeps no feedback" in answer.json["detail"]


def test_metrics_count_what_happens(models: list[str]) -> None:
    with running(models[:1]) as one:
        one.post(LIST, {"user": SOMEBODY})
        one.post(LIST, {"user": 10**12})
        one.post(LIST, {"user": ""})
        text = one.ask("GET", "/metrics").body.decode()
    assert 'fullrank_requests_total{route="/v1/models/{name}/recommend",status="200"} 2.0' in text
    assert 'fullrank_request_seconds_count{route="/v1/models/{name}/recommend"} 3.0' in text
    assert 'fullrank_fallbacks_total{model="films"} 1.0' in text


def test_h23_overload_is_put_off_and_most_is_done(models: list[str]) -> None:
    """Ten times as many at once as are let in: those are served all the time, others hear 503, probes are answered."""
    with running(models[:1], wait=0.0) as one:  # 16 at a time
        body = json.dumps({"user": SOMEBODY}).encode()
        data, found = head_for(body) + body, Counter[int]()
        with ThreadPoolExecutor(1) as pool:
            probe = pool.submit(lambda: [one.ask("GET", "/v2/health/ready").status for _ in range(20)])
            flood(one.port, data, 160, 3.0, found)
            assert set(probe.result()) == {200}
        assert set(found) == {200, 503}
        assert found[200] > 9 * found[503]
        assert one.post(LIST, {"user": SOMEBODY}).status == 200
        assert b"fullrank_shed_total 0.0" not in one.ask("GET", "/metrics").body


def flood(port: int, data: bytes, connections: int, seconds: float, found: Counter[int]) -> None:
    """Ask by many connections, each again as soon as it is answered."""
    import selectors

    with selectors.DefaultSelector() as selector:
        ones = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
        for one in ones:
            selector.register(one, selectors.EVENT_READ)
            one.sendall(data)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for key, _ in selector.select(0.1):
                one: Any = key.fileobj
                answer = one.recv(1 << 16)
                if answer.startswith(b"HTTP/1.1 "):
                    found[int(answer[9:12])] += 1
                    one.sendall(data)
        for one in ones:
            one.close()


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("many", [2_000, pytest.param(1_000_000, marks=pytest.mark.everything)])
def test_h29_memory_is_flat(models: list[str], many: int) -> None:
    with Path(os.devnull).open("w") as nowhere, running(models[:1], stream=nowhere) as one:
        ruled = b'{"user": 3, "where": "year > 1980"}'
        bodies = [b'{"user": 3}', b'{"user": "x"}', b"{", b'{"history": [1, 2]}', ruled]
        kinds = [head_for(body) + body for body in bodies]
        flood_all(one.port, kinds, 1000)
        before = memory()
        flood_all(one.port, kinds, many)
        assert memory() - before < 16 << 20


def flood_all(port: int, kinds: list[bytes], many: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as one:
        for number in range(many):
            one.sendall(kinds[number % len(kinds)])
            assert read_answer(one)[9:12] in (b"200", b"400")


def started(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([*FULLRANK, "serve", *map(str, arguments)], stderr=subprocess.PIPE, text=True, **options)


def port_of(child: subprocess.Popen[str]) -> int:
    assert child.stderr is not None
    line = child.stderr.readline()
    assert line.startswith("http://127.0.0.1:"), line + child.stderr.read()
    return int(line.split()[0].rpartition(":")[2])


def wait_until_ready(one: Running) -> None:
    for _ in range(200):
        try:
            assert one.ask("GET", "/v2/health/ready").status == 200
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the service does not answer")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_h24_a_signal_ends_the_service_in_order(models: list[str], number: int, code: int) -> None:
    child = started(models[0], "--port", 0)
    one = Running(None, port_of(child), None)  # type: ignore[arg-type]
    wait_until_ready(one)
    body = json.dumps({"user": SOMEBODY}).encode()
    with socket.create_connection(("127.0.0.1", one.port), timeout=20) as under_way:
        under_way.sendall(head_for(body) + body[:5])
        time.sleep(0.2)
        child.send_signal(number)
        time.sleep(0.1)
        assert one.ask("GET", "/v2/health/ready").status == 503
        assert one.ask("GET", "/v2/health/live").status == 200
        under_way.sendall(body[5:])
        assert under_way.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    start = time.monotonic()
    _, err = child.communicate(timeout=20)
    assert time.monotonic() - start < 10
    assert child.returncode == code
    assert "Traceback" not in err
    statuses = [json.loads(line).get("status") for line in err.splitlines() if line.startswith("{")]
    assert sorted(statuses[-3:]) == [200, 200, 503]


def test_h25_killed_it_starts_again(models: list[str]) -> None:
    for _ in range(2):
        child = started(models[0], "--port", 0)
        wait_until_ready(Running(None, port_of(child), None))  # type: ignore[arg-type]
        child.kill()
        child.communicate()


def test_h27_few_files_mean_few_connections_and_no_end(models: list[str]) -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))  # noqa: E731
    child = started(models[0], "--port", 0, preexec_fn=limit)
    try:
        one = Running(None, port_of(child), None)  # type: ignore[arg-type]
        wait_until_ready(one)
        crowd = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(200)]
        time.sleep(0.5)
        for each in crowd:
            each.close()
        time.sleep(0.5)
        assert one.post(LIST, {"user": SOMEBODY}).status == 200
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--host", "0.0.0.0"], 78, "there are no keys"),
        (["--host", "::"], 78, "there are no keys"),
        (["--host", "no.such.host.invalid", "--insecure"], 78, "no address of this machine"),
        (["--keys", "/nonexistent"], 66, "cannot be read"),
        (["--models-folder", "/nonexistent"], 78, "no such folder"),
        (["other=/nonexistent.fr"], 66, "no such file"),
        (["../bad name=/nonexistent.fr"], 2, "no name for a model"),
    ],
)
def test_h20_what_cannot_be_served_is_refused(models: list[str], arguments: list[str], code: int, says: str) -> None:
    child = started(models[0], "--port", 0, *arguments)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err.count("error: "), says in err) == (code, 1, True), err
    assert "Traceback" not in err


def test_h28_a_port_in_use_is_told_with_its_address(models: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        child = started(models[0], "--port", port)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 75
    assert err == f"error: 127.0.0.1:{port} is in use by another process; choose another --port.\n"


def test_keys_must_be_long(models: list[str], tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("short\n")
    child = started(models[0], "--keys", tmp_path / "keys")
    _, err = child.communicate(timeout=60)
    assert child.returncode == 78
    assert "short" not in err.partition("keys:")[2]


def test_c12_a_missing_extra_is_one_line(models: list[str], tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ImportError('no', name='fastapi')\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    child = started(models[0], env={**os.environ, "PYTHONPATH": path})
    _, err = child.communicate(timeout=60)
    assert child.returncode == 78
    assert err.startswith("error: serving needs fastapi, which is not installed; ")
    assert err.endswith("pip install 'fullrank[serve]'\n")


def test_importing_the_library_imports_no_service() -> None:
    code = "import fullrank, sys; assert not {'fastapi', 'uvicorn', 'fullrank.serving'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_interface_is_described(service: Running) -> None:
    document = service.ask("GET", "/openapi.json").json
    assert {path: sorted(methods) for path, methods in document["paths"].items()} == {
        "/v1/models/{name}/recommend": ["post"], "/v1/models/{name}/rank": ["post"],
        "/v1/models/{name}/similar": ["post"], "/v1/events": ["post"], "/v1/users/{user}": ["delete"],
        "/v1/models": ["get"], "/v1/models/{name}": ["get"], "/v1/models/{name}/activate": ["post"],
        "/v2/health/live": ["get"], "/v2/health/ready": ["get"],
    }  # fmt: skip
    names = set(document["components"]["schemas"])
    used = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert used <= names


def test_the_page_of_the_interface_is_there_where_it_is_asked_for(models: list[str]) -> None:
    with running(models[:1], docs=True) as one:
        page = one.ask("GET", "/docs")
        assert (page.status, b"swagger" in page.body) == (200, True)
        assert "content-security-policy" not in page.headers
        assert "content-security-policy" in one.ask("GET", "/openapi.json").headers


def test_schemathesis_finds_nothing(models: list[str], tmp_path: Path) -> None:
    pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    command = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert command is not None
    with running(models, feedback=Intake(Memory(), parse_event, {ConflictError: 409, BusyError: 503})) as one:
        url = f"http://127.0.0.1:{one.port}/openapi.json"
        arguments = ["run", url, "--max-examples", "50", "--phases", "examples,coverage,fuzzing"]
        meaning = ["--exclude-checks", "positive_data_acceptance"]  # what a model knows is in no schema
        done = subprocess.run(
            [command, *arguments, *meaning], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        faults = [line for line in one.lines() if "fault" in line]
    assert done.returncode == 0, done.stdout[-4000:]
    assert faults == []
