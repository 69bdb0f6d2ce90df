"""A real PostgreSQL server, started for tests."""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import time
from glob import glob
from itertools import count
from pathlib import Path
from typing import Any

import pytest

NUMBERS = count()


class Server:
    """A PostgreSQL server in a folder of its own, on a free port of the loopback; stopped by its process id."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.folder = binaries, folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        # the server refuses to run as root
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        command = [
            binaries / "initdb",
            "-D",
            folder / "data",
            "-A",
            "trust",
            "-U",
            "fullrank",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        command += ["--locale=C"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **self._as)

    def start(self) -> None:
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": ""}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self.folder / "data", *options],
                stdout=log, stderr=log, cwd=self.folder, **self._as,
            )  # fmt: skip
        for _ in range(300):
            try:
                self.execute("SELECT 1")
                return
            except Exception:
                time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def execute(self, statement: str, database: str = "postgres") -> None:
        import psycopg

        address = f"postgresql://fullrank@127.0.0.1:{self.port}/{database}"
        with psycopg.connect(address, autocommit=True, connect_timeout=2) as connection:
            connection.execute(statement)

    def new_database(self) -> str:
        name = f"test{next(NUMBERS)}"
        self.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://fullrank@127.0.0.1:{self.port}/{name}"


def find_binaries() -> Path:
    """The folder of initdb and postgres."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    places = [*sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True), *os.environ["PATH"].split(os.pathsep)]
    for place in places:
        if all((Path(place) / name).exists() for name in ("initdb", "postgres")):
            return Path(place)
    pytest.skip("no PostgreSQL server is installed (initdb, postgres)")
