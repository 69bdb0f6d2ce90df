"""Tables and figures run again: colours, what is kept, what is missing, and the command."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fullrank.errors import DataError, FullrankError, NoInputError, OutputError
from fullrank.experiments.bench import Bench
from fullrank.experiments.exhibits import Claim, Exhibit, Found, Number, named, reproduce
from tests.cli.test_cli import run

GOOD, BAD = Number("a", "x", 0.5, 0.5004), Number("b", "x", 0.5, 0.6, within=0.05)
TRUE, FALSE = Claim("it rises", True, "by 0.1"), Claim("it falls", False, "it does not")
RATINGS = "1\t10\t5\t100\n1\t20\t3\t200\n2\t10\t4\t300\n"


def exhibit(name: str, *numbers: Number, claims: tuple[Claim, ...] = (), **about: Any) -> Exhibit:
    return Exhibit(name, f"Title of {name}", "Table 1", lambda bench: Found(numbers, claims), **about)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data is found nowhere but in the folder that is given."""
    monkeypatch.setattr("fullrank.data.sources.files.roots", list)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, nowhere: None) -> Callable[..., None]:
    """Makes these the only exhibits that the command knows."""

    def become(*exhibits: Exhibit) -> None:
        papers = ModuleType("fullrank.experiments.papers")
        papers.EXHIBITS = {one.name: one for one in exhibits}  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, papers.__name__, papers)

    return become


