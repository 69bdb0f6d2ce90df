"""Feedback taken in on SQLite, in batches of 100 events, against bare group commits of the same bytes.

The floor is one thread and one prepared statement: the rows that the store wrote, with the same indexes, log and sync,
in commits of as many events as the store's own had on average. It checks nothing, makes no JSON, knows no ids and
answers nobody. Both are measured in turn. Events are made before, as the service has them when it has parsed a request.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import tempfile
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.measure import best_times
from fullrank.serving import writer
from fullrank.serving.events import Action
from fullrank.serving.store import open_store

EVENTS, BATCH, CLIENTS = 50_000, 100, 8


def make(seed: int = 1) -> list[Action]:
    rng = random.Random(seed)
    return [
        Action(
            str(uuid.UUID(int=rng.getrandbits(128))),
            f"user-{rng.randrange(10_000)}",
            rng.randrange(20_000),
            "clicked",
            on=str(uuid.UUID(int=rng.getrandbits(128))),
            time=1_800_000_000 + number,
        )
        for number in range(EVENTS)
    ]


def ingest(path: Path, events: list[Action]) -> list[float]:
    """Clients that send a batch, wait for its receipt and send the next; how long each waited."""
    waits: list[float] = []

    def client(batches: list[list[Action]]) -> None:
        for batch in batches:
            start = time.perf_counter()
            store.submit(batch).result()
            waits.append(time.perf_counter() - start)

    batches = [events[start : start + BATCH] for start in range(0, len(events), BATCH)]
    with open_store(path) as store, ThreadPoolExecutor(CLIENTS) as pool:
        futures: list[Future[None]] = [pool.submit(client, batches[place::CLIENTS]) for place in range(CLIENTS)]
        for future in futures:
            future.result()
    return sorted(waits)


def commit_bare(empty: Path, path: Path, rows: list[tuple[Any, ...]], group: int) -> None:
    """The same rows into a copy of an empty store."""
    shutil.copy(empty, path)
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    insert = f"INSERT INTO fullrank_events VALUES ({','.join('?' * len(rows[0]))})"
    for start in range(0, len(rows), group):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, rows[start : start + group])
        connection.execute("COMMIT")
    connection.close()


def count_commits(path: Path, events: list[Action]) -> int:
    commits, real = [], writer.store_batches
    writer.store_batches = lambda *given: (commits.append(1), real(*given))[1]
    try:
        ingest(path, events)
    finally:
        writer.store_batches = real
    return len(commits)


def run() -> list[dict[str, object]]:
    events = make()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        open_store(folder / "empty.db").close()
        group = EVENTS // count_commits(folder / "first.db", events)
        reader = sqlite3.connect(folder / "first.db")
        rows = reader.execute("SELECT * FROM fullrank_events ORDER BY seq").fetchall()
        reader.close()
        waits: list[float] = []

        def ours() -> None:
            waits[:] = ingest(fresh(folder), events)

        def floor() -> None:
            commit_bare(folder / "empty.db", fresh(folder), rows, group)

        best = best_times({"ours": ours, "floor": floor})
    return [{
        "events": EVENTS, "batch": BATCH, "clients": CLIENTS, "events_a_commit": group,
        "events_a_second": EVENTS / best["ours"], "bare_events_a_second": EVENTS / best["floor"],
        "ratio": best["floor"] / best["ours"], "median_wait_ms": 1e3 * waits[len(waits) // 2],
        "p99_wait_ms": 1e3 * waits[int(len(waits) * 0.99)],
    }]  # fmt: skip


def fresh(folder: Path) -> Path:
    """A path where nothing is."""
    for path in folder.glob("run.db*"):
        path.unlink()
    return folder / "run.db"
