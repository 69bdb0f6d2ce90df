"""compare, tune, fit, recommend, evaluate, report as a new user meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from tests.cli.test_cli import FULLRANK, run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    fullrank.write(fullrank.simulate.ratings(120, 90, density=0.15, seed=1).data, path)
    return path


def test_compare_writes_everything_and_says_what_to_use(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    out = tmp_path / "found"
    code, printed, told = run(capfd, "compare", ratings, "--models", "allrank,bestseller", "--out", out)
    assert code == 0
    assert "recall@10" in printed
    assert str(out / "report.html") in told
    assert {path.name for path in out.iterdir()} >= {"report.html", "results.json", "manifest.json", "model.fr"}
    results = json.loads((out / "results.json").read_text())
    assert results["verdict"]["sentence"] in printed
    assert [m["name"] for m in results["models"]] == ["AllRank", "Bestseller"]
    code, printed, _ = run(capfd, "compare", ratings, "--models", "allrank,bestseller", "--out", out, "--json")
    again = json.loads(printed)
    assert again["models"][0]["metrics"] == results["models"][0]["metrics"]
    code, printed, _ = run(capfd, "report", out, "-o", tmp_path / "again.html", "--table", "latex")
    assert (code, printed.count("toprule")) == (0, 1)
    assert (tmp_path / "again.html").read_text().startswith("<!")


def test_a_plan_does_what_the_options_do(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    options = ["--models", "itemcf,bestseller", "--split", "time:0.3", "--relevant", 4, "--metrics", "ndcg@5,auc"]
    code, _, _ = run(capfd, "compare", ratings, *options, "--save-plan", tmp_path / "plan.toml")
    assert code == 0
    assert not (tmp_path / "comparison").exists()
    run(capfd, "compare", ratings, *options, "--out", tmp_path / "a")
    code, _, _ = run(capfd, "compare", tmp_path / "plan.toml", "--out", tmp_path / "b")
    assert code == 0
    a, b = (json.loads((tmp_path / f / "results.json").read_text()) for f in "ab")
    for part in ("verdict", "split", "pairs", "metrics"):
        assert a[part] == b[part]
    assert a["metrics"][0]["name"] == "ndcg@5"
    code, _, told = run(capfd, "compare", tmp_path / "plan.toml", "--models", "ials")
    assert (code, told.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["compare", "FILE", "--models", "allrnk"], 2, "Did you mean 'AllRank'"),
        (["compare", "FILE", "--metrics", "recal@10"], 2, "Did you mean 'recall'"),
        (["compare", "FILE", "--split", "holdut:0.1"], 2, "Did you mean 'holdout'"),
        (["compare", "FILE", "--kind", "rating"], 2, "ratings, events, sessions"),
        (["compare", "FILE", "--columns", "user=who,item=item"], 65, "expected 'who'"),
        (["compare", "FILE", "--relevant", "9"], 65, "held-out values is relevant at 9"),
        (["compare", "nothing.csv"], 66, "no such file"),
        (["compare", "nothing.toml"], 66, "cannot be read as a plan"),
        (["compare", "FILE", "--out", "FILE"], 73, "is a file; give a folder"),
        (["compare", "EMPTY"], 65, ""),
        (["compare", "ONE"], 65, "nothing is"),
        (["report", "FILE"], 65, "is no JSON"),
        (["report", "nowhere"], 66, "give the folder of a comparison"),
        (["fit", "FILE", "-o", "FILE"], 73, "exists"),
        (["fit", "FILE", "-o", "m.fr", "--set", "factors"], 2, "is not NAME=VALUE"),
        (["fit", "FILE", "-o", "m.fr", "--model", "itemcf", "--checkpoint", "c"], 2, "has no checkpoint"),
        (["recommend", "FILE", "--user", "1"], 65, ""),
        (["recommend", "none.fr", "--user", "1"], 66, ""),
        (["tune", "FILE", "--model", "allrnk"], 2, "Did you mean 'AllRank'"),
    ],
)
def test_faults(
    capfd: Capture, ratings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], code: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "one.csv").write_text("user,item,rating,time\na,b,5,1\n")
    places = {"FILE": str(ratings), "EMPTY": "empty.csv", "ONE": "one.csv"}
    found, out, err = run(capfd, *(places.get(argument, argument) for argument in arguments))
    assert (found, out) == (code, "")
    last = err.splitlines()[-1]
    assert last.startswith("error: ")
    assert message in last
    assert "Traceback" not in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    code, _, err = run(capfd, "compare", ratings, "--out", tmp_path / "locked" / "x")
    assert code == 77
    assert "no permission" in err


def test_a_full_disk(capfd: Capture, ratings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, _, err = run(capfd, "compare", ratings, "--models", "bestseller", "--out", tmp_path / "x")
    assert code == 74
    assert "no space left" in err.splitlines()[-1]


def test_ctrl_c_leaves_a_usable_result_and_the_same_command_goes_on(ratings: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    slow = tmp_path / "plan.toml"
    slow.write_text(
        f'out = "{out}"\n[data]\nsource = "{ratings}"\n[[model]]\nrecipe = "Bestseller"\n'
        '[[model]]\nrecipe = "RSVD"\nepochs = 100000\nfactors = 8\n'
    )
    process = subprocess.Popen([*FULLRANK, "compare", str(slow)], stderr=subprocess.PIPE, text=True)
    for _ in range(3000):  # a busy machine compiles for minutes
        if list((out / "parts").glob("RSVD/state-*")):
            break
        signal.sigtimedwait([], 0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in err
    results = json.loads((out / "results.json").read_text())
    assert [m["name"] for m in results["models"]] == ["Bestseller"]
    assert "nothing is said of RSVD" in results["trust"][0]["text"]
    assert (out / "report.html").exists()


def test_fit_recommend_evaluate(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    split = fullrank.holdout(fullrank.read(ratings), 0.2, seed=0)
    for name, part in (("train", split.train), ("later", split.held_out)):
        fullrank.write(part, tmp_path / f"{name}.parquet")
    model = tmp_path / "m.fr"
    code, printed, _ = run(
        capfd, "fit", tmp_path / "train.parquet", "--model", "ials", "--set", "factors=5", "-o", model, "--json"
    )
    assert (code, json.loads(printed)["rows"]) == (0, len(split.train))
    loaded = fullrank.load(model)
    code, printed, _ = run(capfd, "recommend", model, "--user", "3", "-n", "4", "--json")
    assert json.loads(printed)["items"] == fullrank.recommend(loaded, 3, n=4).items
    code, printed, _ = run(capfd, "recommend", model, "--history", "1=5,2=1", "-n", "4", "--json")
    assert json.loads(printed)["items"] == fullrank.recommend(loaded, history={1: 5, 2: 1}, n=4).items
    code, printed, told = run(capfd, "recommend", model, "--user", "99999")
    assert (code, "most popular" in told) == (0, True)
    code, printed, _ = run(
        capfd, "evaluate", model, "--held-out", tmp_path / "later.parquet", "--relevant", 5, "--json"
    )
    known = split.held_out.where(np.isin(split.held_out.item, split.train.item))
    later = fullrank.Interactions.of(
        known.users.names[known.user], known.items.names[known.item], known.value,
        users=loaded.train.users, items=loaded.train.items,
    )  # fmt: skip
    ranks = fullrank.rank(loaded, fullrank.Split(loaded.train, later), relevant=5)
    expected = fullrank.evaluate(ranks, [fullrank.metrics.recall @ 10]).mean()
    assert json.loads(printed)["metrics"]["recall@10"]["mean"] == pytest.approx(expected["recall@10"])
    with pytest.raises(fullrank.FullrankError, match=r"IALS knows .* users and .* items, and here are"):
        fullrank.rank(loaded, split, relevant=5)
    code, printed, told = run(
        capfd, "evaluate", model, "--held-out", tmp_path / "later.parquet", "--candidates", "sampled:20",
        "--correction", "bv:0.1", "--metrics", "ndcg@10",
    )  # fmt: skip
    assert (code, "ndcg@10 from 20" in printed) == (0, True)
    code, _, told = run(capfd, "evaluate", model, "--held-out", ratings, "--correction", "bv")
    assert code == 2


def test_tune(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    options = ["tune", ratings, "--model", "allrank", "--trials", "3", "--set", "sweeps=2", "--set", "factors=4"]
    code, printed, _ = run(capfd, *options, "--journal", tmp_path / "j", "--json")
    found = json.loads(printed)
    assert (code, found["trials"], found["metric"]) == (0, 3, "recall@10")
    assert found["value"] >= found["points"][0]["value"]
    code, printed, _ = run(capfd, *options, "--journal", tmp_path / "j")
    assert printed.startswith("AllRank(")


def test_sessions_and_preferences_by_their_columns(capfd: Capture, tmp_path: Path) -> None:
    sessions = fullrank.simulate.sessions(40, 30, seed=1).data
    user, scale = sessions.user[sessions.case], sessions.scale or ()
    rows = [f"{c},{u},{i},{scale[int(g)]}" for c, u, i, g in zip(sessions.case, user, sessions.item, sessions.grade, strict=True)]  # fmt: skip # noqa: E501
    (tmp_path / "s.csv").write_text("\n".join(["Session,User,Item,Action", *rows]) + "\n")
    code, _, told = run(capfd, "compare", tmp_path / "s.csv", "--out", tmp_path / "s")
    assert (code, "actions need their scale" in told) == (2, True)
    scales = ["--scale", "shown,clicked,bought", "--models", "opportunitycost,bestseller"]
    code, printed, _ = run(capfd, "compare", tmp_path / "s.csv", "--out", tmp_path / "s", *scales, "--json")
    assert (code, json.loads(printed)["data"]["kind"]) == (0, "sessions")
    pairs = sessions.pairs()
    rows = [f"{u},{b},{w}" for u, b, w in zip(pairs.user, pairs.better, pairs.worse, strict=True)]
    (tmp_path / "p.csv").write_text("\n".join(["user,better,worse", *rows]) + "\n")
    code, printed, _ = run(capfd, "compare", tmp_path / "p.csv", "--out", tmp_path / "p", "--json")
    assert (code, json.loads(printed)["data"]["kind"]) == (0, "preferences")


def test_a_plan_to_fit_and_tune(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    plan = tmp_path / "p.toml"
    plan.write_text(f'relevant = 4\n[data]\nsource = "{ratings}"\n[[model]]\nrecipe = "ials"\nfactors = 3\n')
    code, printed, _ = run(capfd, "fit", plan, "-o", tmp_path / "m.fr", "--json")
    assert code == 0
    assert fullrank.load(tmp_path / "m.fr").recipe == fullrank.IALS(factors=3)
    code, printed, _ = run(capfd, "tune", plan, "--trials", "2", "--json")
    assert (code, json.loads(printed)["model"]) == (0, "IALS")
    code, _, told = run(capfd, "fit", plan, "-o", tmp_path / "n.fr", "--model", "ease")
    assert (code, "which model? Say --model with one of IALS" in told) == (2, True)
    code, _, told = run(capfd, "fit", plan, "-o", tmp_path / "n.fr", "--set", "factors=4")
    assert (code, "a plan says all of this itself" in told) == (2, True)


def test_the_demo_ends_with_its_report(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", "from fullrank.cli import main; main()", "demo", "--out", str(tmp_path / "d")],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert found.returncode == 0
    assert found.stderr.splitlines()[-1] == f"report: {tmp_path / 'd' / 'report.html'}"
    results = json.loads((tmp_path / "d" / "results.json").read_text())
    assert len(results["models"]) == 7
    assert results["truth"]["rows"]
    assert results["sampled"]["rows"]


def test_fit_tells_where_dislikes_are_taken_for_likes(capfd: Capture, ratings: Path, tmp_path: Path) -> None:
    given = ("-o", tmp_path / "m.fr", "--overwrite")
    told = run(capfd, "fit", ratings, "--model", "itemcf", *given)[2]
    assert "ItemCF learns from all ratings, whatever their value; say --set relevant=" in told
    for other in (("itemcf", "--set", "relevant=4"), ("allrank",)):
        assert "learns from all ratings" not in run(capfd, "fit", ratings, "--model", *other, *given)[2]