@pytest.fixture
def movies(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "ml-100k"
    folder.mkdir(parents=True)
    (folder / "u.data").write_text(RATINGS)
    return folder


@pytest.mark.parametrize(
    ("numbers", "claims", "colour"),
    [
        ((GOOD,), (), "green"),
        ((GOOD,), (TRUE,), "green"),
        ((GOOD, BAD), (TRUE,), "amber"),
        ((BAD,), (), "red"),
        ((GOOD,), (TRUE, FALSE), "red"),
        ((GOOD,), (TRUE, Claim("elsewhere too", False, essential=False)), "amber"),
        ((GOOD,), (Claim("elsewhere too", False, essential=False),), "red"),
        ((Number("only", "ours", None, 3.0),), (), "green"),
        ((Number("not", "judged", 0.5, 3.0, within=None),), (), "green"),
    ],
)
def test_colours(numbers: tuple[Number, ...], claims: tuple[Claim, ...], colour: str) -> None:
    assert Found(numbers, claims).colour == colour


def test_near_enough_is_to_the_printed_digit() -> None:
    assert Number("x", "", 0.933, 0.93349).holds
    assert not Number("x", "", 0.933, 0.9336).holds
    assert not Number("x", "", 0.933, 0.9436, within=0.01).holds
    assert Number("x", "", 0.933, 0.9429, within=0.01).holds
    assert Number("x", "", 93.3, 93.34, digits=1).holds


def test_steps_are_kept_and_not_run_again(tmp_path: Path) -> None:
    runs: list[str] = []

    def slow() -> list[float]:
        runs.append("slow")
        return [0.25]

    def work(bench: Bench) -> Found:
        value = bench.step("some/slow", slow)[0]
        if "stop" in runs:
            raise KeyboardInterrupt
        return Found((Number("x", "", 0.25, value),))

    one = Exhibit("t-1", "T", "nowhere", work)
    runs.append("stop")
    with pytest.raises(KeyboardInterrupt):
        reproduce(one, Bench(kept=tmp_path))
    runs.remove("stop")
    assert reproduce(one, Bench(kept=tmp_path)).found is not None
    assert runs == ["slow"]
    kept = tmp_path / "some" / "slow.json"
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"version": "0"}))
    reproduce(one, Bench(kept=tmp_path))
    assert runs == ["slow", "slow"]  # another version may give other numbers


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"value": 1}', "\x00"])
def test_a_damaged_step_is_run_again(damaged: str, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(damaged)
    assert Bench(kept=tmp_path).step("one", lambda: 7) == 7
    assert Bench(kept=tmp_path).step("one", lambda: 8) == 7


def test_a_step_may_give_nothing(tmp_path: Path) -> None:
    """Where a descent ran away there is nothing to keep but that."""
    for value in (None, 1):
        assert Bench(kept=tmp_path).step("one", lambda value=value: value) is None


def test_steps_are_told_when_they_run(tmp_path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        assert Bench(kept=tmp_path, told=told.append).step("some/step", lambda: 1) == 1
    assert told == ["some/step"]


def test_data_is_in_the_folder_or_in_one_in_it(movies: Path, nowhere: None) -> None:
    for folder in (movies, movies.parent):
        assert Bench(folder).data("ml-100k").n_users == 2
    (movies.parent / "other").mkdir()
    assert not Bench(movies.parent / "other").has("ml-100k")


def test_steps_of_other_data_are_refused(movies: Path, tmp_path: Path, nowhere: None) -> None:
    kept = tmp_path / "kept"
    assert Bench(movies, kept).has("ml-100k")
    assert Bench(movies, kept).has("ml-100k")
    (movies / "u.data").write_text(RATINGS.replace("\t5\t", "\t1\t"))
    with pytest.raises(OutputError, match=r"other data for ml-100k; choose another folder with --out"):
        Bench(movies, kept).data("ml-100k")
    assert Bench(movies, tmp_path / "other").has("ml-100k")


def test_missing_data_is_named(tmp_path: Path, nowhere: None) -> None:
    shown = reproduce(exhibit("t-1", needs=("netflix",)), Bench(tmp_path))
    assert shown.missing == ("netflix",)
    told = shown.to_json()
    assert told["colour"] is None
    assert "fullrank data netflix --download" in told["get"]["netflix"]
    with pytest.raises(NoInputError):
        Bench(tmp_path).data("netflix")


def test_damaged_data_is_an_error_and_not_missing(movies: Path, nowhere: None) -> None:
    (movies / "u.data").write_text("1\t10\tfive\t100\n")
    with pytest.raises(DataError) as caught:
        reproduce(exhibit("t-1", needs=("ml-100k",)), Bench(movies))
    assert not isinstance(caught.value, NoInputError)


def test_the_papers_data_is_taken_where_it_is_there(movies: Path, nowhere: None) -> None:
    one = exhibit("t-1", needs=("netflix",), better="ml-100k", stands_in="Another data set.")
    shown = reproduce(one, Bench(movies))
    assert (shown.missing, shown.with_better, shown.to_json()["stands_in"]) == ((), True, "")


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(NoInputError, match="no-such: no such folder; give one that has the data sets"):
        Bench(Path("no-such"))


def test_names() -> None:
    known = {name: exhibit(name) for name in ("s0-table2", "s1-table1", "s1-table2", "s10-table1")}
    assert [one.name for one in named(["s1-table1"], known)] == ["s1-table1"]
    assert [one.name for one in named(["s1"], known)] == ["s1-table1", "s1-table2"]
    with pytest.raises(FullrankError, match=r"'s1-tabel1' is no table or figure here. Did you mean 's1-table1'"):
        named(["s1-tabel1"], known)


def test_the_toy_tables_of_s1_to_the_digit() -> None:
    from fullrank.experiments.papers import EXHIBITS

    for name in ("s1-table1", "s1-table2"):
        found = reproduce(EXHIBITS[name], Bench()).found
        assert found is not None
        assert found.colour == "green", [n for n in found.numbers if not n.holds]


Capture = pytest.CaptureFixture[str]


def test_the_list(capfd: Capture, known: Callable[..., None], movies: Path) -> None:
    stands = {"better": "netflix", "stands_in": "MovieLens 100k."}
    known(
        exhibit("s1-table10", needs=("netflix",)), exhibit("s1-table2"), exhibit("s0-a", needs=("ml-100k",), **stands)
    )
    code, out, _ = run(capfd, "reproduce", "--list", "--data", movies)
    lines = out.splitlines()
    assert code == 0
    assert [line[:2] for line in lines if line[:1] == "S"] == ["S0", "S1"]
    assert [line.split()[0] for line in lines if line.startswith("  s")] == ["s0-a", "s1-table2", "s1-table10"]
    assert lines[1].endswith("ml-100k, in place of netflix")
    assert lines[2].strip() == "stands in: MovieLens 100k."
    assert lines[-1].endswith("netflix (missing)")
    assert len({line.index("Title") for line in lines if "Title" in line}) == 1
    told = json.loads(run(capfd, "reproduce", "--list", "--data", movies, "--json")[1])
    assert told["s0-a"]["missing"] == told["s1-table10"]["missing"] == ["netflix"]


def test_the_command_prints_and_writes(capfd: Capture, known: Callable[..., None], tmp_path: Path) -> None:
    known(
        exhibit("s1-a", GOOD, BAD, Number("longer", "y", None, 1234.5, digits=1), claims=(TRUE,), why="Other ties."),
        exhibit("s1-b", GOOD),
    )
    code, out, err = run(capfd, "reproduce", "s1", "s1-b", "--out", tmp_path)
    assert code == 0
    assert out.splitlines() == [
        "s1-a: amber. Title of s1-a (Table 1)",
        "  what may differ: Other ties.",
        "                   ours  published  difference",
        "     a       x    0.500      0.500       0.000",
        "  !  b       x    0.600      0.500      +0.100",
        "     longer  y  1,234.5          –           –",
        "  ✓ it rises (by 0.1)",
        "",
        "s1-b: green. Title of s1-b (Table 1)",
        "            ours  published  difference",
        "     a  x  0.500      0.500       0.000",
        "",
        "1 green, 1 amber",
    ]
    assert err.splitlines() == ["1/2 s1-a", "2/2 s1-b", f"pages: {tmp_path / 'index.html'}"]
    assert {path.name for path in tmp_path.glob("*.html")} == {"index.html", "s1-a.html", "s1-b.html"}
    code, out, _ = run(capfd, "reproduce", "--all", "--out", tmp_path, "--json")
    assert [one["colour"] for one in json.loads(out)["exhibits"]] == ["amber", "green"]


def test_exit_codes(capfd: Capture, known: Callable[..., None], tmp_path: Path) -> None:
    known(
        exhibit("s1-red", claims=(FALSE,)), exhibit("s1-none", needs=("netflix",), stands_in="A file."), exhibit("s2-a")
    )
    assert run(capfd, "reproduce")[0] == 2
    assert run(capfd, "reproduce", "s9")[0] == 66
    code, out, err = run(capfd, "reproduce", "s1-none", "--out", tmp_path)
    assert code == 66
    assert "missing: netflix; run `fullrank data netflix --download`" in out
    assert "stands in: A file." in out
    assert err.splitlines()[-1] == "error: nothing was run: there is no netflix; give its folder with --data."
    assert "netflix" in (tmp_path / "s1-none.html").read_text()
    assert run(capfd, "reproduce", "s1-none", "s2-a", "--out", tmp_path)[0] == 0
    assert run(capfd, "reproduce", "--all", "--out", tmp_path)[0] == 1
    known(exhibit("s1-none", needs=("netflix",)))
    assert run(capfd, "reproduce", "--all", "--out", tmp_path)[0] == 0


def test_damaged_data_ends_the_command(
    capfd: Capture, known: Callable[..., None], movies: Path, tmp_path: Path
) -> None:
    (movies / "u.data").write_text("1\t10\tfive\t100\n")
    known(exhibit("s1-a", GOOD), exhibit("s1-b", needs=("ml-100k",)))
    code, _, err = run(capfd, "reproduce", "--all", "--data", movies, "--out", tmp_path / "out")
    assert code == 65
    assert "five" in err
    assert "s1-a.html" in (tmp_path / "out" / "index.html").read_text()


def test_interrupted_what_is_done_is_there(capfd: Capture, known: Callable[..., None], tmp_path: Path) -> None:
    def stopped(bench: Bench) -> Found:
        bench.step("half", lambda: 1)
        assert "s1-a.html" in (tmp_path / "index.html").read_text()  # before the end
        raise KeyboardInterrupt

    known(exhibit("s1-a", GOOD), Exhibit("s1-b", "B", "there", stopped))
    code, out, err = run(capfd, "reproduce", "--all", "--out", tmp_path)
    assert code == 130
    assert out.startswith("s1-a: green")
    assert err.splitlines() == [
        "1/2 s1-a",
        "2/2 s1-b",
        "2/2 s1-b: half",
        f"pages: {tmp_path / 'index.html'}",
        "What is done is kept; the same command goes on from there.",
        "error: interrupted.",
    ]
    assert (tmp_path / "kept" / "half.json").exists()


def test_a_terminal_without_these_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    from fullrank.cli.reproduce import _print

    for encoding, shown in (("ascii", "ok ? - no"), ("utf-8", "✓ γ – ✗")):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, write_through=True))
        _print(["✓ γ – ✗"])
        assert written.getvalue().decode(encoding) == f"{shown}\n"
