"""Other libraries, each in an environment of its own, at work in a process of its own when asked."""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENVIRONMENTS = Path(__file__).parent / ".envs"
SCRIPTS = Path(__file__).parent / "peer_scripts"
PATIENCE = 240  # seconds for an answer


class PeerError(Exception):
    """Why a peer cannot be measured."""


@dataclass(frozen=True, eq=False)
class Peer:
    """A library, the script that speaks for it, and the options among which the fastest is taken."""

    name: str
    version: str
    script: str
    options: tuple[dict[str, Any], ...] = field(default=({},))

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Worker:
    """A process of a peer with so many BLAS threads. It answers a line of JSON with a line of JSON."""

    def __init__(self, peer: Peer, blas_threads: int, folder: Path) -> None:
        self.peer, self.blas_threads = peer, blas_threads
        self.answer: dict[str, Any] = {}
        self.failure = ""
        self.log = folder / f"{peer.name}-{blas_threads}.log"
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(blas_threads))
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [installed(peer), SCRIPTS / peer.script], env={**os.environ, **limits}, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def seconds(self, **request: Any) -> tuple[float, float]:
        """Wall and CPU seconds the peer took; for ever where it failed, and `failure` then says why."""
        try:
            self.answer = self._ask(request)
        except (PeerError, OSError, ValueError) as error:
            self.failure = self.failure or f"{self.peer}: {error}"
            self.close()
            return math.inf, math.inf
        return float(self.answer["seconds"]), float(self.answer["cpu"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        requests, answers = self.process.stdin, self.process.stdout
        if self.failure or requests is None or answers is None:
            raise PeerError("it has failed before")
        requests.write(json.dumps(request) + "\n")
        requests.flush()
        ready, _, _ = select.select([answers], [], [], PATIENCE)
        if not ready:
            raise PeerError(f"no answer in {PATIENCE} s")
        line = answers.readline()
        if not line:
            raise PeerError(_last_line(self.log.read_text()))
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what could not be sent is not sent now
                pipe.close()  # type: ignore[union-attr]


def installed(peer: Peer) -> Path:
    """The Python of the peer's environment, made when it is not there yet."""
    folder = ENVIRONMENTS / peer.name
    python = folder / "bin" / "python"
    wanted = f"from importlib.metadata import version; assert version({peer.name!r}) == {peer.version!r}"
    if python.exists() and not subprocess.run([python, "-c", wanted], capture_output=True, check=False).returncode:
        return python
    _done([sys.executable, "-m", "venv", folder])
    quiet = ["--quiet", "--disable-pip-version-check", "--retries", "1"]
    _done([python, "-m", "pip", "install", *quiet, f"{peer.name}=={peer.version}"])
    return python


def _done(command: list[Any]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise PeerError(f"{' '.join(map(str, command[1:4]))}: {_last_line(chr(10).join(errors) or done.stderr)}")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it ended without a word"])[-1]
