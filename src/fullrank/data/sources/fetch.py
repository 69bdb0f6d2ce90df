"""Downloading, only when asked: streamed, limited, verified, whole or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from fullrank.data.sources.files import home
from fullrank.data.sources.source import Dataset, Download, Downloaded, Progress
from fullrank.data.sources.unpack import is_archive, unpack
from fullrank.data.sources.web import Deadline, opened
from fullrank.errors import DataError, NoInputError, NotAllowedError, OutputError, ParameterError, StorageError, check
from fullrank.runtime.atomic import write_with

PIECE = 1 << 20
PATIENCE = 60.0  # seconds a download may take, whatever its size
SLOWEST = 32 << 10  # bytes a second that it must come in with, beyond that


def download(
    dataset: Dataset, to: str | os.PathLike[str] | None, *, overwrite: bool, progress: Progress | None,
    parts: dict[str, str],
) -> Downloaded:  # fmt: skip
    """Fetch a data set into the folder `to`/its name; `parts` fill the address (category=...)."""
    if not dataset.downloads:
        raise NoInputError(f"{dataset.title} has no address to fetch it from; {dataset.how_to_get}.")
    downloads = [Download(_fill_address(file.address, parts), file.checksum, file.limit) for file in dataset.downloads]
    target = _target(dataset, to, overwrite)
    try:
        with _workshop(target) as work:
            fresh = work / "fresh"
            fresh.mkdir()
            for file in downloads:
                _fetch_into(file, work, fresh, progress)
            files = sum(path.is_file() for path in fresh.rglob("*"))
            _put(_only_folder(fresh), target, work / "old")
    except OSError as error:
        raise StorageError(f"{target}: cannot be written ({error.strerror or error}); nothing was kept.") from error
    return Downloaded(target, files, all(file.checksum for file in downloads), dataset.licence)


def _fill_address(address: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        check(name, part, part.replace("_", "").isalnum() and part.isascii(), "a name such as 'Video_Games'")
        if f"{{{name}}}" not in address:
            raise ParameterError(f"The address {address} has no '{name}' to choose.")
    try:
        return address.format(**parts)
    except KeyError as error:
        raise ParameterError(f"Choose the {error.args[0]} to fetch: {error.args[0]}='...' in {address}.") from None


def _target(dataset: Dataset, to: str | os.PathLike[str] | None, overwrite: bool) -> Path:
    root = home() if to is None else Path(to)
    if root is None:
        raise OutputError("there is no home folder to keep data in; pass a folder, or set FULLRANK_DATA.")
    target = root / dataset.name
    if target.exists() and not overwrite:
        raise OutputError(f"{target}: exists; pass overwrite=True (--overwrite) to replace it.")
    try:
        root.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise NotAllowedError(f"{root}: no permission to create this folder.") from error
    except OSError as error:
        raise OutputError(f"{root}: cannot be created as a folder ({error.strerror}).") from error
    if not os.access(root, os.W_OK):
        raise NotAllowedError(f"{root}: no permission to write here.")
    return target


@contextmanager
def _workshop(target: Path) -> Iterator[Path]:
    """A private folder beside the target, gone afterwards; those of downloads that were killed go first.

    A running download holds a lock on its own.
    """
    for left in target.parent.glob(f".{target.name}.*.tmp"):
        with suppress(OSError), _lock(left):
            shutil.rmtree(left)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    try:
        with _lock(work):
            yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _fetch_into(file: Download, work: Path, fresh: Path, progress: Progress | None) -> None:
    name = unquote(urlsplit(file.address).path).rpartition("/")[2]
    if not is_archive(name):
        fetch(file, fresh / name, progress)
        return
    fetch(file, work / name, progress)
    unpack(work / name, fresh)
    (work / name).unlink()


def fetch(file: Download, target: Path, progress: Progress | None = None) -> None:
    """One file of the web under this path: within its limit and its time, complete, and with its checksum."""
    with opened(file.address) as answer:
        write_with(target, lambda out: _copy(answer, out, file, progress))


def _copy(answer: Any, out: IO[bytes], file: Download, progress: Progress | None) -> None:
    kind, _, expected = (file.checksum or "").partition(":")
    digest = hashlib.new(kind, usedforsecurity=False) if kind else None
    length = answer.headers.get("Content-Length")
    total = int(length) if length and length.isdigit() else None
    deadline = Deadline(file.address, PATIENCE + (total or file.limit) / SLOWEST)
    done = 0
    while True:
        if max(done, total or 0) > file.limit:
            raise StorageError(f"{file.address}: more than {file.limit:,} bytes, the most expected; nothing was kept.")
        deadline.check(done)
        piece = _piece(answer, file, done)
        if not piece:
            break
        out.write(piece)
        done += len(piece)
        if digest is not None:
            digest.update(piece)
        if progress is not None:
            progress(done, total)
    if total is not None and done != total:
        raise StorageError(f"{file.address}: broke off after {done:,} of {total:,} bytes; try again.")
    if digest is not None and digest.hexdigest() != expected:
        raise DataError(
            f"{file.address}: the {kind} checksum is {digest.hexdigest()}, expected {expected}; "
            "the file changed or was damaged on the way, and nothing was kept."
        )


def _piece(answer: Any, file: Download, done: int) -> bytes:
    """What has come in, at most so much; never waiting until it is so much."""
    try:
        piece: bytes = answer.read1(PIECE)
    except (HTTPException, OSError) as error:
        raise StorageError(f"{file.address}: broke off after {done:,} bytes ({error}); try again.") from error
    return piece


def _only_folder(folder: Path) -> Path:
    """The folder, or the one it holds and nothing else."""
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _put(fresh: Path, target: Path, old: Path) -> None:
    """The new folder in its place; one that was there goes away with the workshop."""
    if target.exists():
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
