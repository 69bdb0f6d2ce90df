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
from fullrank.reproduction.exhibit import Exhibit, reproduce, select
from fullrank.reproduction.findings import Claim, Findings, Number
from fullrank.reproduction.workspace import Workspace
from tests.cli.test_cli import run

GOOD, BAD = Number("a", "x", 0.5, 0.5004), Number("b", "x", 0.5, 0.6, within=0.05)
TRUE, FALSE = Claim("it rises", True, "by 0.1"), Claim("it falls", False, "it does not")
RATINGS = "1\t10\t5\t100\n1\t20\t3\t200\n2\t10\t4\t300\n"


def exhibit(name: str, *numbers: Number, claims: tuple[Claim, ...] = (), **about: Any) -> Exhibit:
    return Exhibit(name, f"Title of {name}", "Table 1", lambda workspace: Findings(numbers, claims), **about)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data is found nowhere but in the folder that is given."""
    monkeypatch.setattr("fullrank.data.sources.files.roots", list)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, nowhere: None) -> Callable[..., None]:
    """Makes these the only exhibits that the command knows."""

    def become(*exhibits: Exhibit) -> None:
        papers = ModuleType("fullrank.reproduction.papers")
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
    assert Findings(numbers, claims).colour == colour


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

    def work(workspace: Workspace) -> Findings:
        value = workspace.step("some/slow", slow)[0]
        if "stop" in runs:
            raise KeyboardInterrupt
        return Findings((Number("x", "", 0.25, value),))

    one = Exhibit("t-1", "T", "nowhere", work)
    runs.append("stop")
    with pytest.raises(KeyboardInterrupt):
        reproduce(one, Workspace(kept=tmp_path))
    runs.remove("stop")
    assert reproduce(one, Workspace(kept=tmp_path)).findings.numbers
    assert runs == ["slow"]
    kept = tmp_path / "some" / "slow.json"
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"version": "0"}))
    reproduce(one, Workspace(kept=tmp_path))
    assert runs == ["slow", "slow"]  # another version may give other numbers


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"value": 1}', "\x00"])
def test_a_damaged_step_is_run_again(damaged: str, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(damaged)
    assert Workspace(kept=tmp_path).step("one", lambda: 7) == 7
    assert Workspace(kept=tmp_path).step("one", lambda: 8) == 7


def test_a_step_may_give_nothing(tmp_path: Path) -> None:
    """Where a descent ran away there is nothing to keep but that."""
    for value in (None, 1):
        assert Workspace(kept=tmp_path).step("one", lambda value=value: value) is None


def test_steps_are_told_when_they_run(tmp_path: Path) -> None:
    announced: list[str] = []
    for _ in range(2):
        assert Workspace(kept=tmp_path, announce=announced.append).step("some/step", lambda: 1) == 1
    assert announced == ["some/step"]


def test_data_is_in_the_folder_or_in_one_in_it(movies: Path, nowhere: None) -> None:
    for folder in (movies, movies.parent):
        assert Workspace(folder).data("ml-100k").n_users == 2
    (movies.parent / "other").mkdir()
    assert not Workspace(movies.parent / "other").has("ml-100k")


def test_steps_of_other_data_are_refused(movies: Path, tmp_path: Path, nowhere: None) -> None:
    kept = tmp_path / "kept"
    assert Workspace(movies, kept).has("ml-100k")
    assert Workspace(movies, kept).has("ml-100k")
    (movies / "u.data").write_text(RATINGS.replace("\t5\t", "\t1\t"))
    with pytest.raises(OutputError, match=r"other data for ml-100k; choose another folder with --out"):
        Workspace(movies, kept).data("ml-100k")
    assert Workspace(movies, tmp_path / "other").has("ml-100k")


def test_missing_data_is_named(tmp_path: Path, nowhere: None) -> None:
    result = reproduce(exhibit("t-1", needs=("netflix",)), Workspace(tmp_path))
    assert result.missing == ("netflix",)
    assert result.colour is None
    assert "fullrank data netflix --download" in result.how_to_get["netflix"]
    with pytest.raises(NoInputError):
        Workspace(tmp_path).data("netflix")


def test_damaged_data_is_an_error_and_not_missing(movies: Path, nowhere: None) -> None:
    (movies / "u.data").write_text("1\t10\tfive\t100\n")
    with pytest.raises(DataError) as caught:
        reproduce(exhibit("t-1", needs=("ml-100k",)), Workspace(movies))
    assert not isinstance(caught.value, NoInputError)


def test_the_papers_data_is_taken_where_it_is_there(movies: Path, nowhere: None) -> None:
    one = exhibit("t-1", needs=("netflix",), better="ml-100k", stands_in="Another data set.")
    result = reproduce(one, Workspace(movies))
    assert (result.missing, result.how_to_get, result.stands_in) == ((), {}, "")


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(NoInputError, match="no-such: no such folder; give one that has the data sets"):
        Workspace(Path("no-such"))


def test_names() -> None:
    known = {
        name: exhibit(name)
        for name in ("steck2010-table2", "krichene2020-table1", "krichene2020-table2", "krichene20200-table1")
    }
    assert [one.name for one in select(["krichene2020-table1"], known)] == ["krichene2020-table1"]
    assert [one.name for one in select(["krichene2020"], known)] == ["krichene2020-table1", "krichene2020-table2"]
    with pytest.raises(
        FullrankError, match=r"'krichene2020-tabel1' is no table or figure here. Did you mean 'krichene2020-table1'"
    ):
        select(["krichene2020-tabel1"], known)


@pytest.mark.parametrize("old", ["s0-table2", "s1-table3", "s2-figures6.2-6.7", "s3-table1", "s4-table1"])
def test_a_name_of_before_leads_to_the_new_one(old: str) -> None:
    from fullrank.reproduction.papers import EXHIBITS

    papers = {"s0": "steck2010", "s1": "krichene2020", "s2": "ackerman2012", "s3": "lim2015", "s4": "steck2015"}
    with pytest.raises(NoInputError, match=f"Did you mean '{papers[old[:2]]}{old[2:]}'"):
        select([old], EXHIBITS)


def test_the_toy_tables_of_krichene_and_rendle_to_the_digit() -> None:
    from fullrank.reproduction.papers import EXHIBITS

    for name in ("krichene2020-table1", "krichene2020-table2"):
        findings = reproduce(EXHIBITS[name], Workspace()).findings
        assert findings.colour == "green", [number for number in findings.numbers if not number.holds]


Capture = pytest.CaptureFixture[str]


def test_the_list(capfd: Capture, known: Callable[..., None], movies: Path) -> None:
    stands = {"better": "netflix", "stands_in": "MovieLens 100k."}
    known(
        exhibit("krichene2020-table10", needs=("netflix",)),
        exhibit("krichene2020-table2"),
        exhibit("steck2010-a", needs=("ml-100k",), **stands),
    )
    code, out, _ = run(capfd, "reproduce", "--list", "--data", movies)
    lines = out.splitlines()
    assert code == 0
    assert [line.split()[0] for line in lines if line and line[0] != " "] == ["steck2010", "krichene2020"]
    assert [line.split()[0] for line in lines if "Title" in line] == [
        "steck2010-a",
        "krichene2020-table2",
        "krichene2020-table10",
    ]
    assert lines[1].endswith("ml-100k, in place of netflix")
    assert lines[2].strip() == "stands in: MovieLens 100k."
    assert lines[-1].endswith("netflix (missing)")
    assert len({line.index("Title") for line in lines if "Title" in line}) == 1
    listed = json.loads(run(capfd, "reproduce", "--list", "--data", movies, "--json")[1])
    assert listed["steck2010-a"]["missing"] == listed["krichene2020-table10"]["missing"] == ["netflix"]


def test_the_command_prints_and_writes(capfd: Capture, known: Callable[..., None], tmp_path: Path) -> None:
    known(
        exhibit(
            "krichene2020-a",
            GOOD,
            BAD,
            Number("longer", "y", None, 1234.5, digits=1),
            claims=(TRUE,),
            why="Other ties.",
        ),
        exhibit("krichene2020-b", GOOD),
    )
    code, out, err = run(capfd, "reproduce", "krichene2020", "krichene2020-b", "--out", tmp_path)
    assert code == 0
    assert out.splitlines() == [
        "krichene2020-a: amber. Title of krichene2020-a (Table 1)",
        "  what may differ: Other ties.",
        "                   ours  published  difference",
        "     a       x    0.500      0.500       0.000",
        "  !  b       x    0.600      0.500      +0.100",
        "     longer  y  1,234.5          –           –",
        "  ✓ it rises (by 0.1)",
        "",
        "krichene2020-b: green. Title of krichene2020-b (Table 1)",
        "            ours  published  difference",
        "     a  x  0.500      0.500       0.000",
        "",
        "1 green, 1 amber",
    ]
    assert err.splitlines() == ["1/2 krichene2020-a", "2/2 krichene2020-b", f"pages: {tmp_path / 'index.html'}"]
    assert {path.name for path in tmp_path.glob("*.html")} == {
        "index.html",
        "krichene2020-a.html",
        "krichene2020-b.html",
    }
    code, out, _ = run(capfd, "reproduce", "--all", "--out", tmp_path, "--json")
    assert [one["colour"] for one in json.loads(out)["exhibits"]] == ["amber", "green"]


def test_exit_codes(capfd: Capture, known: Callable[..., None], tmp_path: Path) -> None:
    known(
        exhibit("krichene2020-red", claims=(FALSE,)),
        exhibit("krichene2020-none", needs=("netflix",), stands_in="A file."),
        exhibit("ackerman2012-a"),
    )
    assert run(capfd, "reproduce")[0] == 2
    assert run(capfd, "reproduce", "s9")[0] == 66
    code, out, err = run(capfd, "reproduce", "krichene2020-none", "--out", tmp_path)
    assert code == 66
    assert "missing: netflix; run `fullrank data netflix --download`" in out
    assert "stands in: A file." in out
    assert err.splitlines()[-1] == "error: nothing was run: there is no netflix; give its folder with --data."
    assert "netflix" in (tmp_path / "krichene2020-none.html").read_text()
    assert run(capfd, "reproduce", "krichene2020-none", "ackerman2012-a", "--out", tmp_path)[0] == 0
    assert run(capfd, "reproduce", "--all", "--out", tmp_path)[0] == 1
    known(exhibit("krichene2020-none", needs=("netflix",)))
    assert run(capfd, "reproduce", "--all", "--out", tmp_path)[0] == 0


def test_damaged_data_ends_the_command(
    capfd: Capture, known: Callable[..., None], movies: Path, tmp_path: Path
) -> None:
    (movies / "u.data").write_text("1\t10\tfive\t100\n")
    known(exhibit("krichene2020-a", GOOD), exhibit("krichene2020-b", needs=("ml-100k",)))
    code, _, err = run(capfd, "reproduce", "--all", "--data", movies, "--out", tmp_path / "out")
    assert code == 65
    assert "five" in err
    assert "krichene2020-a.html" in (tmp_path / "out" / "index.html").read_text()


def test_interrupted_what_is_done_is_there(capfd: Capture, known: Callable[..., None], tmp_path: Path) -> None:
    def stopped(workspace: Workspace) -> Findings:
        workspace.step("half", lambda: 1)
        assert "krichene2020-a.html" in (tmp_path / "index.html").read_text()  # before the end
        raise KeyboardInterrupt

    known(exhibit("krichene2020-a", GOOD), Exhibit("krichene2020-b", "B", "there", stopped))
    code, out, err = run(capfd, "reproduce", "--all", "--out", tmp_path)
    assert code == 130
    assert out.startswith("krichene2020-a: green")
    assert err.splitlines() == [
        "1/2 krichene2020-a",
        "2/2 krichene2020-b",
        "2/2 krichene2020-b: half",
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
