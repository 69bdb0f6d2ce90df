"""Downloads of data sets: verified, limited, whole or not at all; hostile archives."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import socket
import stat
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fullrank.data import sources
from fullrank.data.sources.known import KNOWN, Known
from fullrank.errors import DataError, NoInputError, OutputError, ParameterError, StorageError
from tests.data.sources_by_hand import AMAZON, PREFLIB, load_module, put, triples

# -- downloads, from a server of our own ----------------------------------------------------------------------


class Web:
    """A server on this machine: what it answers by path, and how long it says that is."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.answers: dict[str, tuple[bytes, int | None]] = {}

    def give(self, name: str, content: bytes, length: int | None = -1) -> str:
        self.answers[f"/{name}"] = (content, len(content) if length == -1 else length)
        return f"{self.address}/{name}"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in site.answers:
                self.send_error(404)
                return
            content, length = site.answers[self.path]
            self.send_response(200)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Web(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


Offer = Callable[..., None]


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Offer:
    def change(name: str, *downloads: sources.Download) -> None:
        known = KNOWN[name]
        monkeypatch.setitem(KNOWN, name, Known(replace(known.dataset, downloads=downloads), known.read))

    return change


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], mode: Any = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


ML_100K_ZIP = zipped({"ml-100k/": "", "ml-100k/u.data": "1\t2\t3\t4\n", "ml-100k/README": "research\n"})


def test_download_verified_and_read(web: Web, offer: Offer, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    address = web.give("ml-100k.zip", ML_100K_ZIP)
    offer("ml-100k", sources.Download(address, f"md5:{hashlib.md5(ML_100K_ZIP).hexdigest()}"))
    done = sources.download("ml-100k", tmp_path / "new", progress=lambda *state: seen.append(state))
    assert done.folder == tmp_path / "new" / "ml-100k"
    assert done.verified
    assert done.files == 2
    assert "checksum verified" in str(done)
    assert "research" in str(done)
    assert sorted(os.listdir(done.folder)) == ["README", "u.data"]
    assert os.listdir(tmp_path / "new") == ["ml-100k"]
    assert stat.S_IMODE(done.folder.stat().st_mode) & 0o700 == 0o700
    assert seen[-1] == (len(ML_100K_ZIP), len(ML_100K_ZIP))
    assert triples(sources.load(done.folder).data) == [(1, 2, 3.0)]


def test_download_without_a_published_checksum_says_so(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("coat", sources.Download(web.give("coat.zip", zipped({"train.ascii": "1", "test.ascii": "2"}), None)))
    done = sources.download("coat", tmp_path)
    assert not done.verified
    assert "not verified" in str(done)
    assert len(sources.load(done.folder).data.train) == 1


def test_download_of_several_plain_files(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("sushi", *(sources.Download(web.give(f"00014%20-%20sushi/{n}", PREFLIB.encode() + b"1: 1,2\n"))
                     for n in ("00014-00000001.soc", "00014-00000002.soi")))  # fmt: skip
    done = sources.download("sushi", tmp_path)
    assert sorted(os.listdir(done.folder)) == ["00014-00000001.soc", "00014-00000002.soi"]
    assert len(sources.load(done.folder, which="100").data) == 1


def test_download_of_an_archive_in_an_archive(web: Web, offer: Offer, tmp_path: Path) -> None:
    inner = tarred({"training_set/mv_0000001.txt": b"1:\n3,1,2005-09-06\n"}, "w")
    outer = tarred({"download/training_set.tar": inner, "download/probe.txt": b"1:\n3\n"})
    offer("netflix", sources.Download(web.give("nf_prize_dataset.tar.gz", outer)))
    done = sources.download("netflix", tmp_path)
    assert triples(sources.load(done.folder).data) == [(3, 1, 1.0)]
    assert not list(done.folder.rglob("*.tar"))


def test_download_fills_the_category(web: Web, offer: Offer, tmp_path: Path) -> None:
    web.give("ratings_Video_Games.csv", AMAZON["amazon-2014"][1].encode())
    offer("amazon-2014", sources.Download(f"{web.address}/ratings_{{category}}.csv"))
    done = sources.download("amazon-2014", tmp_path, category="Video_Games")
    assert len(sources.load(done.folder).data) == 2
    with pytest.raises(ParameterError, match="Choose the category"):
        sources.download("amazon-2014", tmp_path / "other")
    with pytest.raises(ParameterError, match="category"):
        sources.download("amazon-2014", tmp_path / "other", category="../x")
    with pytest.raises(ParameterError, match="has no 'category'"):
        sources.download("coat", tmp_path / "other", category="x")


def test_download_keeps_what_is_there(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    put(tmp_path / "ml-100k", "mine.txt", "precious")
    with pytest.raises(OutputError, match="exists; pass overwrite=True"):
        sources.download("ml-100k", tmp_path)
    assert os.listdir(tmp_path / "ml-100k") == ["mine.txt"]
    sources.download("ml-100k", tmp_path, overwrite=True)
    assert sorted(os.listdir(tmp_path / "ml-100k")) == ["README", "u.data"]
    assert os.listdir(tmp_path) == ["ml-100k"]
    put(tmp_path, "file", "x")
    with pytest.raises(OutputError, match="cannot be created as a folder"):
        sources.download("ml-100k", tmp_path / "file")


def test_a_failed_overwrite_leaves_the_old(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP), "md5:" + "0" * 32))
    put(tmp_path / "ml-100k", "mine.txt", "precious")
    with pytest.raises(DataError, match="checksum"):
        sources.download("ml-100k", tmp_path, overwrite=True)
    assert os.listdir(tmp_path) == ["ml-100k"]
    assert os.listdir(tmp_path / "ml-100k") == ["mine.txt"]


def refused(tmp_path: Path, kind: type[Exception], match: str, name: str = "ml-100k") -> None:
    """The download fails in one sentence, and leaves nothing behind."""
    to = tmp_path / "to"
    with pytest.raises(kind, match=match) as caught:
        sources.download(name, to)
    assert "\n" not in str(caught.value)
    assert os.listdir(to) == []
    assert os.listdir(tmp_path) == ["to"]


def test_a_wrong_checksum(web: Web, offer: Offer, tmp_path: Path) -> None:
    wrong = "0" * 64
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP), f"sha256:{wrong}"))
    refused(tmp_path, DataError, f"sha256 checksum is {hashlib.sha256(ML_100K_ZIP).hexdigest()}, expected {wrong}")


