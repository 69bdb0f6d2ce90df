"""The store when things fail: killed, cut off, full, read-only, damaged, restored, its server gone."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from fullrank.errors import DataError, FullrankError, NotAllowedError, StorageError, StoreDownError
from fullrank.serving.events import Rating
from fullrank.serving.schema import events as table
from fullrank.serving.store import FeedbackStore, Receipt, open_store
from tests.serving.submitting import event, ids_of, submit_until_killed

SOURCE = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{SOURCE / 'src'}{os.pathsep}{SOURCE}"}
SUBMIT = [sys.executable, "-m", "tests.serving.submitting"]


def stored(store: FeedbackStore) -> list[str]:
    with store._database.reading() as connection:
        return list(connection.execute(select(table.c.event_id).order_by(table.c.seq)).scalars())


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def kill_writers(where: str, folder: Path, kills: int, seed: int) -> int:
    """Kill processes that write at random moments; how many batches they were told are stored."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.serving.submitting"])
    moments, told = random.Random(seed), folder / "acknowledged"
    acknowledged: set[str] = set()
    for number in range(kills):
        told.unlink(missing_ok=True)
        child = context.Process(target=submit_until_killed, args=(where, str(told), f"k{number}"))
        child.start()
        until(lambda: told.exists() and told.stat().st_size > 0)
        time.sleep(moments.uniform(0, 0.12))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        acknowledged |= set(told.read_text().split("\n")[1:-1])  # whole lines
        check_nothing_lost(where, acknowledged)
    return len(acknowledged)


def check_nothing_lost(where: str, acknowledged: set[str]) -> None:
    with open_store(where) as store:
        ids = stored(store)
        assert store.notes == ()
    kept = set(ids)
    assert len(kept) == len(ids)
    assert {id_ for batch in acknowledged for id_ in ids_of(batch)} <= kept
    whole = {id_ for batch in {id_.rpartition("-")[0] for id_ in kept} for id_ in ids_of(batch)}
    assert whole == kept  # a batch is there whole or not at all


def test_l1_nothing_acknowledged_is_lost_or_doubled_by_kills(where: str, tmp_path: Path) -> None:
    kills = 25 if "://" not in where else 8
    assert kill_writers(where, tmp_path, kills, seed=1) > kills
    with open_store(where) as store:
        assert store.verify() == []


@pytest.mark.everything
@pytest.mark.parametrize("seed", range(4))
def test_l1_many_kills(where: str, tmp_path: Path, seed: int) -> None:
    assert kill_writers(where, tmp_path, 125, seed=100 + seed) > 125
    with open_store(where) as store:
        assert store.verify() == []


