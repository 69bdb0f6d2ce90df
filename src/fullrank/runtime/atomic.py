"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from fullrank.errors import FullrankError, LockedError, NotAllowedError, OutputError, StorageError

SUFFIX = ".fullrank.tmp"  # of files on the way to their names


def write_bytes(path: str | Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a whole file: to a temporary name beside it, synced, then renamed."""
    write_with(path, lambda file: file.write(content), overwrite=overwrite)


def write_with(path: str | Path, write: Callable[[IO[bytes]], object], *, overwrite: bool = False) -> None:
    """As `write_bytes`, with a function that writes to the open file.

    On any failure the old file is as it was and nothing is left behind.
    """
    target = Path(path)
    _check_writable(target, overwrite)
    _remove_once(target.parent.absolute())
    with _explained(target):
        handle, temporary = _temporary(target)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


def _temporary(target: Path) -> tuple[int, str]:
    """A file beside the target, open and locked while it is written: whoever finds it unlocked may remove it."""
    while True:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=SUFFIX, dir=target.parent)
        with suppress(OSError):  # where files cannot be locked, they are not removed either
            _lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # removed before it was locked


def remove_half_written(folder: Path) -> None:
    """Remove what processes that were killed left in the middle of writing; files of living ones are locked."""
    for path in folder.glob(f".*{SUFFIX}"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                _lock(handle)
                path.unlink()
            finally:
                os.close(handle)


@cache
def _remove_once(folder: Path) -> None:
    """The same, in the life of a process: it is asked before every file that is written."""
    remove_half_written(folder)


def _lock(handle: int, *, wait: bool = False) -> None:
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def check_writable(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse, before the work starts, an output that could not be written after it; remove what was half written."""
    _check_writable(Path(path), overwrite)
    remove_half_written(Path(path).parent)


def _check_writable(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise OutputError(f"{target}: is a folder; give the path of a file.")
    if target.exists() and not overwrite:
        raise OutputError(f"{target}: exists; pass overwrite=True (--overwrite) to replace it.")
    if not target.parent.is_dir():
        raise OutputError(f"{target}: there is no folder {target.parent}; create it first.")
    if not os.access(target.parent, os.W_OK):
        raise NotAllowedError(f"{target}: no permission to write in {target.parent}.")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time works at this; the lock is beside it and ends with the process, however it ends."""
    lock = path.with_name(path.name + ".lock")
    with _explained(lock):
        opened = lock.open("a+")
    with opened as file:
        try:
            _lock(file.fileno())
        except OSError:
            file.seek(0)
            raise LockedError(f"{path}: locked by process {file.read() or '?'}; wait for it.") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        remove_half_written(path.parent)
        yield


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise NotAllowedError(f"{target}: no permission to write ({error.strerror}).") from error
    except FullrankError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError(f"{target}: no space left on the disk; nothing was changed.") from error
        raise StorageError(f"{target}: cannot be written ({error.strerror or error}); nothing was changed.") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