def test_a_download_that_breaks_off(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP[:50], len(ML_100K_ZIP))))
    refused(tmp_path, StorageError, f"broke off after 50 .*{len(ML_100K_ZIP)}|broke off after 0 bytes")


def test_a_download_cut_short_without_a_length(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP[:50], None)))
    refused(tmp_path, DataError, "not a whole archive")


@pytest.mark.parametrize("length", [-1, None], ids=["said", "not said"])
def test_a_download_over_its_limit(web: Web, offer: Offer, tmp_path: Path, length: int | None) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP, length), limit=100))
    refused(tmp_path, StorageError, "more than 100 bytes")


def test_a_refused_connection(offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    offer("ml-100k", sources.Download(f"http://127.0.0.1:{port}/x.zip"))
    refused(tmp_path, NoInputError, "cannot be reached .*refused.*check the network")


def test_an_answer_that_is_no_archive(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(f"{web.address}/gone.zip"))
    refused(tmp_path, NoInputError, "the server answered 404")
    (tmp_path / "to").rmdir()
    offer("ml-100k", sources.Download(web.give("x.zip", b"<html>Please log in</html>")))
    refused(tmp_path, DataError, "not a whole archive")
    (tmp_path / "to").rmdir()
    offer("ml-100k", sources.Download("ftp://127.0.0.1/x.zip"))
    refused(tmp_path, ParameterError, "http or https")


def test_what_has_no_address(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="Ta Feng grocery has no address to fetch it from; get it from https"):
        sources.download("ta-feng", tmp_path)


def evil_zip(name: str, mode: int = stat.S_IFREG | 0o644) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("ok.txt", "fine")
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        entry.external_attr = mode << 16
        archive.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def evil_tar(name: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("ok.txt"))
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    return buffer.getvalue()


OUTSIDE, LINK = "points outside", "is a link or device"


HOSTILE = {
    "zip: above": ("x.zip", evil_zip("../evil.txt"), OUTSIDE),
    "zip: above, hidden": ("x.zip", evil_zip("a/../../evil.txt"), OUTSIDE),
    "zip: absolute": ("x.zip", evil_zip("/tmp/evil.txt"), OUTSIDE),
    "zip: backslash": ("x.zip", evil_zip("..\\evil.txt"), OUTSIDE),
    "zip: drive": ("x.zip", evil_zip("C:evil.txt"), OUTSIDE),
    "zip: link": ("x.zip", evil_zip("l", stat.S_IFLNK | 0o777), LINK),
    "zip: link named like a folder": ("x.zip", evil_zip("l/", stat.S_IFLNK | 0o777), LINK),
    "zip: device": ("x.zip", evil_zip("d", stat.S_IFCHR | 0o666), LINK),
    "zip: below a file": ("x.zip", evil_zip("ok.txt/below"), "not a whole archive"),
    "zip: twice": ("x.zip", evil_zip("./ok.txt"), "in it twice"),
    "tar: above": ("x.tar.gz", evil_tar("../evil.txt"), OUTSIDE),
    "tar: absolute": ("x.tar.gz", evil_tar("/tmp/evil.txt"), OUTSIDE),
    "tar: link": ("x.tar.gz", evil_tar("l", tarfile.SYMTYPE), LINK),
    "tar: hard link": ("x.tar.gz", evil_tar("h", tarfile.LNKTYPE), LINK),
    "tar: device": ("x.tar.gz", evil_tar("d", tarfile.CHRTYPE), LINK),
    "tar: pipe": ("x.tar.gz", evil_tar("f", tarfile.FIFOTYPE), LINK),
    "tar: inside": ("x.tar.gz", tarred({"inner.tar": tarred({"../../evil.txt": b"x"}, "w")}), OUTSIDE),
}


@pytest.mark.parametrize(("file", "content", "fault"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives(web: Web, offer: Offer, tmp_path: Path, file: str, content: bytes, fault: str) -> None:
    offer("ml-100k", sources.Download(web.give(file, content)))
    refused(tmp_path, DataError, fault)
    assert not Path("/tmp/evil.txt").exists()


def test_an_archive_that_expands_without_measure(
    web: Web, offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack = load_module("unpack")
    monkeypatch.setattr(unpack, "BOMB_SIZE", 1000)
    offer("ml-100k", sources.Download(web.give("x.zip", zipped({"u.data": "0" * 10_000_000}))))
    refused(tmp_path, DataError, "expands to over")
    (tmp_path / "to").rmdir()
    monkeypatch.setattr(unpack, "MOST_FILES", 3)
    offer("ml-100k", sources.Download(web.give("x.zip", zipped(dict.fromkeys("abcd", "")))))
    refused(tmp_path, DataError, "expands to over 3 files")


def test_an_interrupted_download_leaves_nothing(web: Web, offer: Offer, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    with pytest.raises(KeyboardInterrupt):
        sources.download("ml-100k", tmp_path, progress=interrupt)
    assert os.listdir(tmp_path) == []


def test_leftovers_of_killed_downloads_are_removed(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    put(tmp_path / ".ml-100k.killed.tmp", "x.zip", "half")
    put(tmp_path / ".ml-100k.running.tmp", "x.zip", "half")
    handle = os.open(tmp_path / ".ml-100k.running.tmp", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        sources.download("ml-100k", tmp_path)
    finally:
        os.close(handle)
    assert sorted(os.listdir(tmp_path)) == [".ml-100k.running.tmp", "ml-100k"]


def test_downloads_go_where_names_are_found(
    web: Web, offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "data"))
    assert sources.download("ml-100k").folder == tmp_path / "data" / "ml-100k"
    assert len(sources.load("ml-100k").data) == 1
    monkeypatch.delenv("FULLRANK_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert sources.download("ml-100k").folder == tmp_path / "cache" / "fullrank" / "ml-100k"
