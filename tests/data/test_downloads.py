"""A server of our own that redirects, drips and lies: a download ends in time and leaves nothing wrong behind."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fullrank.data.sources import Download, fetch, web
from fullrank.errors import DataError, FullrankError, NoInputError, StorageError

CONTENT = b"1\t2\t3\t4\n" * 100


class Server:
    """What it does by path, and an event that ends what goes on for ever."""

    def __init__(self) -> None:
        self.acts: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.over = threading.Event()
        self.asked: list[str] = []
        self.address = ""

    def at(self, path: str, act: Callable[[BaseHTTPRequestHandler], None]) -> Download:
        self.acts[path] = act
        return Download(self.address + path)

    def drip(self, to: BaseHTTPRequestHandler, letter: bytes = b"x") -> None:
        """A letter at a time, until the test is over or nobody listens."""
        while not self.over.wait(0.01):
            try:
                to.wfile.write(letter)
                to.wfile.flush()
            except OSError:
                return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    found = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            found.acts[self.path](self)

        def log_message(self, *_: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.over.set()
    http.shutdown()
    http.server_close()
    thread.join()


def plain(to: BaseHTTPRequestHandler) -> None:
    to.send_response(200)
    to.send_header("Content-Length", str(len(CONTENT)))
    to.end_headers()
    to.wfile.write(CONTENT)


def redirect(place: str, code: int = 302) -> Callable[[BaseHTTPRequestHandler], None]:
    def act(to: BaseHTTPRequestHandler) -> None:
        to.send_response(code)
        to.send_header("Location", place)
        to.send_header("Content-Length", "0")
        to.end_headers()

    return act


def refused(file: Download, folder: Path, kind: type[FullrankError], match: str) -> None:
    with pytest.raises(kind, match=match) as caught:
        fetch.fetch(file, folder / "x")
    assert "\n" not in str(caught.value)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirections_within_a_scheme_are_followed(server: Server, tmp_path: Path, code: int) -> None:
    server.at("/there", plain)
    server.at("/between", redirect("there", code))
    fetch.fetch(server.at("/x", redirect(f"{server.address}/between", code)), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT
    assert server.asked == ["/x", "/between", "/there"]


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "gopher://x/"])
def test_redirections_to_another_scheme_are_not(server: Server, tmp_path: Path, place: str) -> None:
    refused(server.at("/x", redirect(place)), tmp_path, NoInputError, "is redirected to .*, by another scheme")


def test_no_redirection_from_https_to_http() -> None:
    with pytest.raises(NoInputError, match="by another scheme"):
        web._follow("https://a.org/x", "http://a.org/x")
    assert web._follow("https://a.org/x", "//b.org/y") == "https://b.org/y"


def test_redirections_end(server: Server, tmp_path: Path) -> None:
    refused(server.at("/x", redirect("/x")), tmp_path, NoInputError, "is redirected over 5 times")
    assert len(server.asked) == 6


def test_a_redirection_to_nowhere(server: Server, tmp_path: Path) -> None:
    refused(server.at("/x", redirect("")), tmp_path, NoInputError, "the server answered 302")


def test_a_body_letter_by_letter(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "PATIENCE", 0.3)

    def act(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.end_headers()
        server.drip(to)

    file = Download(server.at("/x", act).address, limit=1000)
    refused(file, tmp_path, StorageError, r"gave \d+ bytes in 0 seconds, too slow to wait for; try again")


def test_headers_letter_by_letter(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "ANSWER", 0.3)

    def act(to: BaseHTTPRequestHandler) -> None:
        to.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        server.drip(to)

    refused(server.at("/x", act), tmp_path, StorageError, "gave 0 bytes in 0 seconds, too slow")


def test_time_goes_by_size(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "PATIENCE", 0.0)
    monkeypatch.setattr(fetch, "SLOWEST", len(CONTENT) / 1000)  # 1,000 seconds for this file
    fetch.fetch(server.at("/x", plain), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_wrong_checksum_never_has_the_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    renamed: list[str] = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda old, new: (renamed.append(str(new)), replace(old, new)))
    address = server.at("/x", plain).address
    refused(Download(address, "md5:" + "0" * 32), tmp_path, DataError, "the md5 checksum is")
    assert renamed == []
    fetch.fetch(Download(address, f"md5:{hashlib.md5(CONTENT).hexdigest()}"), tmp_path / "x")
    assert renamed == [str(tmp_path / "x")]
