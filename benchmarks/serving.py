"""Lists over HTTP: requests a second of one worker, beside a bare FastAPI handler that returns the same JSON.

20,000 items, 64 factors, n = 10, string ids, over loopback; client and server share the machine. Everything is measured
in turn in one run, the servers in processes of their own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fullrank
from benchmarks import recommending
from benchmarks.serving_client import ask

CONNECTIONS, SECONDS, TURNS = 16, 3.0, 4
PEOPLE = 10_000
CROWD = 4000  # connections: several times as many as are let in at once
BARE = """
import sys, uvicorn, json
from fastapi import FastAPI
app, found = FastAPI(), json.load(open(sys.argv[1]))

@app.post("/v1/models/shop/recommend")
async def recommend():
    return found

uvicorn.run(app, port=int(sys.argv[2]), log_level="critical", access_log=False)
"""
SERVE = "from fullrank.cli import main; main()"
PORTS = {"fullrank": 8431, "bare": 8432}


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, _servers(Path(folder)):
        for port in PORTS.values():
            ask(port, CONNECTIONS, 1.0, _request(port))
        turns = [{name: _rate(port) for name, port in PORTS.items()} for _ in range(TURNS)]
        best = {name: max(turn[name] for turn in turns) for name in PORTS}
        ratio = best["fullrank"] / best["bare"]
        late = [{name: _late(port, best["fullrank"] / 2) for name, port in PORTS.items()} for _ in range(TURNS)]
        p99 = {name: min(turn[name]["0.99"] for turn in late) for name in PORTS}
        median = {name: min(turn[name]["0.5"] for turn in late) for name in PORTS}
        load = _overload(PORTS["fullrank"])
    setting = f"{recommending.ITEMS:,} items, {recommending.FACTORS} factors, n=10"
    return [
        {
            "setting": setting, "measure": "requests a second", **best, "ratio": ratio, "target": ">= 0.5",
            "met": ratio >= 0.5,
        },
        {"setting": setting, "measure": "seconds at half of the load, median", **median},
        {
            "setting": setting, "measure": "seconds at half of the load, 99%", **p99,
            "ratio": p99["fullrank"] / p99["bare"], "target": "< 5", "met": p99["fullrank"] < 5 * p99["bare"],
        },
        {"setting": setting, "measure": f"{CROWD:,} connections at once", **load},
    ]  # fmt: skip


def _rate(port: int) -> float:
    return float(ask(port, CONNECTIONS, SECONDS, _request(port))["done"]) / SECONDS


def _late(port: int, rate: float) -> dict[str, float]:
    """Quantiles of times at a steady rate."""
    found: dict[str, float] = ask(port, 64, SECONDS, _request(port), rate)["quantile"]
    return found


def _overload(port: int) -> dict[str, Any]:
    """What is answered well when many times as many ask at once, each again as soon as it is answered, and never wait.

    Beside what is done with few connections, right before and after.
    """
    before = _rate(port)
    found = ask(port, CROWD, 3 * SECONDS, _request(port))
    after, good = _rate(port), found["done"] / found["seconds"]
    share = good / max(before, after)
    return {
        "goodput": good, "before": before, "after": after, "share": share, "status": found["status"],
        "99%": found["quantile"]["0.99"], "target": ">= 0.9", "met": share >= 0.9,
    }  # fmt: skip


def _request(port: int, user: str = "u-0000017") -> bytes:
    body = json.dumps({"user": user, "n": 10}).encode()
    head = f"POST /v1/models/shop/recommend HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def _servers(folder: Path) -> Iterator[None]:
    """Both, one after the other: the bare one returns what ours has answered."""
    recommending.PEOPLE = PEOPLE
    fullrank.save(recommending._model(), folder / "shop.fr")
    with _started([SERVE, "serve", str(folder / "shop.fr"), "--port", str(PORTS["fullrank"])], PORTS["fullrank"]):
        _, _, body = _request(PORTS["fullrank"]).partition(b"\r\n\r\n")
        (folder / "answer.json").write_bytes(_post(PORTS["fullrank"], body))
        with _started([BARE, str(folder / "answer.json"), str(PORTS["bare"])], PORTS["bare"]):
            yield


def _post(port: int, body: bytes) -> bytes:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/models/shop/recommend", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


@contextmanager
def _started(command: list[str], port: int) -> Iterator[None]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open(os.devnull, "w") as nowhere:
        child = subprocess.Popen([sys.executable, "-c", *command], stderr=nowhere, env=environment)
        try:
            _wait(port, child)
            yield
        finally:
            child.send_signal(signal.SIGTERM)
            child.wait(30)


def _wait(port: int, child: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        try:
            _post(port, b'{"user": "u-0000001"}')
            return
        except OSError:
            assert child.poll() is None, "the server has ended"
            time.sleep(0.1)
    raise AssertionError("the server does not answer")
