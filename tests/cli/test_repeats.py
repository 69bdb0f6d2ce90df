"""--repeat, as somebody with a log of purchases meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fullrank
from tests.cli.test_cli import run
from tests.comparison.test_repeats import EVENTS

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    fullrank.write(EVENTS, path)
    return path


def test_with_and_without(capfd: Capture, log: Path, tmp_path: Path) -> None:
    options = ["--models", "bestseller,itemcf", "--split", "time:0.3", "--json"]
    code, out, err = run(capfd, "compare", log, *options, "--out", tmp_path / "a")
    without = json.loads(out)
    assert code == 0
    assert "Events(720 events, " in err
    assert any("compare with --repeat" in caveat["text"] for caveat in without["trust"])
    code, out, _ = run(capfd, "compare", log, *options, "--out", tmp_path / "b", "--repeat")
    repeated = json.loads(out)
    assert (code, repeated["split"]["excluded"]) == (0, "nothing")
    assert repeated["split"]["rows"]["held out"] > without["split"]["rows"]["held out"]
    assert "and are kept" in repeated["split"]["how"]
    assert (tmp_path / "b" / "report.html").exists()
    code, _, err = run(capfd, "compare", log, *options, "--out", tmp_path / "a", "--repeat")
    assert (code, "another split" in err) == (73, True)


def test_in_a_plan(capfd: Capture, log: Path, tmp_path: Path) -> None:
    plan, options = tmp_path / "plan.toml", ["--models", "bestseller", "--split", "time:0.3", "--repeat"]
    assert run(capfd, "compare", log, *options, "--save-plan", plan)[0] == 0
    assert "repeat = true" in plan.read_text()
    assert run(capfd, "compare", plan, "--out", tmp_path / "a")[0] == 0
    assert json.loads((tmp_path / "a" / "results.json").read_text())["split"]["excluded"] == "nothing"
    code, _, err = run(capfd, "compare", plan, "--repeat")
    assert (code, "a plan says all of this itself" in err) == (2, True)


def test_what_never_repeats(capfd: Capture, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    fullrank.write(fullrank.simulate.ratings(40, 30, density=0.3).data, path)
    code, _, err = run(capfd, "compare", path, "--repeat", "--out", tmp_path / "a")
    assert (code, err.splitlines()[-1].count("repeat=True (--repeat) is for events")) == (2, 1)


def test_the_steps_one_by_one(capfd: Capture, log: Path, tmp_path: Path) -> None:
    code, out, _ = run(capfd, "data", log, "--json")
    numbers = json.loads(out)
    assert (code, numbers["kind"], numbers["rows"], numbers["repeats"]) == (0, "events", 720, EVENTS.repeats)
    assert "share of repeats" in run(capfd, "data", log)[1]
    assert run(capfd, "data", log, "--write", tmp_path / "again.parquet")[0] == 0
    assert fullrank.read_events(tmp_path / "again.parquet") == EVENTS
    code, out, _ = run(capfd, "fit", log, "--model", "itemcf", "-o", tmp_path / "m.fr", "--json")
    assert code == 0
    assert fullrank.load(tmp_path / "m.fr").train.by_user().sum() == 720


def test_tune(capfd: Capture, log: Path) -> None:
    pytest.importorskip("optuna")
    options = ["--model", "itemcf", "--trials", 1, "--split", "time:0.3", "--json"]
    values = [json.loads(run(capfd, "tune", log, *options, *more)[1])["value"] for more in ([], ["--repeat"])]
    assert values[0] != values[1]
