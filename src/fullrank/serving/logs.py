"""One JSON line for every request, written by a thread of its own: a slow reader of stderr stops nobody."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections import deque
from datetime import UTC, datetime
from hashlib import blake2b
from typing import IO, Any

from pydantic_core import to_json

MOST = 10_000  # lines that wait; beyond that they are counted and left out
PAUSE = 0.05  # seconds between two looks


class RequestLog:
    """Lines of JSON in ASCII, so that nothing in them is taken for another line or a terminal's command.

    What people are called is hashed with a salt of this process, unless `users` says otherwise.
    """

    def __init__(self, stream: IO[str] | None = None, *, users: bool = False) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.users, self.salt = users, secrets.token_bytes(16)
        self.lines: deque[dict[str, Any]] = deque()
        self.lost, self.closed = 0, threading.Event()
        self.thread = threading.Thread(target=self._write_all, daemon=True, name="request log")

    def start(self) -> None:
        """Begin to write."""
        if not self.thread.is_alive():
            self.thread.start()

    def write(self, line: dict[str, Any]) -> None:
        """Keep a line to be written soon."""
        if len(self.lines) >= MOST:
            self.lost += 1
        else:
            self.lines.append(line)

    def name(self, user: object) -> str:
        """What somebody is called in the log."""
        text = str(user)
        return text if self.users else blake2b(text.encode(errors="replace"), digest_size=8, key=self.salt).hexdigest()

    def close(self) -> None:
        """Write what is left."""
        self.closed.set()
        if self.thread.is_alive():
            self.thread.join(timeout=2)
        self._flush()

    def _write_all(self) -> None:
        while not self.closed.wait(PAUSE):
            self._flush()

    def _flush(self) -> None:
        lost, self.lost = self.lost, 0
        if lost:
            self.lines.append({"lost_lines": lost})
        texts = []
        while self.lines:
            texts.append(_text(self.lines.popleft()))
        if texts:
            try:
                print("\n".join(texts), file=self.stream, flush=True)
            except (OSError, ValueError):  # nobody reads it any more
                self.lines.clear()


def _text(line: dict[str, Any]) -> str:
    """A line, with its time as text: made here and not while somebody waits."""
    if "time" in line:
        line = {**line, "time": datetime.fromtimestamp(line["time"], UTC).isoformat(timespec="milliseconds")}
    text = to_json(line)
    return text.decode() if text.isascii() and b"\x7f" not in text else json.dumps(line)
