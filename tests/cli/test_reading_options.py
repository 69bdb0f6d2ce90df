"""How DATA is read: the same options of every command, and what became of its rows is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.cli.main import _run

PAIRS = [(user, item) for user in range(12) for item in range(12) if (user * item) % 3 != 1]
ROWS = "".join(f"{user};{item};{1 + (user + item) % 5},5;{1 + item:02}/0{1 + user % 9}/2020\n" for user, item in PAIRS)
SAID = ["--separator", ";", "--decimal", ",", "--time-format", "%d/%m/%Y", "--no-header"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "shop.csv"
    found.write_text(ROWS)
    return found


def command(name: str, path: Path) -> list[str]:
    out = path.parent / "out"
    return {
        "fit": ["fit", str(path), "--model", "bestseller", "-o", f"{out}.fr"],
        "tune": ["tune", str(path), "--model", "itemcf", "--trials", "1"],
        "compare": ["compare", str(path), "--models", "bestseller,itemcf", "--out", str(out)],
        "data": ["data", str(path)],
    }[name]


@pytest.mark.parametrize("name", ["fit", "tune", "compare", "data"])
def test_every_command_that_reads_takes_them(name: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(command(name, path)) == 65
    assert "shop.csv:1: this can be read in two ways" in capsys.readouterr().err
    assert _run([*command(name, path), *SAID[:4]]) == 65
    assert "read as %d/%m/%Y and as %m/%d/%Y" in capsys.readouterr().err
    assert _run([*command(name, path), *SAID]) == 0
    told = capsys.readouterr().err
    assert f"{ROWS.count(chr(10))} rows read" in told


def test_evaluate_takes_them_too(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run([*command("fit", path), *SAID]) == 0
    evaluate = ["evaluate", f"{path.parent / 'out'}.fr", "--held-out", str(path)]
    assert _run(evaluate) == 65
    assert _run([*evaluate, *SAID]) == 0
    assert "rows read" in capsys.readouterr().err
