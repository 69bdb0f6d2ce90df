"""Who was forgotten: salted hashes, in the store and in a file beside it that no restored copy of the store takes back.

A tombstone has the number of the last event before the deletion. Whatever of the person has a number up to that is
gone, whenever and from whichever copy it comes back; later events are those of a new person.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select, update

from fullrank.errors import DataError
from fullrank.runtime.atomic import write_bytes
from fullrank.serving.schema import events, forgotten, state


def token_of(salt: str, user: str) -> str:
    """What is kept of a person who was forgotten.

    >>> token_of("5a17", '"ann"')
    '5a17:31b9ef7b7c2427772d62a08476e15fbe'
    """
    return f"{salt}:{blake2b(f'{salt}:{user}'.encode(), digest_size=16).hexdigest()}"


def bury(connection: Connection, user: str) -> int:
    """Delete all that a person did, and say so for good; how many events there were."""
    salt, seq = connection.execute(select(state.c.salt, state.c.last_seq)).one()
    gone = connection.execute(delete(events).where(events.c.user == user)).rowcount
    put(connection, {token_of(salt, user): seq})
    return int(gone)


def put(connection: Connection, tombstones: Mapping[str, int]) -> None:
    """Add tombstones; the later one of a person counts."""
    for token, seq in tombstones.items():
        if not connection.execute(update(forgotten).where(forgotten.c.token == token).values(seq=seq)).rowcount:
            connection.execute(insert(forgotten).values(token=token, seq=seq))


def all_of(connection: Connection) -> dict[str, int]:
    """The tombstones in the store."""
    rows = connection.execute(select(forgotten.c.token, forgotten.c.seq))
    return {row.token: row.seq for row in rows}


def replay(connection: Connection, known: Mapping[str, int]) -> int:
    """Delete again what a restored copy brought back, by tombstones that it does not know; how many events."""
    there = all_of(connection)
    new = {token: seq for token, seq in known.items() if seq > there.get(token, -1)}
    if not new:
        return 0
    salts = {token.partition(":")[0] for token in new}
    gone = 0
    for user in _people(connection):
        seq = max((new.get(token_of(salt, user), -1) for salt in salts), default=-1)
        if seq >= 0:
            gone += connection.execute(delete(events).where(events.c.user == user, events.c.seq <= seq)).rowcount
    put(connection, new)
    return gone


def _people(connection: Connection) -> list[str]:
    return list(connection.execute(select(events.c.user).distinct()).scalars())


def read_file(path: Path | None) -> dict[str, int]:
    """The tombstones of a file; none where there is no file."""
    if path is None or not path.exists():
        return {}
    try:
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        return {token: int(seq) for token, seq in rows}
    except (ValueError, OSError) as error:
        raise DataError(
            f"{path}: who was forgotten cannot be read ({error}); restore this file from a copy, or people come back."
        ) from error


def write_file(path: Path | None, tombstones: Mapping[str, int]) -> None:
    """Write the tombstones to a file, whole or not at all; a file that says the same is left."""
    if path is None or read_file(path) == tombstones:
        return
    lines = "".join(f"{token} {seq}\n" for token, seq in sorted(tombstones.items()))
    write_bytes(path, lines.encode(), overwrite=True)
