"""Tables and figures run again: colours, what is kept, what is missing, pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fullrank.errors import FullrankError
from fullrank.experiments.exhibits import Bench, Claim, Exhibit, Found, Number, named, reproduce
from fullrank.experiments.papers import EXHIBITS
from fullrank.report.exhibits import write_site
from tests.cli.test_cli import run

GOOD, BAD = Number("a", 0.5, 0.5004), Number("b", 0.5, 0.6, within=0.05)
TRUE, FALSE = Claim("it rises", True), Claim("it falls", False, "it does not")


@pytest.mark.parametrize(
    ("numbers", "claims", "colour"),
    [
        ((GOOD,), (), "green"),
        ((GOOD,), (TRUE,), "green"),
        ((GOOD, BAD), (TRUE,), "amber"),
        ((BAD,), (), "red"),
        ((GOOD,), (TRUE, FALSE), "red"),
        ((Number("only ours", None, 3.0),), (), "green"),
    ],
)
def test_colours(numbers: tuple[Number, ...], claims: tuple[Claim, ...], colour: str) -> None:
    assert Found(numbers, claims).colour == colour


def test_near_enough_is_to_the_printed_digit() -> None:
    assert Number("x", 0.933, 0.93349).holds
    assert not Number("x", 0.933, 0.9336).holds
    assert Number("x", 0.933, 0.9436, within=0.01).holds is False
    assert Number("x", 0.933, 0.9429, within=0.01).holds


def test_steps_are_kept_and_not_run_again(tmp_path: Path) -> None:
    runs: list[str] = []

    def slow() -> list[float]:
        runs.append("slow")
        return [0.25]

    def work(bench: Bench) -> Found:
        value = bench.step("some/slow", slow)[0]
        if "stop" in runs:
            raise KeyboardInterrupt
        return Found((Number("x", 0.25, value),))

    exhibit = Exhibit("t-1", "T", "nowhere", work)
    runs.append("stop")
    with pytest.raises(KeyboardInterrupt):
        reproduce(exhibit, Bench(kept=tmp_path))
    runs.remove("stop")
    assert reproduce(exhibit, Bench(kept=tmp_path)).found is not None
    assert runs == ["slow"]
    kept = tmp_path / "some" / "slow.json"
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"version": "0"}))
    reproduce(exhibit, Bench(kept=tmp_path))
    assert runs == ["slow", "slow"]  # another version may give other numbers


def test_the_toy_tables_of_s1_to_the_digit() -> None:
    for name in ("s1-table1", "s1-table2"):
        shown = reproduce(EXHIBITS[name], Bench())
        assert shown.found is not None
        assert shown.found.colour == "green", [n for n in shown.found.numbers if not n.holds]
    wrong = Number("A, AP", 0.011, reproduce(EXHIBITS["s1-table1"], Bench()).found.numbers[1].ours)  # type: ignore[union-attr]
    assert not wrong.holds


def test_missing_data_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    shown = reproduce(Exhibit("t-1", "T", "nowhere", lambda bench: Found(), needs=("netflix",)), Bench(tmp_path))
    assert shown.missing == ("netflix",)
    assert shown.to_json()["colour"] is None


def test_names() -> None:
    assert [one.name for one in named(["s1-table1"], EXHIBITS)] == ["s1-table1"]
    assert {one.name[:2] for one in named(["s0"], EXHIBITS)} == {"s0"}
    with pytest.raises(FullrankError, match=r"'s1-tabel1' is no table or figure here. Did you mean 's1-table1'"):
        named(["s1-tabel1"], EXHIBITS)


def test_pages_and_their_index(tmp_path: Path) -> None:
    hostile = Exhibit("t-1", "<b>T</b>", "nowhere", lambda bench: Found((BAD,), (TRUE, FALSE)), why="because")
    shown: list[dict[str, Any]] = [reproduce(hostile, Bench()).to_json()]
    shown.append(
        reproduce(Exhibit("t-2", "U", "there", lambda b: Found(), needs=("netflix",)), Bench(tmp_path)).to_json()
    )
    index = write_site(shown, tmp_path).read_text()
    assert "t-1.html" in index
    assert "no data" in index
    assert "<b>T" not in index
    page = (tmp_path / "t-1.html").read_text()
    assert "0.600" in page
    assert "it does not" in page
    assert "netflix" in (tmp_path / "t-2.html").read_text()
    assert "&#34;" not in page.split("</style>")[0]
    again = Exhibit("t-2", "U", "there", lambda bench: Found((GOOD,)))
    index = write_site([reproduce(again, Bench()).to_json()], tmp_path).read_text()
    assert "t-1.html" in index  # of the run before
    assert "no data" not in index


def test_the_command(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capfd, "reproduce", "--list")
    assert (code, "s0-table2" in out) == (0, True)
    code, out, err = run(capfd, "reproduce", "s1-table1", "--out", tmp_path)
    assert (code, out.splitlines()[0].startswith("s1-table1: green")) == (0, True)
    assert str(tmp_path / "index.html") in err
    code, out, _ = run(capfd, "reproduce", "s1-table1", "--out", tmp_path, "--json")
    assert json.loads(out)["exhibits"][0]["colour"] == "green"
    assert run(capfd, "reproduce")[0] == 2
    assert run(capfd, "reproduce", "s9")[0] == 66
