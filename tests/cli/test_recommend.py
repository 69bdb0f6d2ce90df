"""fullrank recommend: one, many, files, rules and their price, as people type it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullrank
from fullrank.cli.main import main
from fullrank.runtime.atomic import locked

FILMS = "id,title,genres\n" + "\n".join(
    f"{item},Film {item} ({1960 + item}),{'Drama|War' if item % 2 else 'Comedy'}" for item in range(48)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recommend")
    split = fullrank.holdout(fullrank.simulate.ratings(users=40, items=50, density=0.2, seed=2).data, 0.3, seed=0)
    fullrank.save(fullrank.IALS(factors=4, sweeps=2).fit(split.train), folder / "model.fr")
    fullrank.write(split.held_out, folder / "later.csv")
    (folder / "films.csv").write_text(FILMS)
    (folder / "people.txt").write_text("user\n3\n1\n3\n999\n")
    (folder / "out.csv").write_text("item,why\n4,sold out\n7,recalled\n-5,gone\n")
    (folder / "deny.csv").write_text("user,item\n1,10\n1,11\nnobody,3\n")
    return folder


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["recommend", "model.fr", *(str(argument) for argument in arguments)])
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return command


def best(folder: Path, *arguments: Any, **options: Any) -> Any:
    return fullrank.recommend(fullrank.load(folder / "model.fr"), *arguments, **options)


def test_many_people_as_a_table_and_as_json(run: Any, folder: Path) -> None:
    code, out, err = run("--users", "people.txt", "-n", 3)
    lines = [line.split("\t") for line in out.splitlines()]
    assert (code, lines[0]) == (0, ["user", "item", "rank", "score", "fallback"])
    assert [line[0] for line in lines[1:]] == ["3"] * 3 + ["1"] * 3 + ["999"] * 3
    assert [int(line[1]) for line in lines[1:4]] == best(folder, 3, n=3).items
    assert "1 of 3 users are unknown to the model: 999; they get what is popular" in err
    code, out, _ = run("--users", "3,1,999", "-n", 3, "--json")
    assert [row["item"] for row in json.loads(out)["lists"]] == [int(line[1]) for line in lines[1:]]
    code, out, err = run("--users", "3,x", "-n", 2)
    assert (code, len(out.splitlines())) == (0, 3)
    assert "1 of 2 users get no list" in err


def test_all_people_to_files(run: Any, folder: Path) -> None:
    code, out, _ = run("--users", "all", "-n", 4, "-o", "all.parquet", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"output": "all.parquet", "people": 40, "rows": 160, "popular": 0, "notes": []},
    )
    frame = pl.read_parquet(folder / "all.parquet")
    assert frame.equals(best(folder, users="all", n=4).to_frame())
    assert run("--users", "all", "-o", "all.parquet")[0] == 73
    assert run("--users", "all", "-o", "all.parquet", "--overwrite")[:2] == (0, "all.parquet: 400 rows for 40 people\n")
    assert run("--users", "all", "-o", "all.xlsx")[0] == 2
    (folder / "busy.csv.parts").mkdir()
    with locked(folder / "busy.csv.parts" / "parts"):
        code, _, err = run("--users", "all", "-o", "busy.csv")
    assert code == 75
    assert "locked by process" in err


def test_rules(run: Any, folder: Path) -> None:
    rules = [
        "--exclude",
        "out.csv",
        "--items",
        "films.csv",
        "--where",
        "year >= 1970 and genres != 'War'",
        "--deny",
        "deny.csv",
    ]
    code, out, err = run("--user", 1, "-n", 50, *rules, "--json")
    found = json.loads(out)
    expected = [i for i in best(folder, 1, n=50).items if 10 <= i < 48 and i % 2 == 0 and i not in (4, 7, 10, 11)]
    assert (code, found["items"]) == (0, expected)
    assert "deny.csv: 1 of 3 rows have an id that is no integer" in err
    assert "films.csv has 48 items with title, genres; 2 of 50 items of the model have no row there" in err
    assert found["notes"] == [
        'year is taken from titles such as "Film 0 (1960)"; 48 of 48 have one',
        "exclude: 1 of 3 items are unknown to the model: -5",
        "where: 19 of 50 items remain; 2 have no row or no value there, and are left out",
    ]
    code, out, _ = run("--user", 1, "-n", 6, "--items", "films.csv", "--most", "genres:2", "--json")
    kinds = [item % 2 for item in json.loads(out)["items"] if item < 48]
    assert code == 0
    assert max(kinds.count(0), kinds.count(1)) <= 2
    allow = folder / "allow.csv"
    allow.write_text("user,item\n1,20\n1,21\n1,22\n")
    only = json.loads(run("--user", 1, "--allow", allow, "--repeat", "--json")[1])["items"]
    assert sorted(only) == [20, 21, 22]
    assert json.loads(run("--user", 1, "--only", "20,22", "--repeat", "--json")[1])["items"] == [
        i for i in only if i != 21
    ]
    several = run("--user", 1, "--items", "films.csv", "--diversify", "calibrated:0.5", "--json")
    assert json.loads(several[1])["notes"] == [
        "calibrated by genres; lists are picked from the best 10 n, and at least 100, candidates"
    ]


def test_the_price_of_rules(run: Any) -> None:
    given = ["--price", "--held-out", "later.csv", "-n", 5, "--items", "films.csv", "--where", "year >= 1980"]
    code, out, _ = run(*given, "--metrics", "recall@5,ndcg@3", "--json")
    found = json.loads(out)
    assert (code, set(found["metrics"])) == (0, {"recall@5", "ndcg@3"})
    assert found["changed"] > 0
    code, out, err = run(*given)
    assert out.startswith("Rules(where year >= 1980): of ")
    assert "where: 28 of 50 items remain" in err


@pytest.mark.parametrize(
    ("arguments", "code", "match"),
    [
        ([], 2, "for whom? Give --user ID"),
        (["--user", 1, "--users", "all"], 2, "for whom?"),
        (["--user", 1, "-o", "x.csv"], 2, "-o is for many people"),
        (["--price"], 2, "--price and --held-out go together"),
        (["--price", "--held-out", "later.csv", "--user", 1], 2, "leave out --user"),
        (["--user", 1, "--most", "genres"], 2, "is not COLUMN:NUMBER"),
        (["--user", 1, "--where", "year > 1980"], 2, "give a file about them"),
        (["--user", 1, "--items", "films.csv", "--where", "yeer > 1980"], 2, "Did you mean 'year'"),
        (["--user", 1, "--items", "films.csv", "--diversify", "mrr:0.3"], 2, "Did you mean 'mmr'"),
        (["--users", "nobody.txt"], 66, "no such file"),
        (["--user", 1, "--deny", "nothing.csv"], 66, "no such file"),
        (["--user", 1, "--seen"], 2, "No such option"),
    ],
)
def test_what_does_not_go(run: Any, arguments: list[Any], code: int, match: str) -> None:
    found, out, err = run(*arguments)
    assert (found, out) == (code, "")
    assert match in err
    assert err.splitlines()[-1].startswith("error: ")


def test_files_written_for_spreadsheets(run: Any, folder: Path) -> None:
    assert run("--users", "all", "-o", "safe.csv", "--excel-safe")[0] == 0
    assert (folder / "safe.csv").read_text().startswith('"user","item","rank","score","fallback"\n')