@pytest.fixture
def strace() -> str:
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed")
    if subprocess.run([found, "-e", "trace=none", "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    return found


def traced(strace: str, where: Path, batches: int, *options: str) -> tuple[list[str], list[str], int]:
    """The system calls of a process that submits batches one by one, what it printed, and how it ended."""
    log = where.with_name("strace.log")
    command = [strace, "-f", "-y", "-s", "16", "-o", str(log), *options, *SUBMIT, str(where), str(batches)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE, env=ENVIRONMENT, check=False)
    return log.read_text(errors="replace").splitlines(), done.stdout.splitlines(), done.returncode


def test_l3_a_sync_returns_before_the_acknowledgement(strace: str, tmp_path: Path) -> None:
    calls = "trace=fdatasync,fsync,pwrite64,write"
    lines, printed, _ = traced(strace, tmp_path / "f.db", 20, "-e", calls)
    assert printed == [f"ACK b{n}" for n in range(20)]
    acknowledged, written, synced = 0, False, False
    for line in lines:
        if "pwrite64(" in line and "f.db-wal>" in line:
            written, synced = True, False
        elif re.search(r"f(data)?sync(\(\d+<[^>]*f\.db-wal>\)| resumed>\)) += 0", line):
            synced = True
        elif re.search(r'write\(1<[^>]*>, "ACK', line):
            assert written, line
            assert synced, line
            written = synced = False
            acknowledged += 1
    assert acknowledged == 20


def test_l5_a_sync_that_fails_is_never_acknowledged_nor_tried_again(strace: str, tmp_path: Path) -> None:
    where = tmp_path / "f.db"
    every = "inject=fdatasync,fsync:error=EIO:when=12+"
    _, printed, _ = traced(strace, where, 40, "-e", "trace=fdatasync,fsync", "-e", every)
    acknowledged = [line.split()[1] for line in printed if line.startswith("ACK")]
    failed = [line for line in printed if not line.startswith("ACK")]
    assert acknowledged
    assert printed == [f"ACK {batch}" for batch in acknowledged] + failed  # nothing after the first failure
    assert failed
    assert all(line.startswith("StoreDownError") and "the disk failed" in line for line in failed)
    check_nothing_lost(str(where), set(acknowledged))


@pytest.mark.everything
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync", "openat", "ftruncate", "unlink"])
def test_l2_killed_at_each_call(strace: str, tmp_path: Path, call: str) -> None:
    """The N-th call of a kind on one of its files is the last thing the process does, for every N up to its end."""
    number, code = 0, 1
    while code:
        number += 1
        where = tmp_path / f"{number}" / "f.db"
        where.parent.mkdir()
        paths = [part for suffix in ("", "-wal", "-shm", ".lock", ".last") for part in ("-P", f"{where}{suffix}")]
        options = (*paths, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}")
        _, printed, code = traced(strace, where, 8, *options)
        check_nothing_lost(str(where), {line.split()[1] for line in printed if line.startswith("ACK")})
        shutil.rmtree(where.parent)
        assert number < 400
    assert number > 1, "it was never killed"
    assert len(printed) == 8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("no disk of its own can be mounted here (it needs root)")
    yield disk
    subprocess.run(["umount", disk], check=True)


def submit_until_refused(store: FeedbackStore, prefix: str = "") -> tuple[list[str], FullrankError]:
    acknowledged: list[str] = []
    for number in range(20_000):
        batch = [Rating(f"{prefix}{number}-{n}", "ann", "x" * 100, 1.0) for n in range(20)]
        try:
            store.submit(batch).result()
            acknowledged += [one.event_id for one in batch]
        except FullrankError as error:
            return acknowledged, error
    raise AssertionError("the disk never was full")


def test_l4_a_full_disk_acknowledges_nothing_and_goes_on_when_there_is_space(small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 400_000)
    with open_store(small_disk / "f.db") as store:
        acknowledged, error = submit_until_refused(store)
        assert isinstance(error, StorageError)
        assert "no space left" in str(error)
        offered = store.offer("r", "ann", ["tea"], "m", "v")  # waits, nobody sends it again
        assert not store.status().ready
        assert stored(store) == acknowledged  # reading goes on
        filler.unlink()
        until(lambda: store.status().ready)  # by itself
        assert offered.result() == [Receipt("r", "stored")]
        assert store.submit([event("later")]).result() == [Receipt("later", "stored")]
        assert stored(store) == [*acknowledged, "r", "later"]
        assert store.verify() == []


def test_l4_a_file_that_may_not_grow_is_the_same(tmp_path: Path) -> None:
    """For those who are not root: the system's limit of the size of files, in a process of its own."""
    code = """
import resource, sys
from tests.serving.test_store_faults import *
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
with open_store(sys.argv[1]) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    acknowledged, error = submit_until_refused(store)
    assert isinstance(error, StorageError) and not isinstance(error, StoreDownError), error
    assert stored(store) == acknowledged
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    until(lambda: store.status().ready)
    store.submit([event("later")]).result()
    assert stored(store) == [*acknowledged, "later"]
    assert store.verify() == []
"""
    command = [sys.executable, "-c", code, str(tmp_path / "f.db")]
    done = subprocess.run(command, cwd=SOURCE, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def filled(where: str | Path, events: int = 400) -> None:
    with open_store(where) as store:
        store.submit([Rating(f"e{n}", f"user{n % 10}", "x" * 50, 1.0) for n in range(events)]).result()


def test_l6_flipped_bytes_are_found_and_named(tmp_path: Path) -> None:
    where = tmp_path / "f.db"
    filled(where)
    whole = where.read_bytes()
    found = 0
    for place in range(600, len(whole), len(whole) // 60):
        where.write_bytes(whole[:place] + bytes([whole[place] ^ 0x15]) + whole[place + 1 :])
        try:
            with open_store(where, read_only=True) as store:
                damaged = store.verify()
        except FullrankError as error:
            damaged = [str(error)]
        found += bool(damaged)
        assert all(str(where) in line or "store" in line for line in damaged)
        unused = where.read_bytes()[place] ^ 0x15 == 0 and not damaged  # a byte of a page that holds nothing
        assert damaged or unused, f"the flipped byte {place} of {len(whole)} was not noticed"
    assert found > 20


def test_l6_a_store_that_lost_its_last_events_says_so(tmp_path: Path) -> None:
    """The log is cut off: the database alone would go on as if they had never been."""
    where = tmp_path / "f.db"
    store = open_store(where)
    store.submit([event("a")]).result()
    shutil.copy(where.with_name("f.db-wal"), tmp_path / "log")
    cut = (tmp_path / "log").stat().st_size
    store.submit([event("b"), event("c")]).result()
    for suffix in ("", "-wal", ".last"):
        shutil.copy(f"{where}{suffix}", f"{tmp_path / 'g.db'}{suffix}")
    store.close()
    os.truncate(tmp_path / "g.db-wal", cut)
    told = "the events numbered 2 to 3 were acknowledged and are missing"
    with open_store(tmp_path / "g.db", read_only=True) as cut_off:
        assert [line for line in cut_off.verify() if told in line]
    with open_store(tmp_path / "g.db") as cut_off:
        assert told in cut_off.notes[0]
        assert stored(cut_off) == ["a"]
        cut_off.submit([event("d")]).result()
        assert [line for line in cut_off.verify() if told in line]  # and stays said


def test_l6_a_file_that_is_cut_off_is_refused_or_named(tmp_path: Path) -> None:
    where = tmp_path / "f.db"
    filled(where)
    whole = where.read_bytes()
    for size in (50, 4096, len(whole) // 2, len(whole) - 100):
        where.write_bytes(whole[:size])
        try:
            with open_store(where, read_only=True) as store:
                assert store.verify()
            continue
        except DataError as error:
            told = str(error)
        assert str(where) in told


def files_with(folder: Path, word: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_file() and word in path.read_bytes()]


def test_l12_after_compaction_nothing_of_the_person_is_in_any_file(tmp_path: Path) -> None:
    where, name = tmp_path / "f.db", "Zaphod Beeblebrox"
    with open_store(where) as store:
        for number in range(50):
            store.offer(f"rec-{number}", name, ["tea"], "m", "v")
            store.submit([Rating(f"by-Zaphod-{number}", name, "tea", 1.0), Rating(f"e{number}", "ann", "jam", 2.0)])
        assert store.forget("ann nobody") == 0
        assert files_with(tmp_path, b"Zaphod")
        assert store.forget(name) == 100
        store.compact()
        assert files_with(tmp_path, b"Zaphod") == []
        assert len(stored(store)) == 50
    assert files_with(tmp_path, b"Zaphod") == []


def test_l12_a_compaction_that_was_killed_is_finished_by_the_next(strace: str, tmp_path: Path) -> None:
    where = tmp_path / "f.db"
    filled(where)
    code = """
import sys
from fullrank.serving.store import open_store
store = open_store(sys.argv[1])
store.forget("user3")
store.compact()
"""
    inject = "inject=pwrite64:signal=SIGKILL:when=40"
    command = [
        strace,
        "-f",
        "-o",
        "/dev/null",
        "-e",
        "trace=pwrite64",
        "-e",
        inject,
        sys.executable,
        "-c",
        code,
        str(where),
    ]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode != 0, "it was not killed"
    with open_store(where) as store:
        assert store.verify() == []
        store.forget("user3")
        store.compact()
        assert len(stored(store)) == 360
    assert files_with(tmp_path, b"user3") == []


def test_l13_a_restored_copy_does_not_bring_anybody_back(tmp_path: Path) -> None:
    where, copy = tmp_path / "f.db", tmp_path / "copy"
    filled(where)
    shutil.copy(where, copy)
    with open_store(where) as store:
        assert store.forget("user3") == 40
        store.submit([Rating("new", "user3", "tea", 1.0)]).result()  # a new person
    shutil.copy(copy, where)
    with open_store(where) as store:
        assert any("40 events of people who were forgotten had come back" in note for note in store.notes)
        assert len(stored(store)) == 360
        assert store.submit([Rating("new", "user3", "tea", 1.0)]).result() == [Receipt("new", "stored")]
    with open_store(where) as store:  # who came after the deletion stays
        assert store.notes == ()
        assert "new" in stored(store)
        store.forget("user3")
        store.compact()
    assert files_with(tmp_path, b"user3") == ["copy"]


def test_l13_with_a_file_of_its_own_a_server_remembers_too(server: Any, tmp_path: Path) -> None:
    """The tables are put back as they were before the deletion; the file is not."""
    address, forgotten = server.new_database(), tmp_path / "forgotten"
    filled(address)
    with open_store(address, forgotten=forgotten) as store:
        with store._database.reading() as connection:
            before = [dict(row) for row in connection.execute(select(table)).mappings()]
        store.forget("user3")
    name = address.rpartition("/")[2]
    server.execute("TRUNCATE fullrank_events, fullrank_forgotten", name)
    with open_store(address) as store, store._database.writing() as connection:
        connection.execute(table.insert(), before)
    with open_store(address, forgotten=forgotten) as store:
        assert "40 events of people who were forgotten" in store.notes[0]
        assert len(stored(store)) == 360


def test_a_damaged_list_of_the_forgotten_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "f.db")
    (tmp_path / "f.db.forgotten").write_text("nonsense\n")
    with pytest.raises(DataError, match="who was forgotten cannot be read"):
        open_store(tmp_path / "f.db")


@pytest.fixture
def shut(tmp_path: Path) -> Iterator[Path]:
    """A store in a folder that nobody may write to, not even root."""
    folder = tmp_path / "shut"
    folder.mkdir()
    root = os.getuid() == 0
    if root and subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False).returncode:
        pytest.skip("root may write everywhere, and no disk of its own can be mounted here")
    filled(folder / "f.db")
    shutting, opening = (["mount", "-o", "remount,ro"], ["umount"]) if root else (["chmod", "555"], ["chmod", "755"])
    subprocess.run([*shutting, folder], check=True)
    yield folder / "f.db"
    subprocess.run([*opening, folder], check=True)


def test_l15_a_folder_that_is_read_only(shut: Path) -> None:
    with pytest.raises(NotAllowedError, match="no permission to write") as refused:
        open_store(shut)
    assert refused.value.exit_code == 77
    with open_store(shut, read_only=True) as store:
        assert store.count() == 400
        assert store.verify() == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "as if its machine had failed"])
def test_a_server_that_goes_and_comes_back(server: Any, how: signal.Signals) -> None:
    with open_store(server.new_database()) as store:
        store.submit([event("a")]).result()
        server.stop(how)
        try:
            with pytest.raises(StoreDownError):
                store.submit([event("b")]).result()
            assert not store.status().ready
            offered = store.offer("r", "ann", ["tea"], "m", "v")
            with pytest.raises(StoreDownError):
                store.count()
            assert not offered.done()
        finally:
            server.start()
        until(lambda: store.status().ready)
        assert offered.result() == [Receipt("r", "stored")]
        assert store.submit([event("a"), event("b")]).result() == [Receipt("a", "known"), Receipt("b", "stored")]
        assert stored(store) == ["a", "r", "b"]


def test_a_store_that_cannot_be_written_at_close_says_so_to_whoever_waits(server: Any) -> None:
    store = open_store(server.new_database())
    server.stop()
    try:
        with pytest.raises(StoreDownError):
            store.submit([event("a")]).result()
        offered = store.offer("r", "ann", ["tea"], "m", "v")
        store.close()
        assert isinstance(offered.exception(timeout=10), StoreDownError)
    finally:
        server.start()


def test_what_the_server_refuses_is_told(server: Any) -> None:
    address = server.new_database()
    with pytest.raises(StoreDownError, match="does not exist"):
        open_store(address.replace("/test", "/none"))
    server.execute("CREATE ROLE guest LOGIN")
    with pytest.raises(NotAllowedError, match="permission denied"):
        open_store(address.replace("fullrank@", "guest@"))
