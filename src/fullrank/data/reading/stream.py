"""Bytes of a file, decompressed on the way, with limits."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import select
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from fullrank.errors import DataError, NoInputError, NotAllowedError, StorageError

BOMB_SIZE = 64 << 20  # expanded bytes before the ratio below counts
BOMB_RATIO = 500  # text of ratings compresses 3 to 20 times


class Stream:
    """Bytes of a file, or of standard input for "-"; compressed ones are expanded while reading.

    What is no readable file, ends early, expands without measure or changes while it is read is refused.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
        self.expanded = 0
        self._file: Any = _standard_input() if os.fspath(path) == "-" else _open(Path(path))
        self._before = os.fstat(self._file.fileno())
        self.regular = stat.S_ISREG(self._before.st_mode)
        if not self.regular and os.name == "posix":
            self._file = _Pipe(self._file)
        self.magic: bytes = self._file.peek(8)[:8]
        self.compression = ""
        try:
            self._source = self._expanded()
        except BaseException:
            self.__exit__()
            raise

    @property
    def size(self) -> int | None:
        """Bytes on disk, where that is known."""
        return self._before.st_size if self.regular else None

    @property
    def consumed(self) -> int:
        """Bytes on disk read so far."""
        return self._file.tell() if self.regular else self.expanded

    def read(self, n: int) -> bytes:
        """The next n bytes; fewer only at the end."""
        with self._explained():
            data = _fill(self._source, n)
        self.expanded += len(data)
        if self.compression and self.regular and self.expanded > BOMB_SIZE:
            ratio = self.expanded / max(self.consumed, 1)
            if ratio > BOMB_RATIO:
                raise DataError(
                    f"{self.name}: expands more than {BOMB_RATIO} times ({self.expanded:,} bytes so far); "
                    "decompress it yourself if you trust it."
                )
        if len(data) < n:
            self._check_unchanged()
        return data

    def _check_unchanged(self) -> None:
        after = os.fstat(self._file.fileno())
        if self.regular and (after.st_size, after.st_mtime_ns) != (self._before.st_size, self._before.st_mtime_ns):
            raise StorageError(f"{self.name}: the file changed while it was read; read it again when it is complete.")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        kind = self.compression or "file"
        try:
            yield
        except EOFError as error:
            raise DataError(f"{self.name}: unexpected end of the {kind} data; fetch the file again.") from error
        except (zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, lzma.LZMAError, ValueError) as error:
            raise DataError(f"{self.name}: the {kind} data is damaged ({error}); fetch the file again.") from error
        except OSError as error:
            if self.compression == "bzip2" and error.errno is None:
                raise DataError(f"{self.name}: the bzip2 data is damaged; fetch the file again.") from error
            raise StorageError(f"{self.name}: cannot be read ({error.strerror or error}).") from error

    def _expanded(self) -> Any:
        for magic, (kind, opened) in EXPANDERS.items():
            if self.magic.startswith(magic):
                self.compression = kind
                with self._explained():
                    return opened(self._file, self.name)
        return self._file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.name != "standard input":
            self._file.close()


def _standard_input() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise NoInputError("standard input is closed; pass a file, or pipe data into '-'.")
    return sys.stdin.buffer


def _open(path: Path) -> IO[bytes]:
    try:
        if path.is_dir():
            raise NoInputError(
                f"{path}: is a folder; pass a file in it, or read a known data set with fullrank.sources."
            )
        return path.open("rb")
    except FileNotFoundError:
        raise NoInputError(f"{path}: no such file; check the path.") from None
    except PermissionError:
        raise NotAllowedError(f"{path}: permission denied; make it readable for this user.") from None
    except OSError as error:
        raise StorageError(f"{path}: cannot be opened ({error.strerror}).") from error


class _Pipe:
    """What comes in over time. It waits in `select`, which an interrupt ends; a blocked read may go on
    after one, since polars has a signal handler that lets system calls restart.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.fileno, self.close = file.fileno, file.close
        self._ahead = b""

    def peek(self, n: int) -> bytes:
        while len(self._ahead) < n and (data := self._more(n)):
            self._ahead += data
        return self._ahead

    def read(self, n: int) -> bytes:
        data, self._ahead = self._ahead[:n], self._ahead[n:]
        return data or self._more(n)

    def _more(self, n: int) -> bytes:
        select.select([self.fileno()], [], [])
        return os.read(self.fileno(), min(n, 1 << 20))


def _fill(source: Any, n: int) -> bytes:
    """n bytes, however little the source gives at a time."""
    data: bytes = source.read(n)
    if not data or len(data) == n:
        return data
    parts = [data]
    missing = n - len(data)
    while missing and (data := source.read(missing)):
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)


class _Zstandard:
    """Zstandard frames as a file: the library's own reader takes a cut-off file for a whole one."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        import zstandard

        self._new = zstandard.ZstdDecompressor().decompressobj
        self._error = zstandard.ZstdError
        self._file, self._rest = file, b""
        self._frame: Any = None

    def read(self, n: int) -> bytes:
        while True:
            block = self._rest or self._file.read(1 << 17)
            self._rest = b""
            if not block:
                if self._frame is not None:
                    raise EOFError
                return b""
            self._frame = self._frame or self._new()
            try:
                data: bytes = self._frame.decompress(block)
            except self._error as error:
                raise ValueError(str(error)) from error
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
            if data:
                return data


def _only_member(file: IO[bytes], name: str) -> IO[bytes]:
    if not hasattr(file, "seek"):
        raise DataError(f"{name}: a zip file cannot be read from a pipe; pass its path.")
    archive = zipfile.ZipFile(file)
    members = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(members) != 1:
        raise DataError(f"{name}: the zip file holds {len(members)} files; extract the one to read.")
    if members[0].flag_bits & 1:
        raise DataError(f"{name}: the zip file is encrypted; extract it first.")
    return archive.open(members[0])


EXPANDERS: dict[bytes, tuple[str, Callable[[Any, str], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda file, _: gzip.GzipFile(fileobj=file)),
    b"\x28\xb5\x2f\xfd": ("zstandard", _Zstandard),
    b"PK\x03\x04": ("zip", _only_member),
    b"BZh": ("bzip2", lambda file, _: bz2.BZ2File(file)),
    b"\xfd7zXZ\x00": ("xz", lambda file, _: lzma.LZMAFile(file)),  # noqa: SIM115 (closed with the file below it)
}
