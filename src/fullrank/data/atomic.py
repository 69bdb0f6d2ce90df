"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import IO

from fullrank.errors import FullrankError, LockedError, NotAllowedError, OutputError, StorageError


def write_bytes(path: str | Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a whole file: to a temporary name beside it, synced, then renamed."""
    write_with(path, lambda file: file.write(content), overwrite=overwrite)


def write_with(path: str | Path, write: Callable[[IO[bytes]], object], *, overwrite: bool = False) -> None:
    """As `write_bytes`, with a function that writes to the open file.

    On any failure the old file is as it was and nothing is left behind.
    """
    target = Path(path)
    check_writable(target, overwrite=overwrite)
    with _explained(target):
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
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


def check_writable(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse, before the work starts, an output that could not be written after it."""
    target = Path(path)
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
    import fcntl

    lock = path.with_name(path.name + ".lock")
    with _explained(lock):
        opened = lock.open("a+")
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise LockedError(f"{path}: locked by process {file.read() or '?'}; wait for it.") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        for half_written in path.parent.glob(f".{escape(path.name[:100])}.*.tmp"):
            half_written.unlink(missing_ok=True)  # by a process that was killed
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
