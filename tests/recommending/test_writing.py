"""Lists in files: every format gives them back; interrupted, killed and damaged jobs end with the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullrank
from fullrank import IALS, Interactions, Rules, recommend, write_recommendations
from fullrank.errors import LockedError, OutputError, ParameterError
from fullrank.recommending import recommendations
from fullrank.runtime.atomic import locked
from tests.recommending.world import ABOUT, DATA, MODELS

MODEL = MODELS["vectors"]
ODD = [
    "01",
    "nan",
    "=cmd()",
    "+1",
    "é",
    "e\u0301",
    'a"b',
    "a,b",
    "a\tb",
    "line\nbreak",
    " blank ",
    "\u202eright",
    "None",
]
FORMATS = [".csv", ".csv.gz", ".csv.zst", ".tsv", ".jsonl", ".jsonl.gz", ".parquet"]


def back(path: Path, names: Any = pl.String) -> pl.DataFrame:
    """What is in a file, read by somebody else."""
    types = {"user": names, "item": names, "rank": pl.Int32, "score": pl.Float64, "fallback": pl.String}
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    if path.suffix == ".zst":
        import zstandard

        raw = zstandard.ZstdDecompressor().stream_reader(raw).read()
    if ".jsonl" in path.suffixes:
        return pl.DataFrame([json.loads(line) for line in raw.decode().splitlines()], schema=types)
    separator = "\t" if ".tsv" in path.suffixes else ","
    return pl.read_csv(raw, separator=separator, schema=types).with_columns(pl.col("fallback").fill_null(""))


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_lists_back(suffix: str, tmp_path: Path) -> None:
    names = [*ODD, *(f"plain {number}" for number in range(20))]
    rows = [(names[user], names[(user * 7 + step) % len(names)]) for user in range(len(names)) for step in range(4)]
    model = IALS(factors=3).fit(Interactions.of(*zip(*rows, strict=True)))
    path = tmp_path / f"lists{suffix}"
    written = write_recommendations(model, path, n=5)
    expected = recommend(model, users="all", n=5).to_frame()
    assert back(path).equals(expected)
    assert (written.people, written.rows, written.popular) == (len(names), expected.height, 0)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_large_integers_survive(suffix: str, tmp_path: Path) -> None:
    names = [2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**62), 7]
    pairs = [(names[user], names[(user + step) % 5]) for user in range(5) for step in (0, 1)]
    model = IALS(factors=2).fit(Interactions.of(*zip(*pairs, strict=True)))
    write_recommendations(model, tmp_path / f"lists{suffix}", users=[*names, 2**60 + 1], n=3)
    frame = back(tmp_path / f"lists{suffix}", pl.Int64)
    assert frame.equals(recommend(model, users=[*names, 2**60 + 1], n=3).to_frame())
    assert frame["fallback"].to_list()[-3:] == ["popular"] * 3


def test_formulas_are_disarmed_where_asked(tmp_path: Path) -> None:
    model = IALS(factors=2).fit(Interactions.of(["=a", "b", "b", "c"], ["@x", "@x", "y", "-z"]))
    for suffix in (".csv", ".tsv"):
        write_recommendations(model, tmp_path / f"lists{suffix}", n=3, excel_safe=True)
        frame = back(tmp_path / f"lists{suffix}")
        assert {"'=a", "b", "c"} == set(frame["user"])
        assert {"'@x", "y", "'-z"} == set(frame["item"])


def test_parts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Rules(where="genre != 'News'", items=ABOUT, most={"studio": 2})
    for suffix in FORMATS:
        write_recommendations(MODEL, tmp_path / f"one{suffix}", n=4, rules=rules)
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(recommendations, "PEOPLE", 7)
    for suffix in FORMATS:
        write_recommendations(
            MODEL, tmp_path / f"many{suffix}", n=4, rules=rules, progress=lambda done, of: told.append((done, of))
        )
        assert back(tmp_path / f"one{suffix}", pl.Int64).equals(back(tmp_path / f"many{suffix}", pl.Int64))
    assert told[:9] == [(min(7 * part, 60), 60) for part in range(1, 10)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommendations, "PEOPLE", 7)


class Stop(Exception):  # noqa: N818 (not an error)
    pass


def stop_after(parts: int) -> Any:
    def progress(done: int, _: int) -> None:
        if done >= 7 * parts:
            raise Stop

    return progress


def run(path: Path, made: list[int], monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Write, and note whose lists are made."""
    make = recommendations.make_lists

    def noted(request: Any, rows: Any, n: int) -> Any:
        made.append(int(rows[0]))
        return make(request, rows, n)

    with monkeypatch.context() as patch:
        patch.setattr("fullrank.recommending.writing.make_lists", noted)
        write_recommendations(MODEL, path, **{"n": 4, **options})


