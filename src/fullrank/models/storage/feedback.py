"""What a model has seen, as arrays of a file, and its fingerprint."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, frozen
from fullrank.data.events import Events
from fullrank.data.feedback import Feedback
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.models.storage.header import Arrays, damaged


def history_arrays(train: Interactions) -> Arrays:
    """The training data without times."""
    arrays = id_arrays("user", train.users) | id_arrays("item", train.items)
    arrays |= {"seen_start": train.starts.astype(np.int64), "seen_item": train.item}
    return arrays if train.value is None else arrays | {"seen_value": train.value}


def id_arrays(what: str, ids: Ids) -> Arrays:
    """Integers as they are; strings as UTF-8, one after the other, and where each starts."""
    if not ids.are_strings:
        return {f"{what}_id": ids.names}
    names = [str(name).encode() for name in ids]
    start = np.concatenate([[0], np.cumsum([len(name) for name in names], dtype=np.int64)])
    return {f"{what}_text": np.frombuffer(b"".join(names), dtype=np.uint8), f"{what}_text_start": start}


def history_from(arrays: Arrays) -> Interactions:
    """The training data again."""
    users, items, seen = _ids("user", arrays), _ids("item", arrays), arrays["seen_item"]
    user = rows_of(arrays["seen_start"], len(seen), "seen")
    return Interactions(user, seen, arrays.get("seen_value"), None, users, items)


def _ids(what: str, arrays: Arrays) -> Ids:
    if f"{what}_id" in arrays:
        return Ids(arrays[f"{what}_id"])
    text, start = arrays[f"{what}_text"].tobytes(), arrays[f"{what}_text_start"]
    _check_starts(start, len(text), f"{what}_text")
    try:
        return Ids([text[begin:end].decode() for begin, end in pairwise(start.tolist())])
    except UnicodeDecodeError as error:
        raise damaged(f"a {what} id is not UTF-8 ({error})") from error


def rows_of(start: NDArray[np.int64], entries: int, what: str) -> NDArray[np.int32]:
    """The row of every entry, from where the rows start."""
    _check_starts(start, entries, what)
    return frozen(np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start)))


def _check_starts(start: NDArray[np.int64], entries: int, what: str) -> None:
    if start[0] != 0 or start[-1] != entries or (start[1:] < start[:-1]).any():
        raise damaged(f"'{what}_start' does not rise from 0 to {entries}")


def fingerprint_of(history: Arrays) -> str:
    """The sha256 of the arrays of a history."""
    digest = hashlib.sha256()
    for name, array in sorted(history.items()):
        digest.update(f"{name} {array.shape} ".encode())
        digest.update(file_bytes(array + np.float32(0) if name == "seen_value" else array))  # -0.0 is 0.0
    return digest.hexdigest()


def file_bytes(array: Array) -> memoryview:
    """What an array is in a file: row after row, the lowest byte of a number first."""
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return little.reshape(-1).view(np.uint8).data


def fingerprint(feedback: Feedback | Events) -> str:
    """The sha256 of who did what: ids, rows and values. Times do not count, since a model file keeps none; but those
    of events do, which are nothing without them.

    >>> fingerprint(Interactions.of([1, 2], [7, 7], [3, 4]))[:8]
    '4bd99442'
    """
    if isinstance(feedback, Interactions):
        return fingerprint_of(history_arrays(feedback))
    timed = isinstance(feedback, Events)
    named = {part.name: getattr(feedback, part.name) for part in fields(feedback) if timed or part.name != "time"}
    arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
    return fingerprint_of(arrays | id_arrays("user", feedback.users) | id_arrays("item", feedback.items))
