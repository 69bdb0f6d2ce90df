"""The trials of searches in a file of optuna's, one line each, so that an interrupted search goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from fullrank.errors import DataError, LockedError, NotAllowedError, StorageError
from fullrank.runtime.atomic import check_writable

BEGINS = b'{"op_code":'  # every line


class Held:
    """In place of optuna's own lock, which outlives a process that is killed: we hold the file for the whole search."""

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass


@contextmanager
def open_trials(path: str | os.PathLike[str], name: str, direction: Literal["minimize", "maximize"]) -> Iterator[Any]:
    """The study of that name in a journal, new or as it was left; it holds finished trials only."""
    target = Path(path)
    check_writable(target, overwrite=True)
    with _lock(target):
        _mend(target)
        yield _study(target, name, direction)


def keep(study: Any, trial: Any, path: str | os.PathLike[str]) -> None:
    """Write a finished trial: one line, synced."""
    try:
        study.add_trial(trial)
    except OSError as error:
        raise StorageError(f"{path}: the journal cannot be written ({error.strerror or error}).") from error


def _study(path: Path, name: str, direction: Literal["minimize", "maximize"]) -> Any:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    lock: Any = Held()
    try:
        storage = JournalStorage(JournalFileBackend(str(path), lock_obj=lock))
        if name in optuna.get_all_study_names(storage):
            return optuna.load_study(storage=storage, study_name=name)
        return optuna.create_study(storage=storage, study_name=name, direction=direction)
    except OSError as error:
        raise StorageError(f"{path}: the journal cannot be written ({error.strerror or error}).") from error
    except Exception as error:
        raise DataError(f"{path}: the journal is damaged ({error!r}); remove it to start again.") from error


@contextmanager
def _lock(path: Path) -> Iterator[IO[bytes]]:
    """One search at a time writes here; the lock ends with the process, however it ends."""
    import fcntl

    try:
        file = path.open("ab")
    except OSError as error:
        raise NotAllowedError(f"{path}: the journal cannot be opened ({error.strerror}).") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LockedError(f"{path}: another search writes to this journal; wait for it, or use another.") from None
        yield file


def _mend(path: Path) -> None:
    """Refuse what is no journal; cut off a last line that was only half written."""
    *lines, rest = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not _is_whole(line):
            raise DataError(f"{path}: line {number} is not one of a journal of trials; remove the file or use another.")
    if rest and not rest.startswith(BEGINS[: len(rest)]):
        raise DataError(f"{path}: the last line is not one of a journal of trials; remove the file or use another.")
    if rest:
        os.truncate(path, path.stat().st_size - len(rest))


def _is_whole(line: bytes) -> bool:
    try:
        return line.startswith(BEGINS) and isinstance(json.loads(line), dict)
    except ValueError:
        return False