@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_job_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "whole.parquet", [], monkeypatch)
    path, parts = tmp_path / "lists.parquet", tmp_path / "lists.parquet.parts"
    made: list[int] = []
    with pytest.raises(Stop):
        run(path, made, monkeypatch, progress=stop_after(4))
    assert (made, path.exists()) == ([0, 7, 14, 21], False)
    (parts / "000000.arrow").write_bytes(b"damaged")
    (parts / "000001.json").write_text("{")
    (parts / "000002.arrow").write_bytes((parts / "000003.arrow").read_bytes())  # of others
    made.clear()
    run(path, made, monkeypatch)
    assert made == [0, 7, 14, *range(28, 60, 7)]
    assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not parts.exists()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "other",
    [{"n": 5}, {"users": DATA.users.names[::-1].tolist()}, {"rules": Rules(repeat=True)}, {"model": True}],
    ids=str,
)
def test_parts_of_another_job_are_not_taken(other: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made = tmp_path / "lists.csv", []  # type: ignore[var-annotated]
    with pytest.raises(Stop):
        run(path, made, monkeypatch, progress=stop_after(3))
    model = IALS(factors=6, sweeps=4).fit(DATA) if other.pop("model", False) else MODEL
    write_recommendations(model, path, **{"n": 4, **other})
    write_recommendations(model, tmp_path / "whole.csv", **{"n": 4, **other})
    assert path.read_bytes() == (tmp_path / "whole.csv").read_bytes()


KILLED = """
import sys, fullrank
from fullrank.recommending import recommendations
recommendations.PEOPLE = 40
model = fullrank.load(sys.argv[1])
print("begun", flush=True)
rules = fullrank.Rules(diversify="mmr:0.3", pool=200)
fullrank.write_recommendations(model, sys.argv[2], n=20, rules=rules)
"""


@pytest.mark.parametrize(("suffix", "most"), [(".parquet", 6), (".csv.gz", 3)])
def test_killed_at_any_moment_it_ends_the_same(suffix: str, most: int, tmp_path: Path) -> None:
    world = fullrank.simulate.ratings(users=6000, items=900, density=0.01, seed=1).data
    fullrank.save(IALS(factors=16, sweeps=1).fit(world), tmp_path / "model.fr")

    def start(path: Path) -> subprocess.Popen[str]:
        arguments = [sys.executable, "-c", KILLED, str(tmp_path / "model.fr"), str(path)]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        return process

    def count() -> int:
        return len(list((tmp_path / f"killed{suffix}.parts").glob("*.json")))

    whole, path, draw = tmp_path / f"whole{suffix}", tmp_path / f"killed{suffix}", random.Random(0)
    start(whole).communicate()
    for _ in range(most):
        process, before, more = start(path), count(), draw.randrange(1, 12)
        while process.poll() is None and count() < before + more:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.02))  # anywhere in the making or writing of the next
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert count() >= before + more  # it went on
    assert not path.exists()
    last = start(path)
    last.communicate()
    assert last.returncode == 0
    assert path.read_bytes() == whole.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {"model.fr", whole.name, path.name}


def test_one_job_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "lists.csv.parts").mkdir()
    with locked(tmp_path / "lists.csv.parts" / "parts"), pytest.raises(LockedError, match="locked by process"):
        write_recommendations(MODEL, tmp_path / "lists.csv")
    assert not (tmp_path / "lists.csv").exists()


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    for name in ("lists", "lists.txt", "lists.parquet.gz", "lists.csv.old", "lists.gz"):
        with pytest.raises(ParameterError, match="cannot tell a format"):
            write_recommendations(MODEL, tmp_path / name)
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(OutputError, match="exists; pass overwrite=True"):
        write_recommendations(MODEL, tmp_path / "there.csv")
    with pytest.raises(OutputError, match="there is no folder"):
        write_recommendations(MODEL, tmp_path / "no" / "there.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["there.csv"]
    write_recommendations(MODEL, tmp_path / "there.csv", overwrite=True)
    assert back(tmp_path / "there.csv", pl.Int64).equals(recommend(MODEL, users="all").to_frame())


def test_nobody_is_a_file_with_a_header(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet"):
        write_recommendations(MODEL, tmp_path / f"lists{suffix}", users=[])
        assert back(tmp_path / f"lists{suffix}", pl.Int64).is_empty()
