"""Unpacking archives that may be hostile: nothing but regular files, and only below the given folder."""

from __future__ import annotations

import gzip
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from fullrank.data.reading.expanders import zip_fault
from fullrank.data.reading.stream import BOMB_RATIO, BOMB_SIZE, PIECE, Stream
from fullrank.errors import DataError, FullrankError, StorageError, shown
from fullrank.runtime.atomic import write_with

MOST_FILES = 100_000
DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, struct.error, EOFError, RuntimeError,
    ValueError, FileExistsError, NotADirectoryError,
)  # fmt: skip


class Member(NamedTuple):
    """A file in an archive."""

    name: str
    size: int
    kind: str  # "file", or what else it is
    open: Callable[[], IO[bytes] | None]


def is_archive(name: str) -> bool:
    """Whether a file of this name is unpacked."""
    return name.endswith((".zip", ".tar", ".tar.gz", ".tgz"))


def unpack(archive: Path, into: Path) -> None:
    """Every file of a zip or tar archive, and of tar archives inside it, to a folder of its own.

    Absolute names, "..", links and devices are refused, and so is what expands without measure or would
    not fit on the disk.
    """
    into.mkdir(exist_ok=True)
    budget = Budget(archive.name, max(BOMB_SIZE, BOMB_RATIO * archive.stat().st_size), MOST_FILES)
    _unpack(archive, into, budget)
    for inner in sorted(into.rglob("*.tar")):
        _unpack(inner, inner.parent, budget)
        inner.unlink()


@dataclass
class Budget:
    """What an archive may expand to, with all that is in those inside it."""

    name: str
    bytes_left: int
    files_left: int

    def __post_init__(self) -> None:
        self.most = f"{self.files_left:,} files or {self.bytes_left:,} bytes"

    def spend(self, size: int) -> None:
        """Take one file of this size off."""
        self.files_left -= 1
        self.bytes_left -= size
        if min(self.files_left, self.bytes_left) < 0:
            raise DataError(f"{self.name}: expands to over {self.most}; not unpacked.")


def _unpack(archive: Path, into: Path, budget: Budget) -> None:
    try:
        for member in _members(archive):
            target = into / _safe(member, archive)
            budget.spend(member.size)
            if member.size > shutil.disk_usage(into).free:
                raise StorageError(f"{archive.name}: no space to unpack {shown(member.name)} ({member.size:,} bytes).")
            _write(member, target, archive)
    except FullrankError:
        raise
    except DAMAGED as error:
        raise DataError(f"{archive.name}: not a whole archive ({shown(str(error))}); fetch it again.") from error


def _members(archive: Path) -> Iterator[Member]:
    zipped = archive.name.endswith(".zip") or zipfile.is_zipfile(archive)
    return _zip_members(archive) if zipped else _tar_members(archive)


def _zip_members(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            mode = entry.external_attr >> 16
            kind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG, stat.S_IFDIR) else "link or device"
            if kind == "file" and zip_fault(entry):
                kind = f"file that {zip_fault(entry)}"
            if not entry.is_dir() or kind != "file":
                yield Member(entry.filename, entry.file_size, kind, lambda entry=entry: opened.open(entry))  # type: ignore[misc]


def _tar_members(archive: Path) -> Iterator[Member]:
    with Stream(archive) as stream, tarfile.open(fileobj=stream, mode="r|", bufsize=PIECE) as opened:  # type: ignore[call-overload]
        stream.name = archive.name
        for entry in opened:
            if not entry.isdir():
                kind = "file" if entry.isreg() else "link or device"
                yield Member(entry.name, entry.size, kind, lambda entry=entry: opened.extractfile(entry))  # type: ignore[misc]


def _safe(member: Member, archive: Path) -> PurePosixPath:
    path = PurePosixPath(member.name)
    outside = path.is_absolute() or ".." in path.parts or any(c in member.name for c in "\\:\0") or not path.name
    if member.kind != "file" or outside:
        fault = f"is a {member.kind}" if member.kind != "file" else "points outside the archive"
        raise DataError(f"{archive.name}: {shown(member.name)} {fault}; nothing was unpacked, do not trust this file.")
    return path


def _write(member: Member, target: Path, archive: Path) -> None:
    if target.exists():
        raise DataError(f"{archive.name}: {shown(member.name)} is in it twice; nothing was unpacked.")
    target.parent.mkdir(parents=True, exist_ok=True)

    def copy(file: IO[bytes]) -> None:
        opened = member.open()
        if opened is None:
            raise DataError(f"{archive.name}: {shown(member.name)} cannot be read; nothing was unpacked.")
        with opened:
            shutil.copyfileobj(opened, file, 1 << 20)

    write_with(target, copy)
