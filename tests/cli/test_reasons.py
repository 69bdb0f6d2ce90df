"""fullrank similar, explain, update and export, as somebody at a terminal meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fullrank
from fullrank.cli.main import main

RATINGS = "user,item,rating\nann,tea,5\nann,jam,4\nbob,tea,5\nbob,jam,5\nbob,gin,1\ncyd,gin,5\ncyd,tea,4\n"


@pytest.fixture
def model(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "ratings.csv").write_text(RATINGS)
    assert run("fit", tmp_path / "ratings.csv", "--model", "itemcf", "--set", "shrink=0", "-o", tmp_path / "m.fr") == 0
    capfd.readouterr()
    return tmp_path / "m.fr"


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_as_lines(model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "titles.csv").write_text("item,title\ntea,Black Tea\njam,Plum Jam\n")
    assert run("similar", model, "tea", "--items", tmp_path / "titles.csv") == 0
    assert [line.split(maxsplit=1)[1] for line in capfd.readouterr().out.splitlines()] == ["gin", "jam  Plum Jam"]

    assert run("explain", model, "--user", "ann", "--item", "gin", "--items", tmp_path / "titles.csv") == 0
    out, err = capfd.readouterr()
    names = [line.split(maxsplit=1)[1] for line in out.splitlines()]
    assert names == ["tea (5)  Black Tea", "jam (4)  Plum Jam", "= the score of gin"]
    numbers = [float(line.split()[0]) for line in out.splitlines()]
    assert sum(numbers[:2]) == pytest.approx(numbers[2], abs=1e-3)
    assert err.startswith("'gin' scores ")

    assert run("explain", model, "--history", "tea,gin", "--item", "jam", "-n", 1) == 0
    assert [line.split(maxsplit=1)[1] for line in capfd.readouterr().out.splitlines()][1] == "other items"

    assert run("export", model, "--to", tmp_path / "out") == 0
    out, err = capfd.readouterr()
    assert "neighbours.parquet" in out
    assert err.startswith("A score is the sum over somebody's items")


def test_what_an_update_changed(model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "new.csv").write_text("user,item,rating\nann,jam,1\nann,gin,2\ndan,tea,5\ndan,rum,4\nbob,tea,5\n")
    assert run("update", model, tmp_path / "new.csv", "-o", tmp_path / "new.fr", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    told = {name: found[name] for name in ("new_users", "new_items", "new_pairs", "changed_values", "users", "rows")}
    assert told == {"new_users": 1, "new_items": 1, "new_pairs": 3, "changed_values": 1, "users": 4, "rows": 10}
    assert "rum" in fullrank.load(tmp_path / "new.fr").train.items
    assert run("update", model, tmp_path / "new.csv", "-o", tmp_path / "new.fr") == 73
    assert "exists" in capfd.readouterr().err
    assert run("update", model, tmp_path / "new.csv", "-o", model, "--overwrite") == 0
    assert len(fullrank.load(model).train) == 10


def test_ids_that_are_text_stay_so(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("user,item,rating\n1,tea,5\n1,7,4\n2,tea,5\nx,7,3\n")
    (tmp_path / "new.csv").write_text("user,item,rating\n2,7,1\n10,8,2\n")
    assert run("fit", tmp_path / "old.csv", "--model", "itemcf", "-o", tmp_path / "m.fr") == 0
    assert run("update", tmp_path / "m.fr", tmp_path / "new.csv", "-o", tmp_path / "n.fr") == 0
    train = fullrank.load(tmp_path / "n.fr").train
    assert (list(train.users), list(train.items)) == (["1", "10", "2", "x"], ["7", "8", "tea"])
    assert train.by_user().toarray().tolist() == [[4, 0, 5], [0, 2, 0], [1, 0, 5], [3, 0, 0]]


def test_events_are_added_to_the_counts_there_are(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.csv").write_text("user,item,time\n" + "1,tea,1000000000\n1,tea,1100000000\n2,tea,1000000000\n2,jam,1000000000\n")  # fmt: skip # noqa: E501
    (tmp_path / "new.csv").write_text("user,item,time\n1,tea,1200000000\n3,jam,1200000000\n")
    assert run("fit", tmp_path / "old.csv", "--model", "personalfrequency", "-o", tmp_path / "m.fr") == 0
    assert run("update", tmp_path / "m.fr", tmp_path / "new.csv", "-o", tmp_path / "n.fr") == 65
    assert "there are no values, and the model has some; give them, or say --kind events." in capfd.readouterr().err
    assert run("update", tmp_path / "m.fr", tmp_path / "new.csv", "--kind", "events", "-o", tmp_path / "n.fr") == 0
    train = fullrank.load(tmp_path / "n.fr").train
    assert train.by_user().toarray().tolist() == [[0, 3], [1, 1], [1, 0]]


def test_faults(model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, code, said in (
        (["similar", model, "rum"], 65, "unknown id 'rum'"),
        (["similar", model], 2, "Missing argument"),
        (["similar", model, "tea", "-n", 0], 2, "-n"),
        (["similar", tmp_path / "none.fr", "tea"], 66, "no such file"),
        (["similar", model, "tea", "--items", tmp_path / "none.csv"], 66, "none.csv"),
        (["explain", model, "--item", "tea"], 2, "either a user or a history"),
        (["explain", model, "--user", "ann"], 2, "--item"),
        (["explain", model, "--history", "tea=5,jam", "--item", "gin"], 2, "with and without values"),
        (["explain", model, "--history", "tea=nan", "--item", "gin"], 65, "NaN or infinite"),
        (["explain", model, "--history", "rum", "--item", "gin"], 65, "unknown ids, the first is 'rum'"),
        (["update", model, tmp_path / "none.csv", "-o", tmp_path / "x.fr"], 66, "no such file"),
        (["export", model, "--to", tmp_path / "x", "--format", "csv"], 2, "'parquet', 'numpy' or 'faiss'"),
        (["export", model, "--to", model], 73, "is a file; give a folder"),
    ):
        assert run(*arguments) == code
        out, err = capfd.readouterr()
        assert out == ""
        assert said in err
        assert err.splitlines()[-1].startswith("error: ")


def test_integer_ids_are_written_as_they_are(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.csv").write_text("user,item,rating\n1,7,5\n1,8,4\n2,7,5\n2,8,3\n2,9,1\n")
    assert run("fit", tmp_path / "r.csv", "--model", "itemcf", "-o", tmp_path / "m.fr") == 0
    capfd.readouterr()
    assert run("similar", tmp_path / "m.fr", "7", "--json") == 0
    assert json.loads(capfd.readouterr().out)["items"] == [8, 9]
    for text in ("07", "\u00b2", "--5"):
        assert run("similar", tmp_path / "m.fr", "--", text) == 65
        assert "unknown id" in capfd.readouterr().err
