"""judge and protocol as somebody types them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import fullrank
from tests.cli.test_cli import run

WORLD = fullrank.simulate.ratings(80, 60, seed=6)
SPLIT = fullrank.holdout(WORLD.data, 0.3, seed=1)
MODEL = fullrank.ItemCF().fit(SPLIT.train)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fullrank.write(WORLD.data, "all.csv")
    fullrank.write(SPLIT.train, "train.csv")
    fullrank.write(SPLIT.held_out, "after.csv")
    fullrank.top(MODEL, SPLIT, 15).to_frame().write_csv("mine.csv")
    fullrank.save(MODEL, "model.fr")
    return tmp_path


def test_judge(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ["judge", "mine=mine.csv", "model.fr", "--held-out", "after.csv", "--train", "train.csv", "--relevant", "4"]
    code, out, err = run(capfd, *given, "--with", "bestseller", "--json")
    assert code == 0, err
    results = json.loads(out)
    assert results == json.loads((files / "judged" / "results.json").read_text())
    assert (files / "judged" / "report.html").exists()
    models = {model["name"]: model["metrics"]["recall@10"]["mean"] for model in results["models"]}
    assert set(models) == {"mine", "model", "bestseller"}
    assert models["mine"] == models["model"]
    code, out, err = run(capfd, *given, "--out", "other")
    assert code == 0
    assert "leave open" in out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["mine=mine.csv"], 2, "--held-out"),
        (["mine=nothing.csv", "--held-out", "after.csv"], 66, "nothing.csv"),
        (["mine=mine.csv", "--held-out", "nothing.csv"], 66, "nothing.csv"),
        (["a=mine.csv", "a=mine.csv", "--held-out", "after.csv"], 2, "the same name"),
        (["mine=mine.csv", "--held-out", "after.csv", "--with", "ials"], 2, "--train"),
        (["mine=mine.csv", "--held-out", "after.csv", "--metrics", "recall@x"], 2, "recall@x"),
        (
            ["mine=seen.csv", "--held-out", "after.csv", "--train", "train.csv", "--strict"],
            65,
            "the person has already",
        ),
        (["mine=mine.csv", "--held-out", "after.csv", "--list-columns", "user=user"], 2, "item"),
    ],
)
def test_faults(files: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str) -> None:
    shown = pl.read_csv("train.csv").select("user", "item")
    shown.write_csv("seen.csv")
    got, _, err = run(capfd, "judge", *arguments)
    assert (got, said in err.splitlines()[-1]) == (code, True), err


def test_a_protocol_from_end_to_end(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rules = ["--split", "holdout:0.3", "--seed", "1", "--relevant", "4", "--metrics", "recall@10,auc"]
    code, out, err = run(
        capfd, "protocol", "make", "all.csv", *rules, "-o", "game.frp", "--public", "open.frp", "--json"
    )
    assert code == 0, err
    made = json.loads(out)
    code, out, _ = run(capfd, "protocol", "show", "open.frp", "--train", "learn.parquet", "--json")
    shown = json.loads(out)
    assert (shown["id"], shown["sealed"], made["sealed"]) == (made["id"], False, True)
    train = fullrank.read("learn.parquet")
    split = fullrank.Split(train, train.where(train.user < 0))
    fullrank.top(fullrank.ItemCF().fit(train), split, 12).to_frame().write_parquet("lists.parquet")
    code, out, err = run(capfd, "protocol", "judge", "game.frp", "mine=lists.parquet", "--out", "one", "--json")
    assert code == 0, err
    manifest = json.loads(out)["manifest"]
    assert f"protocol {manifest['protocol']}" in err
    assert f"result   {manifest['result']}" in err
    assert manifest["protocol"] == made["id"]
    code, _, err = run(capfd, "protocol", "judge", "open.frp", "mine=lists.parquet", "--out", "two")
    assert (code, "no held-out part" in err) == (65, True)
    code, _, err = run(capfd, "protocol", "make", "all.csv", "-o", "game.frp")
    assert (code, "exists" in err) == (73, True)
    (files / "bad.frp").write_bytes(b"PK")
    code, _, err = run(capfd, "protocol", "show", "bad.frp")
    assert (code, "is no protocol" in err) == (65, True)
    code, _, err = run(capfd, "protocol", "judge", "game.frp", "--out", "x")
    assert code == 2
