"""What expands or asks without measure is refused before it takes the memory (FAULTS D17, D23, D24)."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import polars as pl
import pytest
import zstandard

from fullrank.data.read import read
from fullrank.data.reading import expanders, stream
from fullrank.data.reading.stream import Stream
from fullrank.data.sources.unpack import unpack
from fullrank.errors import DataError, StorageError
from fullrank.runtime import memory

MIB = 1 << 20
LINES = b"".join(b"%d,%d,5,%d\n" % (n % 997, n % 101, n) for n in range(20_000))
LIMIT = f"""
import resource
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + {512 * MIB}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""


def zst_bomb(blocks: int) -> bytes:
    """A frame of blocks of 128 KiB of one letter, in 4 bytes each: 128 KB of them are 4 GB."""
    block = ((128 << 10) << 3 | 1 << 1).to_bytes(3, "little") + b"0"
    return b"\x28\xb5\x2f\xfd\x00\x38" + block * blocks + b"\x01\x00\x00"


def zip_of(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("ratings.csv", content)
    return buffer.getvalue()


def tar_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def tar_header(size: int) -> bytes:
    """The header of a file whose name is said to follow, in so many bytes."""
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, size
    return entry.tobuf(tarfile.GNU_FORMAT)


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files that expand to some GB, made of pieces so that making them is quick."""
    folder, zeros = tmp_path_factory.mktemp("bombs"), b"0" * (4 * MIB)
    inner = gzip.compress(tar_of({"zeros": zeros * 2}))
    content = {
        "zst": zst_bomb(32_000),
        "gz": gzip.compress(zeros) * 640,
        "bz2": bz2.compress(zeros) * 640,
        "xz": lzma.compress(zeros, preset=1) * 640,
        "zip": zip_of(zeros * 20),
        "lzma.zip": zip_of(zeros, zipfile.ZIP_LZMA),
        "nested.tar.gz": gzip.compress(tar_of({f"{n}/inner.tar": inner for n in range(160)})),
        "header.tar.gz": gzip.compress(tar_header(1 << 33)) + gzip.compress(zeros) * 640,
    }
    for name, data in content.items():
        assert len(data) < 3 * MIB
        (folder / f"bomb.{name}").write_bytes(data)
    return folder


def run(code: str, *arguments: object) -> tuple[int, str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited and measured as Linux does")
class TestUnderALimit:
    """512 MiB of address space above what there was at the start."""

    @pytest.mark.parametrize("kind", ["zst", "gz", "bz2", "xz", "zip", "lzma.zip"])
    def test_bombs(self, bombs: Path, kind: str) -> None:
        start = "import sys, fullrank\nfrom fullrank.cli import main\n"
        code, told = run(start + LIMIT + "main(['data', *sys.argv[1:]])", bombs / f"bomb.{kind}")
        assert (code, told.count("\n")) == (65, 1)
        assert "expands more than 500 times" in told or "another method than deflate" in told

    @pytest.mark.parametrize("kind", ["nested.tar.gz", "header.tar.gz"])
    def test_archives(self, bombs: Path, tmp_path: Path, kind: str) -> None:
        start = "import sys, fullrank\nfrom pathlib import Path\nfrom fullrank.data.sources.unpack import unpack\n"
        act = "try: unpack(Path(sys.argv[1]), Path(sys.argv[2]))\nexcept fullrank.FullrankError as e: print(e)"
        code, told = run(start + LIMIT + act, bombs / f"bomb.{kind}", tmp_path)
        assert code == 0
        assert "expands to over" in told or "expands more than 500 times" in told
        assert sum(path.stat().st_size for path in tmp_path.rglob("*")) <= stream.BOMB_SIZE

    @pytest.mark.parametrize("rows", [3_000_000_000, 2_000_000_000, 50_000_000])
    def test_shapes(self, rows: int) -> None:
        start = "import fullrank, scipy.sparse, numpy as np\nfrom fullrank.data.reading import sparse\n"
        start += f"one = scipy.sparse.coo_array(([1.0], ([5], [3])), shape=({rows}, 10))\n"
        act = "try: fullrank.read(one)\nexcept fullrank.FullrankError as e: print(e)"
        code, told = run(start + LIMIT + act)
        assert code == 0
        assert f"shape ({rows}, 10)" in told
        assert "number only the rows and columns that have entries" in told

    def test_what_polars_reserved_once_need_not_be_free_again(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_bytes(LINES)
        start = "import resource, sys, fullrank\nresource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))\n"
        act = "print(len(fullrank.read(sys.argv[1])))\n"
        code, told = run(start + act + LIMIT + act, tmp_path / "x.csv")
        assert (code, told.split()) == (0, ["20000", "20000"])

    def test_the_command_tells_what_was_asked_for(self) -> None:
        start = "import numpy, sys, fullrank.cli\nfrom fullrank.cli import main\n"
        start += "def greedy(*_, **__): numpy.ones(1 << 40)\nsys.modules['fullrank.cli.main'].app = greedy\n"
        code, told = run(start + LIMIT + "main([])")
        assert code == 74
        assert told.startswith("error: not enough memory: 8.00 TiB were asked for at once, and ")
        assert "GB are free (the limit of address space is " in told


@pytest.mark.parametrize("kind", ["zst", "gz", "bz2", "xz", "zip"])
def test_no_call_expands_more_than_is_asked_for(bombs: Path, kind: str) -> None:
    with Stream(bombs / f"bomb.{kind}") as opened:
        for n in (1, 1000, MIB):
            assert len(opened._source.read(n)) <= n
            assert len(opened.read(n)) == n


def test_a_bomb_in_a_pipe(bombs: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes((bombs / "bomb.zst").read_bytes()[:60_000]))
    writer.start()  # less than a pipe holds
    with Stream(pipe) as opened, pytest.raises(DataError, match="expands more than 500 times"):
        opened.read(1 << 30)
    writer.join()


def many_frames(content: bytes) -> bytes:
    """Frames of every make: with and without size, checksum and dictionary; skipped ones; an empty one."""
    half = len(content) // 2
    plain = zstandard.ZstdCompressor(level=3, write_content_size=False, write_checksum=True)
    streamed = plain.compressobj()
    first = streamed.compress(content[:half]) + streamed.flush()
    skipped = b"\x5a\x2a\x4d\x18" + (7).to_bytes(4, "little") + b"ignored"
    return first + skipped + zstandard.compress(b"") + zstandard.compress(content[half:]) + skipped


@pytest.mark.parametrize(
    "compress", [many_frames, zstandard.compress, bz2.compress, lzma.compress, gzip.compress, zip_of]
)
def test_what_is_compressed_comes_back(tmp_path: Path, compress: object) -> None:
    path = tmp_path / "x"
    path.write_bytes(compress(LINES))  # type: ignore[operator]
    with Stream(path) as opened:
        assert opened.read(len(LINES) + 1) == LINES
    if compress is not zip_of:
        path.write_bytes(compress(LINES[:99]) + compress(LINES[99:]))  # type: ignore[operator]
        with Stream(path) as opened:
            assert opened.read(len(LINES) + 1) == LINES


@pytest.mark.parametrize("compress", [many_frames, bz2.compress, lzma.compress])
def test_cut_off_anywhere_it_is_refused(tmp_path: Path, compress: object) -> None:
    content = b"1,1,5,7\n" * 30
    whole: bytes = compress(content)  # type: ignore[operator]
    path = tmp_path / "x"
    for size in range(6, len(whole)):
        path.write_bytes(whole[:size])
        try:
            with Stream(path) as opened:
                found = opened.read(len(content) + 1)
        except DataError as error:
            assert "unexpected end" in str(error) or "damaged" in str(error)  # noqa: PT017 (or it ends between frames)
        else:
            assert content.startswith(found)
            assert compress is many_frames
            assert path.read_bytes() in [whole[:size] for size in frame_ends(whole)]


def frame_ends(whole: bytes) -> list[int]:
    """Where frames end, found by the library: every prefix that it takes for whole frames."""
    ends, place = [], 0
    while place < len(whole):
        if whole[place : place + 4] == b"\x5a\x2a\x4d\x18":
            place += 15
        else:
            frame = zstandard.ZstdDecompressor().decompressobj()
            frame.decompress(whole[place:])
            place = len(whole) - len(frame.unused_data)
        ends.append(place)
    return ends


@pytest.mark.parametrize("compress", [zstandard.compress, bz2.compress, lzma.compress, gzip.compress])
def test_what_follows_the_streams_is_no_data(tmp_path: Path, compress: object) -> None:
    path = tmp_path / "x"
    path.write_bytes(compress(LINES) + b"garbage!")  # type: ignore[operator]
    with Stream(path) as opened, pytest.raises(DataError, match="is damaged"):
        opened.read(len(LINES) + 1)


def test_a_decompressor_that_wants_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 4 * MIB}]
    monkeypatch.setattr(expanders, "MOST_MEMORY", MIB)
    (tmp_path / "x.xz").write_bytes(lzma.compress(LINES, filters=filters))
    with pytest.raises(DataError, match=r"x\.xz: needs over 1 MiB to be expanded; extract it first"):
        read(tmp_path / "x.xz")
    wide = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=23))
    streamed = wide.compressobj()
    (tmp_path / "x.zst").write_bytes(streamed.compress(os.urandom(9 * MIB)) + streamed.flush())
    with pytest.raises(DataError, match="too much memory"):
        read(tmp_path / "x.zst")


def test_archives_inside_spend_of_one_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.data.sources.unpack.BOMB_SIZE", 21_000)  # each alone: 20,480 and 1,000
    monkeypatch.setattr("fullrank.data.sources.unpack.BOMB_RATIO", 0)
    inner = {f"{n}.tar": tar_of({f"{n}.txt": b"0" * 1000}) for n in range(2)}
    archive = tmp_path / "x.tar"
    archive.write_bytes(tar_of(inner))
    with pytest.raises(DataError, match=r"x.tar: expands to over 100,000 files or 21,000 bytes"):
        unpack(archive, tmp_path / "out")


def test_parquet_of_more_rows_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame({"user": [1] * 1000, "item": range(1000)}).write_parquet(tmp_path / "x.parquet")
    monkeypatch.setattr(memory, "available", lambda: 10_000.0)
    with pytest.raises(StorageError, match=r"1,000 rows need about 0.0 GB, and 0.0 GB are free"):
        read(tmp_path / "x.parquet")
