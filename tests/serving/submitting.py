"""Processes that write to a store and are killed, and what they were told is stored."""

from __future__ import annotations

import os
import sys
import threading

from fullrank.errors import FullrankError
from fullrank.serving.events import Action
from fullrank.serving.store import open_store

BATCH = 7


def ids_of(batch: str) -> list[str]:
    return [f"{batch}-{number}" for number in range(BATCH)]


def event(event_id: str) -> Action:
    return Action(event_id, f"user {event_id}", "tea", "clicked")


def submit_until_killed(where: str, acknowledged: str, name: str, threads: int = 3) -> None:
    """Submit batches from several threads; a line in a file for every batch that was acknowledged."""
    handle = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store = open_store(where)
    os.write(handle, b"open\n")

    def work(thread: int) -> None:
        for number in range(100_000):
            batch = f"{name}-{thread}-{number}"
            store.submit([event(id_) for id_ in ids_of(batch)]).result()
            os.write(handle, f"{batch}\n".encode())

    for thread in range(threads):
        threading.Thread(target=work, args=(thread,), daemon=True).start()
    threading.Event().wait()


def submit_some(where: str, batches: int) -> None:
    """Submit batches one by one; what became of each goes to stdout, in one write."""
    store = open_store(where)
    for number in range(batches):
        try:
            store.submit([event(id_) for id_ in ids_of(f"b{number}")]).result()
            told = f"ACK b{number}\n"
        except FullrankError as error:
            told = f"{type(error).__name__} b{number} {error}\n"
        os.write(1, told.encode())
    store.close()


if __name__ == "__main__":
    submit_some(sys.argv[1], int(sys.argv[2]))
