"""The store of feedback on both databases: stored once, whole, in order; forgotten for good."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import func, select, text, update

import fullrank
from fullrank.errors import (
    ConfigError,
    ConflictError,
    DataError,
    LockedError,
    NoInputError,
    NotAllowedError,
    OutputError,
    ParameterError,
    StoreBusyError,
    StoreDownError,
)
from fullrank.serving import schema, writer
from fullrank.serving.events import Action, Event, Preference, Rating, Session, Shown
from fullrank.serving.export_files import write_export
from fullrank.serving.schema import events as table
from fullrank.serving.store import FeedbackStore, Receipt, open_store


def clicks(*ids: str, user: int | str = "ann") -> list[Event]:
    return [Action(id_, user, "tea", "clicked") for id_ in ids]


def rows(store: FeedbackStore) -> list[Any]:
    with store._database.reading() as connection:
        return list(connection.execute(select(table).order_by(table.c.seq)).all())


def frame(store: FeedbackStore, *arguments: Any, **more: Any) -> pl.DataFrame:
    return pl.concat(list(store.export(*arguments, **more)))


def test_an_event_is_stored_once_also_across_a_restart(where: str) -> None:
    with open_store(where) as store:
        assert store.submit(clicks("a", "b")).result() == [Receipt("a", "stored"), Receipt("b", "stored")]
        assert store.submit(clicks("b", "c")).result() == [Receipt("b", "known"), Receipt("c", "stored")]
        assert store.submit(clicks("d", "d")).result() == [Receipt("d", "stored"), Receipt("d", "known")]
        before = rows(store)
    with open_store(where) as store:
        assert store.submit(clicks("a", "c", "d")).result() == [Receipt(id_, "known") for id_ in "acd"]
        assert rows(store) == before
        assert [row.event_id for row in before] == ["a", "b", "c", "d"]
        assert [row.seq for row in before] == [1, 2, 3, 4]


def test_another_body_under_a_known_id_fails_its_whole_batch_and_no_other(where: str) -> None:
    with open_store(where) as store:
        store.submit(clicks("a")).result()
        futures = [
            store.submit(clicks("b")),
            store.submit([*clicks("c"), *clicks("a", user="bob")]),
            store.submit(clicks("d")),
        ]
        with pytest.raises(ConflictError, match="the event 'a' is kept with other content"):
            futures[1].result()
        with pytest.raises(ConflictError, match="'e'"):
            store.submit([*clicks("e"), *clicks("e", user=7)]).result()
        wait(futures)
        assert [row.event_id for row in rows(store)] == ["a", "b", "d"]
        assert store.submit(clicks("c", "e")).result() == [Receipt("c", "stored"), Receipt("e", "stored")]


def test_the_integer_7_is_not_the_string_7(where: str) -> None:
    with open_store(where) as store:
        store.submit([Rating("a", 7, "x", 1.0)]).result()
        with pytest.raises(ConflictError):
            store.submit([Rating("a", "7", "x", 1.0)]).result()
        store.submit([Rating("b", "7", "x", 1.0)]).result()
        assert store.forget("7") == 1
        assert [row.event_id for row in rows(store)] == ["a"]


def test_eight_threads_are_committed_in_groups(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[int] = []
    real = writer.store_batches
    monkeypatch.setattr(
        writer, "store_batches", lambda connection, batches: (groups.append(len(batches)), real(connection, batches))[1]
    )
    with open_store(where) as store:

        def work(thread: int) -> None:
            futures = [store.submit(clicks(f"{thread}-{n}", f"all-{n}")) for n in range(20)]
            assert all(len(future.result()) == 2 for future in futures)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ids = [row.event_id for row in rows(store)]
    assert len(ids) == len(set(ids)) == 8 * 20 + 20
    assert sum(groups) == 160
    assert len(groups) < 160


def test_a_full_queue_refuses_and_stores_what_it_took(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_WAITING", 10)
    with open_store(where) as store:
        held = threading.Event()
        store._writer.put(writer.Task(work=held.wait))  # type: ignore[union-attr]
        taken = store.submit(clicks(*"abcdefgh"))
        with pytest.raises(StoreBusyError, match="wait to be written; send this again"):
            store.submit(clicks(*"ijk"))
        offered = store.offer("r", "ann", list(range(1, 4)), "m", "v")
        late = [store.offer(f"r{n}", "ann", [1], "m", "v") for n in range(3)]
        assert store.status().waiting == 10
        held.set()
        assert len(taken.result()) == 8
        assert offered.result() == [Receipt("r", "stored")]
        assert isinstance(late[-1].exception(), StoreBusyError)
        assert store.submit(clicks(*"ijk")).result()


def test_the_bytes_that_wait_are_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_BYTES", 3000)
    with open_store(tmp_path / "f.db") as store:
        held = threading.Event()
        store._writer.put(writer.Task(work=held.wait))  # type: ignore[union-attr]
        large = [Shown("s", "ann", tuple("x" * 200 + str(n) for n in range(9)))]
        taken = store.submit(large)
        with pytest.raises(StoreBusyError):
            store.submit(large)
        with pytest.raises(ParameterError, match="a batch of at most 3000 bytes"):
            store.submit(large * 2)
        held.set()
        assert taken.result() == [Receipt("s", "stored")]


def test_what_was_offered_comes_before_what_was_done_on_it(where: str) -> None:
    with open_store(where) as store:
        futures: list[Future[Any]] = []
        for n in range(30):
            futures.append(store.offer(f"r{n}", "ann", ["tea", "jam"], "ials", "v1", arm="b"))
            futures.append(store.submit([Action(f"a{n}", "ann", "tea", "clicked", on=f"r{n}")]))
        wait(futures)
        kinds = [row.kind for row in rows(store)]
        assert kinds == ["offer", "action"] * 30
        body = json.loads(rows(store)[0].body)
    assert body == {
        "kind": "offer", "recommendation_id": "r0", "user": "ann", "items": ["tea", "jam"], "model": "ials",
        "version": "v1", "arm": "b",
    }  # fmt: skip


def test_a_list_and_an_event_may_have_the_same_id(where: str) -> None:
    with open_store(where) as store:
        assert store.offer("a", "ann", ["tea"], "m", "v").result() == [Receipt("a", "stored")]
        assert store.submit(clicks("a")).result() == [Receipt("a", "stored")]


def test_an_event_that_is_none_is_refused_before_it_waits(where: str) -> None:
    with open_store(where) as store:
        for wrong in (Rating("a", "ann", "x", float("nan")), Rating("a", "an\0n", "x", 1.0), "shown"):
            with pytest.raises(DataError):
                store.submit([*clicks("z"), wrong])  # type: ignore[list-item]
        for wrong in ({"model": "m\0"}, {"version": 1}, {"arm": "\ud800"}, {"items": []}):
            with pytest.raises(DataError):
                store.offer(
                    **{"recommendation_id": "r", "user": 1, "items": [1], "model": "m", "version": "v", **wrong}
                )  # type: ignore[arg-type]
        assert store.submit([]).result() == []
        assert store.count() == 0


def test_the_server_s_time_stands_beside_the_client_s(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks go back and forth: order is by number, a client more than a day ahead is flagged and not believed."""
    now = 1_800_000_000
    with open_store(where) as store:
        for id_, moment, said in (("a", now, now + 86_399), ("b", now - 3600, now + 365 * 86_400), ("c", now, None)):
            monkeypatch.setattr("fullrank.serving.commits.time.time_ns", lambda moment=moment: moment * 10**9)
            store.submit([Action(id_, "ann", id_, "clicked", time=said)]).result()
        assert [(row.event_id, row.received // 10**6, row.ahead) for row in rows(store)] == [
            ("a", now, 0), ("b", now - 3600, 1), ("c", now, 0),
        ]  # fmt: skip
        seconds = frame(store, "events")["time"].dt.epoch("s").to_list()
        assert seconds == [now + 86_399, now - 3600, now]


def test_forgetting_deletes_now_and_a_new_person_may_come(where: str) -> None:
    with open_store(where) as store:
        store.offer("r", "ann", ["tea"], "m", "v")
        store.submit([*clicks("a", "b"), *clicks("c", user="bob")])
        assert store.forget("ann") == 3
        assert store.forget("ann") == 0
        assert store.submit(clicks("a")).result() == [Receipt("a", "stored")]
    with open_store(where) as store:
        assert store.notes == ()
        assert [row.event_id for row in rows(store)] == ["c", "a"]
        assert store.verify() == []


def test_forgetting_while_others_write_is_in_the_order_of_calls(where: str) -> None:
    with open_store(where) as store:
        before = store.submit(clicks("a"))
        gone = store.forget("ann")
        after = store.submit(clicks("b"))
        assert (gone, before.result(), after.result()) == (1, [Receipt("a", "stored")], [Receipt("b", "stored")])
        assert [row.event_id for row in rows(store)] == ["b"]


def test_compacting_keeps_everything_else(where: str) -> None:
    with open_store(where) as store:
        store.submit([*clicks("a"), *clicks("b", user="bob")])
        store.forget("ann")
        store.compact()
        assert [row.event_id for row in rows(store)] == ["b"]
        assert store.submit(clicks("c")).result() == [Receipt("c", "stored")]
        assert store.verify() == []


def test_damage_is_named(where: str) -> None:
    with open_store(where) as store:
        store.submit(clicks("a", "b", "c")).result()
        assert store.verify() == []
        with store._database.writing() as connection:
            other = update(table).where(table.c.event_id == "b")
            connection.execute(other.values(body=func.replace(table.c.body, "tea", "jam")))
        assert store.verify() == [f"{store._database.name}: the event 'b' (number 2) is not what was stored."]
        with pytest.raises(DataError, match=r"the event 'b' \(number 2\) is damaged; run 'fullrank feedback verify'"):
            frame(store, "events")  # nothing damaged is taken for feedback


def test_a_store_of_a_newer_version_is_refused(where: str) -> None:
    with open_store(where) as store, store._database.writing() as connection:
        connection.execute(update(schema.state).values(version=99))
    for read_only in (False, True):
        with pytest.raises(DataError, match=f"version 99, this fullrank knows versions up to {schema.VERSION}"):
            open_store(where, read_only=read_only)


def test_a_migration_is_whole_or_not_at_all(where: str) -> None:
    def grow(connection: Any) -> None:
        connection.execute(text("ALTER TABLE fullrank_events ADD COLUMN mood TEXT"))
        connection.execute(text("CREATE TABLE fullrank_moods (mood TEXT)"))

    def fail(connection: Any) -> None:
        raise RuntimeError("killed in the middle")

    with open_store(where) as store:
        store.submit(clicks("a")).result()
        database = store._database
        with pytest.raises(RuntimeError), database.writing() as connection:
            schema.migrate(connection, "x", [*schema.STEPS, grow, fail])
        assert rows(store)[0].event_id == "a"
        with database.reading() as connection:
            assert schema.find_version(connection, "x") == schema.VERSION
        for _ in range(2):  # once, and the second time it is done already
            with database.writing() as connection:
                schema.migrate(connection, "x", [*schema.STEPS, grow])
        with database.reading() as connection:
            assert connection.execute(text("SELECT mood FROM fullrank_events")).all() == [(None,)]
            assert schema.find_version(connection, "x") == schema.VERSION + 1


def test_reading_only(where: str) -> None:
    with open_store(where) as store:
        store.submit(clicks("a")).result()
        with open_store(where, read_only=True) as reader:  # beside the one that writes
            assert reader.count() == 1
            assert reader.read_only
            assert reader.verify() == []
            for change in (lambda: reader.submit(clicks("b")), lambda: reader.forget("ann"), reader.compact):
                with pytest.raises(NotAllowedError, match="read only"):
                    change()


def test_a_closed_store_takes_nothing_and_has_written_what_waited(where: str) -> None:
    store = open_store(where)
    futures = [store.submit(clicks(str(n))) for n in range(50)]
    store.close()
    assert all(future.done() and future.result() for future in futures)
    with pytest.raises(StoreDownError, match="closed"):
        store.submit(clicks("z"))
    assert isinstance(store.offer("r", "ann", [1], "m", "v").exception(), StoreDownError)


def test_an_answer_that_nobody_waits_for_any_more_does_no_harm(where: str) -> None:
    with open_store(where) as store:
        held = threading.Event()
        store._writer.put(writer.Task(work=held.wait))  # type: ignore[union-attr]
        gone = store.submit(clicks("a"))
        assert gone.cancel()
        held.set()
        assert store.submit(clicks("b")).result() == [Receipt("b", "stored")]
        assert [row.event_id for row in rows(store)] == ["b"]


def fill(store: FeedbackStore) -> None:
    """Lists of the service, lists shown by themselves, whole sessions, and everything else."""
    store.offer("r1", "ann", ["a", "b", "c"], "m", "v")
    store.offer("r2", "bob", ["a", "b"], "m", "v")
    store.submit([
        Action("1", "ann", "b", "bought", "r1"), Action("2", "ann", "b", "clicked", "r1"),
        Shown("s1", "ann", ("b", "c"), "r1"),  # of r1 only these two were seen
        Action("3", "ann", "c", "clicked", "s1"),
        Shown("s2", "cat", ("x", "y")), Action("4", "cat", "y", "bought", "s2"),
        Shown("s3", "cat", ("x",), "not ours"), Shown("s4", "cat", ("y",), "not ours"),
        Action("5", "cat", "y", "clicked", "s4"), Action("6", "cat", "x", "bought", "not ours"),
        Session("7", "dan", (("a", "clicked"), ("b", "shown"))),
        Action("8", "eve", "a", "clicked", "r2"), Action("9", "bob", "z", "clicked", "r2"),
        Action("10", "bob", "a", "clicked"), Action("11", "bob", "a", "clicked", "nowhere"),
        Preference("12", "ann", "a", "b"), Rating("13", "ann", "a", 4.5, time=1_000_000_000),
    ]).result()  # fmt: skip


EXPECTED = {
    ("r1", "ann", "b", "bought"), ("r1", "ann", "c", "clicked"), ("r2", "bob", "a", "shown"),
    ("r2", "bob", "b", "shown"), ("s2", "cat", "x", "shown"), ("s2", "cat", "y", "bought"),
    ("not ours", "cat", "x", "bought"), ("not ours", "cat", "y", "clicked"), ("7", "dan", "a", "clicked"),
    ("7", "dan", "b", "shown"),
}  # fmt: skip


def test_a_list_with_what_was_done_on_it_is_a_session(where: str) -> None:
    with open_store(where) as store:
        fill(store)
        export = store.export()
        made = pl.concat(list(export))
        assert made.columns == ["session", "user", "item", "action"]
        assert made.height == len(EXPECTED) == export.rows
        assert set(made.rows()) == EXPECTED
        assert export.left_out == {
            "actions of somebody else than the list was shown to": 1, "actions on items that the list did not show": 1,
            "actions on no list": 1, "actions on lists that are not here": 1,
        }  # fmt: skip
        assert frame(store, "ratings").rows()[0][:3] == ("ann", "a", 4.5)
        assert frame(store, "preferences").rows() == [("ann", "a", "b")]
        assert frame(store, "events").height == 11


def test_batches_of_any_size_give_the_same_sessions(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(where) as store:
        fill(store)
        for size in (1, 2, 5):
            monkeypatch.setattr("fullrank.serving.exporting.HEADS", size)
            monkeypatch.setattr("fullrank.serving.exporting.BATCH", size)
            monkeypatch.setattr("fullrank.serving.sessions.AT_ONCE", size)
            assert set(frame(store).rows()) == EXPECTED
            assert frame(store, "events").height == 11


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv.gz", ".csv.zst"])
def test_readers_take_every_export_as_it_is(tmp_path: Path, suffix: str) -> None:
    with open_store(tmp_path / "f.db") as store:
        fill(store)
        for kind in ("sessions", "events", "preferences", "ratings"):
            write_export(store.export(kind), tmp_path / f"{kind}{suffix}")
    sessions = fullrank.read_sessions(tmp_path / f"sessions{suffix}", scale=("shown", "clicked", "bought"))
    assert (len(sessions), len(sessions.item)) == (5, 10)
    assert sorted(sessions.grade.tolist()) == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert len(fullrank.read_events(tmp_path / f"events{suffix}")) == 11
    assert len(fullrank.read_preferences(tmp_path / f"preferences{suffix}")) == 1
    ratings = fullrank.read(tmp_path / f"ratings{suffix}")
    assert (ratings.kind, str(ratings.time)) == ("ratings", "['2001-09-09T01:46:40.000000']")


def test_actions_off_the_scale_are_refused_by_name(where: str) -> None:
    with open_store(where) as store:
        store.submit(
            [Shown("s", 1, (5, 6)), Action("a", 1, 5, "dismissed", "s"), Action("b", 1, 6, "liked", "s")]
        ).result()
        with pytest.raises(DataError, match="'dismissed' of the event 'a' is not on the scale shown, clicked, bought"):
            frame(store)
        scale = ("dismissed", "shown", "liked")
        assert set(frame(store, scale=scale).rows()) == {("s", 1, 5, "dismissed"), ("s", 1, 6, "liked")}
        taken = store.export("events", scale=scale)
        assert pl.concat(list(taken))["item"].to_list() == [6]
        assert list(taken.left_out.values()) == [1]


def test_mixed_ids_are_refused_or_made_text(where: str) -> None:
    with open_store(where) as store:
        store.submit(
            [Preference("a", 7, "x", "y"), Preference("b", "7", "x", "y"), Preference("c", 7, 1, "y")]
        ).result()
        with pytest.raises(DataError, match="users are integers and strings"):
            frame(store, "preferences")
        assert frame(store, "preferences", ids="text")["user"].to_list() == ["7", "7", "7"]


def test_since_is_by_the_server_s_clock(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(where) as store:
        for id_, day in (("a", 1), ("b", 2), ("c", 3)):
            monkeypatch.setattr("fullrank.serving.commits.time.time_ns", lambda day=day: day * 86_400 * 10**9)
            store.submit([Rating(id_, "ann", id_, 1.0)]).result()
        assert frame(store, "ratings", "1970-01-03")["item"].to_list() == ["b", "c"]
        assert frame(store, "ratings", 3 * 86_400)["item"].to_list() == ["c"]
        with pytest.raises(ParameterError, match="since"):
            store.export("ratings", "tomorrow")


def test_an_empty_store_has_empty_tables(where: str) -> None:
    with open_store(where) as store:
        assert [frame(store, kind).columns for kind in ("sessions", "events")] == [
            ["session", "user", "item", "action"], ["user", "item", "time"],
        ]  # fmt: skip
        assert frame(store).height == 0
        for wrong in ({"kind": "session"}, {"ids": "all"}, {"scale": ["a", "a"]}, {"scale": ["clicked"]}):
            with pytest.raises(ParameterError):
                store.export(**wrong)  # type: ignore[arg-type]


def test_two_sessions_of_one_name_are_not_merged(where: str) -> None:
    with open_store(where) as store:
        store.offer("a", "ann", ["tea"], "m", "v")
        store.submit([Shown("a", "ann", ("jam",))]).result()
        with pytest.raises(DataError, match="two sessions are called 'a'"):
            frame(store)


def test_a_second_server_on_the_same_file_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "f.db") as store, pytest.raises(LockedError, match="locked by process") as refused:
        open_store(tmp_path / "f.db")
    assert refused.value.exit_code == 75
    assert store.status().ready
    open_store(tmp_path / "f.db").close()


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "f.db") as store:
        store.submit(clicks("a")).result()
        assert [(tmp_path / f"f.db{suffix}").stat().st_mode & 0o077 for suffix in ("", "-wal", "-shm")] == [0, 0, 0]


def test_two_servers_share_postgresql(server: Any) -> None:
    address = server.new_database()
    opened: list[FeedbackStore] = []
    threads = [threading.Thread(target=lambda: opened.append(open_store(address))) for _ in range(3)]  # at once
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    futures = [store.submit(clicks(f"{n}", f"{place}-{n}")) for n in range(30) for place, store in enumerate(opened)]
    statuses = [receipt.status for future in futures for receipt in future.result()]
    assert statuses.count("stored") == 30 + 90
    assert len(rows(opened[0])) == 120
    for store in opened:
        store.close()


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("mysql://x/y", ConfigError),
        ("postgresql://ann:secret@127.0.0.1/x", ConfigError),
        ("postgresql+psycopg://ann:secret@127.0.0.1:x/", ConfigError),
        ("postgresql+psycopg://ann:secret@127.0.0.1:1/x", StoreDownError),
    ],
)
def test_an_address_that_is_none_is_refused_without_its_password(address: str, error: type[Exception]) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(error) as refused:
        open_store(address)
    assert "secret" not in str(refused.value)


def test_paths_that_are_no_store(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("user,item\n" * 500)
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE shop (id)")
    connection.close()
    for path, error in (
        (tmp_path, OutputError), (tmp_path / "no" / "f.db", OutputError), (tmp_path / "text.db", DataError),
        (tmp_path / "other.db", DataError),
    ):  # fmt: skip
        with pytest.raises(error):
            open_store(path)
    with pytest.raises(NoInputError):
        open_store(tmp_path / "none.db", read_only=True)
    assert (tmp_path / "text.db").read_text() == "user,item\n" * 500
    for name in ("with space and #?%20.db", "line\nbreak.db", "-f.db", "\udcff.db"):
        open_store(tmp_path / name).close()
        assert (tmp_path / name).exists()


def test_importing_fullrank_does_not_import_the_service() -> None:
    import subprocess
    import sys

    code = "import fullrank, fullrank.cli.main, sys; assert not {'sqlalchemy', 'fullrank.serving'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_pause_without_events_costs_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "f.db") as store:
        store.submit(clicks("a")).result()
        before = (tmp_path / "f.db-wal").stat().st_mtime_ns
        time.sleep(0.05)
        assert (tmp_path / "f.db-wal").stat().st_mtime_ns == before
