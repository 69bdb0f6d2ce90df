"""Compressed bytes as files that give no more than they are asked for, however far a few of them expand."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from typing import IO, Any

from fullrank.errors import DataError

BLOCK = 1 << 16  # compressed bytes taken at a time
MOST_MEMORY = 128 << 20  # of a decompressor; xz -9 and zstd --long=27 need about as much or less
ZSTANDARD = 0xFD2FB528
SKIPPED = 0x184D2A5  # without its last four bits
EXTRACT_FIRST = "extract it first"


class Streams:
    """Compressed streams one after the other, as bzip2 and xz have them."""

    def __init__(self, file: IO[bytes], new: Callable[[], Any], name: str) -> None:
        self._file, self._new, self._name = file, new, name
        self._rest, self._stream = b"", new()

    def read(self, n: int) -> bytes:
        """At most n bytes; none at the end."""
        while True:
            if self._stream.eof:
                self._rest = self._stream.unused_data.lstrip(b"\0") or self._file.read(BLOCK).lstrip(b"\0")
                if not self._rest:
                    return b""
                self._stream = self._new()
            if not self._rest and self._stream.needs_input:
                self._rest = self._file.read(BLOCK)
                if not self._rest:
                    raise EOFError
            given, self._rest = self._rest, b""
            data: bytes = self._expand(given, n)
            if data:
                return data

    def _expand(self, given: bytes, n: int) -> bytes:
        try:
            data: bytes = self._stream.decompress(given, n)
        except lzma.LZMAError as error:
            if "limit" not in str(error):
                raise
            most = MOST_MEMORY >> 20
            raise DataError(f"{self._name}: needs over {most} MiB to be expanded; {EXTRACT_FIRST}.") from error
        return data


class Frames:
    """The bytes of a file of zstandard frames, followed on their way to the library's own reader.

    That reader gives no more than it is asked for, but takes a cut-off file for a whole one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._head = b""  # of what comes next
        self._skip = 0  # bytes of content that follow
        self._whole: Callable[[bytes], bool] = self._magic  # whether a head is whole; it is then taken
        self._checksum = 0
        self.inside = False  # of a frame

    def read(self, n: int) -> bytes:
        """The next bytes, as they are; EOFError where the last frame is not whole."""
        data = self._file.read(n)
        if not data and (self.inside or self._head or self._skip):
            raise EOFError
        place = 0
        while place < len(data):
            if self._skip:
                step = min(self._skip, len(data) - place)
                self._skip -= step
                place += step
                continue
            self._head += data[place : place + 1]
            place += 1
            if self._whole(self._head):
                self._head = b""
        return data

    def _magic(self, head: bytes) -> bool:
        """A frame: its magic number and flags; what else is in its header is skipped."""
        magic = int.from_bytes(head[:4], "little")
        if len(head) < 5:
            return False
        if magic >> 4 == SKIPPED:
            self._skip = int.from_bytes(head[4:], "little") if len(head) == 8 else 0
            return len(head) == 8
        if magic != ZSTANDARD:
            raise ValueError("bytes that begin no frame")
        single, window = head[4] >> 5 & 1, not head[4] >> 5 & 1
        self._skip = window + (0, 1, 2, 4)[head[4] & 3] + (single, 2, 4, 8)[head[4] >> 6]
        self._checksum = 4 * (head[4] >> 2 & 1)
        self.inside, self._whole = True, self._block
        return True

    def _block(self, head: bytes) -> bool:
        """A block: whether it is the last, its kind (1: one byte repeated) and size."""
        if len(head) < 3:
            return False
        header = int.from_bytes(head, "little")
        self._skip = 1 if header >> 1 & 3 == 1 else header >> 3
        if header & 1:
            self._skip += self._checksum
            self.inside, self._whole = False, self._magic
        return True


class Zstandard:
    """Zstandard frames, expanded; a window over 128 MiB is refused."""

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        expander = zstandard.ZstdDecompressor(max_window_size=MOST_MEMORY)
        self._reader = expander.stream_reader(Frames(file), read_size=BLOCK, read_across_frames=True)  # type: ignore[arg-type]

    def read(self, n: int) -> bytes:
        """At most n bytes; none at the end."""
        try:
            data: bytes = self._reader.read(n)
        except self._error as error:
            raise ValueError(str(error)) from error
        return data


def only_member(file: IO[bytes], name: str) -> IO[bytes]:
    """The one file in a zip archive."""
    if not hasattr(file, "seek"):
        raise DataError(f"{name}: a zip file cannot be read from a pipe; pass its path.")
    archive = zipfile.ZipFile(file)
    members = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(members) != 1:
        raise DataError(f"{name}: the zip file holds {len(members)} files; extract the one to read.")
    if fault := zip_fault(members[0]):
        raise DataError(f"{name}: the zip file {fault}; {EXTRACT_FIRST}.")
    return archive.open(members[0])


def zip_fault(entry: zipfile.ZipInfo) -> str:
    """Why an entry of a zip archive is not expanded; empty where it is."""
    if entry.flag_bits & 1:
        return "is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is compressed by another method than deflate, which cannot be expanded in parts"
    return ""


EXPANDERS: dict[bytes, tuple[str, Callable[[Any, str], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda file, _: gzip.GzipFile(fileobj=file)),
    b"\x28\xb5\x2f\xfd": ("zstandard", lambda file, _: Zstandard(file)),
    b"PK\x03\x04": ("zip", only_member),
    b"BZh": ("bzip2", lambda file, name: Streams(file, bz2.BZ2Decompressor, name)),
    b"\xfd7zXZ\x00": (
        "xz", lambda file, name: Streams(file, lambda: lzma.LZMADecompressor(memlimit=MOST_MEMORY), name),
    ),
}  # fmt: skip
