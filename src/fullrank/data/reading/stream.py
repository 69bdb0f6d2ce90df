"""Bytes of a file, decompressed on the way, with limits."""

from __future__ import annotations

import gzip
import lzma
import os
import select
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from fullrank.data.reading.expanders import EXPANDERS
from fullrank.errors import DataError, FullrankError, NoInputError, NotAllowedError, StorageError
from fullrank.runtime.memory import check_address_space

PIECE = 1 << 20  # bytes expanded at a time
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
            self._source = self._expand()
        except BaseException:
            self.__exit__()
            raise

    @property
    def size(self) -> int | None:
        """Bytes on disk, where that is known."""
        return self._before.st_size if self.regular else None

    @property
    def consumed(self) -> int:
        """Bytes on disk, or of the pipe, read so far."""
        place: int = self._file.tell()
        return place

    def read(self, n: int) -> bytes:
        """The next n bytes; fewer only at the end."""
        parts: list[bytes] = []
        missing = n
        while missing and (data := self._piece(missing)):
            parts.append(data)
            missing -= len(data)
        if missing:
            self._check_unchanged()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _piece(self, n: int) -> bytes:
        """Some of the next n bytes; none at the end."""
        with self._explain_errors():
            data: bytes = self._source.read(min(n, PIECE) if self.compression else n)
        self.expanded += len(data)
        if self.regular and self.consumed > self._before.st_size:  # somebody writes as fast as we read
            self._check_unchanged()
        if self.compression and self.expanded > max(BOMB_SIZE, BOMB_RATIO * self.consumed):
            raise DataError(
                f"{self.name}: expands more than {BOMB_RATIO} times ({self.expanded:,} bytes so far); "
                "decompress it yourself if you trust it."
            )
        return data

    def _check_unchanged(self) -> None:
        after = os.fstat(self._file.fileno())
        if self.regular and (after.st_size, after.st_mtime_ns) != (self._before.st_size, self._before.st_mtime_ns):
            raise StorageError(f"{self.name}: the file changed while it was read; read it again when it is complete.")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        kind = self.compression or "file"
        try:
            yield
        except EOFError as error:
            raise DataError(f"{self.name}: unexpected end of the {kind} data; fetch the file again.") from error
        except FullrankError:
            raise
        except (zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, lzma.LZMAError, ValueError) as error:
            raise DataError(f"{self.name}: the {kind} data is damaged ({error}); fetch the file again.") from error
        except OSError as error:
            if self.compression == "bzip2" and error.errno is None:
                raise DataError(f"{self.name}: the bzip2 data is damaged; fetch the file again.") from error
            raise StorageError(f"{self.name}: cannot be read ({error.strerror or error}).") from error

    def _expand(self) -> Any:
        for magic, (kind, opened) in EXPANDERS.items():
            if self.magic.startswith(magic):
                self.compression = kind
                with self._explain_errors():
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
        self._ahead, self._taken = b"", 0

    def peek(self, n: int) -> bytes:
        while len(self._ahead) < n and (data := self._more(n)):
            self._ahead += data
        return self._ahead

    def read(self, n: int) -> bytes:
        data, self._ahead = self._ahead[:n], self._ahead[n:]
        data = data or self._more(n)
        self._taken += len(data)
        return data

    def tell(self) -> int:
        return self._taken

    def _more(self, n: int) -> bytes:
        select.select([self.fileno()], [], [])
        return os.read(self.fileno(), min(n, 1 << 20))


def check_room(source: str | os.PathLike[str] | object) -> None:
    """Refuse to start where the address space does not suffice; a file that is a bomb is called one even then."""
    try:
        check_address_space()
    except StorageError:
        if isinstance(source, str | os.PathLike) and Path(source).is_file():
            with Stream(source) as stream:
                while stream.compression and stream.expanded <= 2 * BOMB_SIZE and stream.read(PIECE):
                    pass
        raise
