"""What is written is read back exactly; how the rows were ordered never matters."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.graded import Graded
from fullrank.data.ids import is_canonical_integer
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.read import read, read_preferences, read_sessions
from fullrank.data.reading.records import Record, records
from fullrank.data.write import to_frame, write
from fullrank.errors import OutputError, ParameterError
from tests.data.strategies import characters, columns, interactions, strings

FORMATS = [".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.zst"]
few = settings(max_examples=60)


def looks_like_integers(data: Interactions) -> bool:
    return any(ids.are_strings and all(map(is_canonical_integer, ids)) for ids in (data.users, data.items))


@given(data=interactions(), suffix=st.sampled_from(FORMATS))
@settings(few, max_examples=200)
def test_interactions_survive(data: Interactions, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        write(data, path)
        back = read(path)
    if "parquet" not in suffix and looks_like_integers(data):  # text has no types
        assert sorted(map(str, back.users)) == sorted(map(str, data.users))
        assert sorted(map(str, back.items)) == sorted(map(str, data.items))
        assert len(back) == len(data)
    else:
        assert back == data
    assert back.intake.kept == back.intake.rows == len(data)


@given(rows=columns(), seed=st.integers(0, 2**32 - 1))
@few
def test_row_order_never_matters(rows: dict, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows["user"]))
    shuffled = {name: [cells[place] for place in order] for name, cells in rows.items()}
    for rule in ("sum", "mean", "max"):
        assert Interactions.of(**rows, duplicates=rule) == Interactions.of(**shuffled, duplicates=rule)
    if "time" in rows:
        assert Interactions.of(**rows) == Interactions.of(**shuffled)


@given(data=interactions(min_rows=3), chunk=st.integers(16, 300), seed=st.integers(0, 99))
@few
def test_chunks_and_shuffled_lines_give_the_same(data: Interactions, chunk: int, seed: int) -> None:
    frame = to_frame(data).sample(fraction=1, shuffle=True, seed=seed)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr("fullrank.data.reading.text.CHUNK", chunk)
        patch.setattr("fullrank.data.reading.text.PIECE", chunk // 2)
        path = Path(folder) / "data.csv"
        frame.write_csv(path, quote_style="always", datetime_format="%Y-%m-%d %H:%M:%S%.6f")
        back = read(path)
        patch.undo()
        assert back == read(path)
        if not looks_like_integers(data):
            assert back == data


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), strings, st.sampled_from(["shown", "clicked", "bought"])), min_size=1),
    suffix=st.sampled_from(FORMATS),
)
@few
def test_sessions_survive(rows: list, suffix: str) -> None:
    session, item, action = (list(column) for column in zip(*rows, strict=True))
    scale = ("shown", "clicked", "bought")
    data = Graded.of(session, item, action=action, scale=scale, user=[f"u{s % 2}" for s in session], time=session)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        write(data, path)
        back = read_sessions(path, scale=scale)
    assert sorted(map(str, back.items)) == sorted(data.items)
    if "parquet" in suffix or not all(map(is_canonical_integer, data.items)):
        assert back == data


@given(
    rows=st.lists(st.tuples(strings, st.integers(0, 5), st.integers(6, 9)), min_size=1),
    suffix=st.sampled_from(FORMATS),
)
@few
def test_preferences_survive(rows: list, suffix: str) -> None:
    data = Preferences.of(*zip(*rows, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        write(data, path)
        back = read_preferences(path)
    if "parquet" in suffix or not all(map(is_canonical_integer, data.users)):
        assert back == data


@given(table=st.lists(st.lists(st.text(characters, max_size=8), min_size=2, max_size=2), min_size=1, max_size=8))
@few
def test_the_careful_reader_reads_what_polars_writes(table: list) -> None:
    text = pl.DataFrame(table, schema=["a", "b"], orient="row").write_csv(quote_style="always", include_header=False)
    assert [record.fields for record in records(text, ",") if isinstance(record, Record)] == table


def test_bytes_are_the_same_every_time(tmp_path: Path) -> None:
    data = read({"user": ["a", "b"], "item": [1, 2], "rating": [0.1, 3.3], "time": [1, 1.5]})
    for suffix in FORMATS:
        write(data, tmp_path / f"one{suffix}")
        write(data, tmp_path / f"two{suffix}")
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()
    assert read(tmp_path / "one.csv") == data
    assert "0.1" in (tmp_path / "one.csv").read_text()


def test_d18_formulas(tmp_path: Path) -> None:
    data = read({"user": ["=cmd()", "a"], "item": ["+1", "@x"]})
    write(data, tmp_path / "exact.csv")
    assert read(tmp_path / "exact.csv") == data
    write(data, tmp_path / "safe.csv", excel_safe=True)
    assert sorted(read(tmp_path / "safe.csv").users) == ["'=cmd()", "a"]


def test_outputs_are_refused_before_the_work(tmp_path: Path) -> None:
    data = read({"user": [1], "item": [1]})
    write(data, tmp_path / "a.csv")
    before = (tmp_path / "a.csv").read_bytes()
    with pytest.raises(OutputError, match="exists; pass overwrite=True"):
        write(data, tmp_path / "a.csv")
    write(data, tmp_path / "a.csv", overwrite=True)
    assert (tmp_path / "a.csv").read_bytes() == before
    with pytest.raises(OutputError, match="there is no folder"):
        write(data, tmp_path / "none" / "a.csv")
    for name in ("a", "a.xls", "a.parquet.gz"):
        with pytest.raises(ParameterError, match="cannot tell a format"):
            write(data, tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]
