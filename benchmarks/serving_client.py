"""Requests over loopback by raw sockets, from a process of its own: a small client, so that the server is what counts.

python -m benchmarks.serving_client PORT CONNECTIONS SECONDS RATE < request: sends the bytes of stdin again and again,
as fast as answers come (RATE 0) or so many a second, and prints counts by status and quantiles of the times as JSON.
"""

from __future__ import annotations

import json
import selectors
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any


def ask(port: int, connections: int, seconds: float, request: bytes, rate: float = 0.0) -> dict[str, Any]:
    """What the client found, run as a process."""
    command = [sys.executable, "-m", "benchmarks.serving_client", *map(str, (port, connections, seconds, rate))]
    done = subprocess.run(command, input=request, capture_output=True, check=True, timeout=seconds + 60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Clients:
    """Connections that each wait for one answer at a time."""

    def __init__(self, port: int, connections: int, request: bytes) -> None:
        self.port, self.request, self.selector = port, request, selectors.EpollSelector()
        self.idle, self.since, self.parts = [], {}, {}  # type: ignore[var-annotated]
        self.status: Counter[int] = Counter()
        self.times: list[float] = []
        for _ in range(connections):
            self.idle.append(self._connect())

    def send(self, due: float) -> None:
        """Ask by an idle connection, for a request that was due then."""
        one = self.idle.pop()
        self.since[one], self.parts[one] = due, b""
        one.send(self.request)

    def take(self, timeout: float) -> None:
        """Read the answers that have come."""
        for key, _ in self.selector.select(timeout):
            one: Any = key.fileobj
            data = one.recv(1 << 16)
            if not data:
                self._again(one)
                continue
            whole = self.parts[one] + data
            self.parts[one] = whole
            end = whole.find(b"\r\n\r\n")
            if end < 0 or len(whole) < end + 4 + _length(whole[:end]):
                continue
            self.status[int(whole[9:12])] += 1
            if whole[9:12] == b"200":
                self.times.append(time.perf_counter() - self.since[one])
            self._again(one) if b"connection: close" in whole[:end] else self.idle.append(one)

    def _connect(self) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self.port))
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.selector.register(one, selectors.EVENT_READ)
        return one

    def _again(self, one: socket.socket) -> None:
        self.selector.unregister(one)
        one.close()
        self.idle.append(self._connect())


def _length(head: bytes) -> int:
    at = head.index(b"content-length: ") + 16
    return int(head[at:].partition(b"\r\n")[0])


def main(arguments: Sequence[str]) -> None:
    port, connections, seconds, rate = int(arguments[0]), int(arguments[1]), float(arguments[2]), float(arguments[3])
    clients = Clients(port, connections, sys.stdin.buffer.read())
    start, sent = time.perf_counter(), 0
    while (now := time.perf_counter()) < start + seconds:
        due = int((now - start) * rate) if rate else sent + len(clients.idle)
        while clients.idle and sent < due:
            clients.send(start + sent / rate if rate else now)  # a late one has waited since it was due
            sent += 1
        clients.take(0.0005 if rate else 0.05)
    times = sorted(clients.times)
    quantile = {str(q): times[min(int(q * len(times)), len(times) - 1)] for q in (0.5, 0.9, 0.99)} if times else {}
    print(json.dumps({"seconds": seconds, "status": clients.status, "quantile": quantile, "done": len(times)}))


if __name__ == "__main__":
    main(sys.argv[1:])
