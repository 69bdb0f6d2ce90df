"""fullrank feedback as somebody types it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fullrank
from fullrank.cli.main import main
from fullrank.serving.events import Action, Event, Rating, Shown
from fullrank.serving.store import open_store


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "feedback.db"
    with open_store(path) as opened:
        opened.submit([
            Shown("s", 7, ("tea", "jam")), Action("a", 7, "tea", "bought", "s"), Action("b", "ann", "tea", "clicked"),
            Rating("r", "7", "tea", 4.0),
        ]).result()  # fmt: skip
    return path


def test_export_says_what_it_wrote_and_what_it_left_out(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "feedback", "export", store, "-o", "sessions.parquet", "--json")
    assert code == 0
    assert json.loads(out) == {
        "file": "sessions.parquet", "kind": "sessions", "rows": 2, "columns": "session, user, item, action",
        "left_out": {"actions on no list": 1},
    }  # fmt: skip
    assert err == "left out: 1 actions on no list\n"
    assert pl.read_parquet("sessions.parquet").rows() == [("s", 7, "tea", "bought"), ("s", 7, "jam", "shown")]
    code, out, _ = run(capfd, "feedback", "export", store, "-o", "r.csv", "--kind", "ratings", "--since", "2020-01-01")
    assert (code, out.split()[:2]) == (0, ["file", "r.csv"])


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        (["export", "feedback.db", "-o", "x.parquet", "--kind", "session"], 2, "Did you mean 'sessions'"),
        (["export", "feedback.db", "-o", "x.xlsx"], 2, "cannot tell a format"),
        (["export", "feedback.db", "-o", "there.csv"], 73, "exists"),
        (["export", "feedback.db", "-o", "x.csv", "--kind", "events"], 65, "--ids text"),
        (["export", "feedback.db", "-o", "x.csv", "--since", "soon"], 2, "no date"),
        (["export", "feedback.db", "-o", "x.csv", "--scale", "shown,clicked"], 65, "--scale shown,clicked,bought"),
        (["export", "none.db", "-o", "x.csv"], 66, "no such store"),
        (["verify", "none.db"], 66, "no such store"),
        (["forget", "none.db", "--user", "7"], 66, "no such store"),
        (["verify", "there.csv"], 65, "damaged, or no store"),
        (["forget", "feedback.db"], 2, "--user"),
        (["verify", "mysql://x"], 78, "postgresql+psycopg"),
    ],
)
def test_refusals(
    store: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], expected: int, message: str
) -> None:
    Path("there.csv").write_text("x" * 5000)
    before = sorted(path.name for path in store.parent.iterdir())
    code, out, err = run(capfd, "feedback", *arguments)
    assert (code, out) == (expected, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    made = {path.name for path in store.parent.iterdir()} - set(before)
    assert not [name for name in made if not name.startswith("feedback.db")]


def test_forget_and_compact_and_verify(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, "feedback", "verify", store, "--json")[:2] == (0, '{\n "store": "whole",\n "events": 4,\n "damaged": []\n}\n')  # fmt: skip # noqa: E501
    code, out, _ = run(capfd, "feedback", "forget", store, "--user", "7", "--json")
    assert (code, json.loads(out)) == (0, {"events_deleted": 2, "compacted": False})
    code, out, err = run(capfd, "feedback", "forget", store, "--user", "7", "--json")
    assert json.loads(out)["events_deleted"] == 0
    assert "see --text" in err
    code, out, _ = run(capfd, "feedback", "forget", store, "--user", "7", "--text", "--compact", "--json")
    assert json.loads(out) == {"events_deleted": 1, "compacted": True}
    assert run(capfd, "feedback", "compact", store)[1].split() == ["store", "compacted", "events", "1"]
    assert b'"7"' not in store.read_bytes()


def test_damage_ends_with_65(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content = store.read_bytes()
    place = content.index(b'"action":"bought"')
    store.write_bytes(content[:place] + b'"action":"sought"' + content[place + 17 :])
    code, out, err = run(capfd, "feedback", "verify", store, "--json")
    assert code == 65
    assert json.loads(out)["damaged"] == [f"{store}: the event 'a' (number 2) is not what was stored."]
    assert "the event 'a'" in err


def test_an_extra_that_is_not_installed_is_named(
    store: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    code, _, err = run(capfd, "feedback", "verify", "postgresql+psycopg://ann@127.0.0.1/x")
    assert (code, "pip install 'fullrank[postgresql]'" in err) == (78, True)
    monkeypatch.setitem(sys.modules, "fullrank.serving.store", None)
    code, _, err = run(capfd, "feedback", "verify", store)
    assert (code, "pip install 'fullrank[serve]'" in err) == (2, True)


def test_a_store_that_a_server_writes_to(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with open_store(store):
        assert run(capfd, "feedback", "export", store, "-o", "x.csv")[0] == 0
        assert run(capfd, "feedback", "verify", store)[0] == 0
        code, _, err = run(capfd, "feedback", "forget", store, "--user", "ann")
        assert (code, "locked by process" in err) == (75, True)


def shop(people: int = 40, lists: int = 8) -> list[Event]:
    """People who see lists of five of 15 items and mostly take what is in their half."""
    rng = np.random.default_rng(3)
    events: list[Event] = []
    for person in range(people):
        for number in range(lists):
            items = tuple(int(item) for item in rng.choice(15, 5, replace=False))
            events.append(Shown(f"s{person}-{number}", person, items))
            liked = [item for item in items if item % 2 == person % 2] or list(items)
            done = "bought" if rng.random() < 0.4 else "clicked"
            events.append(Action(f"a{person}-{number}", person, liked[0], done, f"s{person}-{number}"))
    return events


def test_sessions_are_compared_and_fitted_as_they_are(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store, made = tmp_path / "feedback.db", tmp_path / "sessions.parquet"
    with open_store(store) as opened:
        opened.submit(shop()).result()
    assert run(capfd, "feedback", "export", store, "-o", made)[0] == 0
    sessions = fullrank.read_sessions(made, scale=("shown", "clicked", "bought"))
    assert (len(sessions), sessions.users.names.dtype) == (320, np.int64)
    scale: list[Any] = ["--kind", "sessions", "--scale", "shown,clicked,bought"]
    code, out, err = run(
        capfd, "compare", made, *scale, "--models", "SessionCost,Bestseller", "--out", tmp_path / "out", "--json"
    )
    assert code == 0, err
    assert json.loads(out)
