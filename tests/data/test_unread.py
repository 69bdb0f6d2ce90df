"""Dates where nobody named them: taken by position, found further down, or named where they were not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.cli.options import parse_columns
from fullrank.data.read import read
from fullrank.data.reading.dialect import order_by_content
from fullrank.data.reading.fields import Field
from fullrank.errors import DataError
from tests.data.shops import ta_feng, write

FIELDS = [Field("user", "id"), Field("item", "id"), Field("value", "number", required=False), Field("time", "time")]


@pytest.mark.parametrize(
    ("content", "values", "days"),
    [
        ("u1,i1,2020-01-31\nu2,i1,2020-02-01\n", None, ["2020-01-31", "2020-02-01"]),
        ("u1,i1,2020-01-31,5\nu2,i1,2020-02-01,4\n", [5, 4], ["2020-01-31", "2020-02-01"]),
        ("u1,i1,31/01/2020,red\nu2,i1,01/02/2020,blue\n", None, ["2020-01-31", "2020-02-01"]),
        ("u1;i1;31.01.2020 10:00\nu2;i1;01.02.2020 11:00\n", None, ["2020-01-31", "2020-02-01"]),
        ("u1,i1,5,2020-01-31\nu2,i1,4,2020-02-01\n", [5, 4], ["2020-01-31", "2020-02-01"]),
    ],
)
def test_dates_where_a_value_is_expected_are_times(
    tmp_path: Path, content: str, values: list[int] | None, days: list[str]
) -> None:
    data = read(write(tmp_path, content))
    assert data.time is not None
    assert [str(day) for day in data.time.astype("datetime64[D]")] == days
    assert (None if data.value is None else data.value.tolist()) == values
    told = "column 2 holds dates and is taken as the time" in data.intake.notes
    assert told == (content[6:8] != "5,")


@given(st.lists(st.tuples(st.integers(), st.integers(), st.floats(0.1, 9), st.dates()), min_size=1), st.booleans())
def test_the_order_of_columns_follows_what_is_in_them(rows: list[tuple[Any, ...]], swapped: bool) -> None:
    cells = [[str(cell) for cell in ((u, i, t, v) if swapped else (u, i, v, t))] for u, i, v, t in rows]
    order = [field.role for field in order_by_content(FIELDS, cells)]
    assert order == (["user", "item", "time", "value"] if swapped else ["user", "item", "value", "time"])


def test_numbers_since_1970_where_a_value_is_expected_are_doubted(tmp_path: Path) -> None:
    data = read(write(tmp_path, "u1,i1,978300760\nu2,i1,978300761\n"))
    assert "column 2 was read as the value and looks like a time" in data.intake.doubts[0]
    again = read(tmp_path / "shop.csv", parse_columns(data.intake.doubts[0].rsplit(" ", 1)[1]))
    assert (again.value, again.intake.doubts) == (None, ())
    assert again.time is not None
    assert read(write(tmp_path, "u1,i1,4\nu2,i1,5\n")).intake.doubts == ()


def test_dates_are_told_apart_by_rows_further_down(tmp_path: Path) -> None:
    """The first 13th of a month may be far down; where there is none, both readings are named."""
    early = ta_feng(["11/1/2000", "12/2/2000"], [1, 1], repeat=60_000)  # over one chunk
    with pytest.raises(DataError, match=r"read as %d/%m/%Y and as %m/%d/%Y; say which"):
        read(write(tmp_path, early))
    data = read(write(tmp_path, early + ta_feng(["12/13/2000"], [1]).splitlines()[1] + "\n"))
    assert data.time is not None
    assert str(data.time.max().astype("datetime64[D]")) == "2000-12-13"
    both = "".join(f"{line}\n" for line in ta_feng(["12/13/2000", "13/12/2000"], [1, 1]).splitlines()[1:])
    with pytest.raises(DataError, match="say which"):
        read(write(tmp_path, early + both))


def test_a_bad_row_further_down_decides_nothing(tmp_path: Path) -> None:
    text = "user,item,date\n" + "1,2,01/02/2020\n" * 400 + "1,2,soon\n1,3,31/01/2020\n"
    with pytest.raises(DataError, match=r"shop\.csv:402: time 'soon' is not a time like the others"):
        read(write(tmp_path, text))
    assert len(read(tmp_path / "shop.csv", on_bad="skip")) == 2


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_tables_are_looked_through_too(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.data.reading.typed.ROWS", 4)
    frame = pl.DataFrame({"user": range(10), "item": range(10), "date": ["01/02/2020"] * 9 + ["31/01/2020"]})
    path = tmp_path / "f.parquet"
    frame.write_parquet(path)
    data = read(path if kind == "parquet" else frame)
    assert data.time is not None
    assert len(data) == 10
    assert str(data.time.max().astype("datetime64[D]")) == "2020-02-01"


def test_unknown_names_above_dates_are_a_header(tmp_path: Path) -> None:
    for content in ("klant,artikel,datum\n1,2,2020-01-31\n2,3,2020-02-01\n", "datum,klant,artikel\n2020-01-31,a,b\n"):
        with pytest.raises(DataError) as caught:
            read(write(tmp_path, content))
        message = str(caught.value).replace(f"{tmp_path}/", "")
        assert message.startswith("shop.csv: no user column: expected a name such as user, userid, uid, found ")
        assert content.partition("\n")[0].replace(",", ", ") in message
        assert "--columns user=...,item=..." in message


CELLS = {
    "dates": (["2020-01-31", "2020-02-01"], "when", True),
    "ambiguous dates": (["01/02/2020", "01/03/2020"], "when", True),
    "compact dates": ([20200131, 20200201], "x", True),
    "seconds": ([978300760, 978300761], "event_stamp_utc", True),
    "milliseconds": ([978300760000, 978300761000], "my_time", True),
    "numbers of something else": ([978300760, 978300761], "phone", False),
    "small numbers": ([3, 4], "days_left", False),
    "words": (["tea", "jam"], "update_note", False),
    "versions": (["1.2.3", "4.5.6"], "version", False),
}


@pytest.mark.parametrize("kind", ["csv", "frame", "parquet", "pandas"])
@pytest.mark.parametrize("case", CELLS)
def test_a_column_that_looks_like_a_time_is_named(tmp_path: Path, kind: str, case: str) -> None:
    cells, name, looks = CELLS[case]
    frame = {"user": [1, 2], "item": [5, 6], "rating": [3, 4], name: cells}
    data = read(_source(tmp_path, kind, frame))
    assert data.time is None
    option = f"user=user,item=item,value=rating,time={name}"
    doubt = f"column '{name}' looks like a time and was not read; name it with --columns {option}"
    assert data.intake.doubts == ((doubt,) if looks else ())
    if looks and case != "ambiguous dates":
        again = read(_source(tmp_path, kind, frame), parse_columns(option))
        assert again.time is not None
        assert again.intake.doubts == ()


def _source(folder: Path, kind: str, frame: dict[str, Any]) -> Any:
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(frame)
    if kind == "parquet":
        pl.DataFrame(frame).write_parquet(folder / "f.parquet")
        return folder / "f.parquet"
    return frame if kind == "frame" else write(folder, pl.DataFrame(frame).write_csv())


def test_columns_that_look_like_a_value_or_a_session_are_named() -> None:
    notes = read(
        {"user": [1], "item": [2], "user_item_rating": [3], "session_id": [7], "rating_price": [9]}
    ).intake.notes
    assert any("column 'user_item_rating' looks like a value and was not read" in note for note in notes)
    assert any("column 'session_id' looks like a session and was not read" in note for note in notes)
    assert not any("rating_price" in note for note in notes)


def test_names_that_no_option_could_take_are_given_by_place() -> None:
    frame = {"user": [1], "item": [2], "seen, at": ["2020-01-31"]}
    assert read(frame).intake.doubts[0].endswith("--columns user=user,item=item,time=2")


def test_columns_that_nobody_reads_may_hold_anything() -> None:
    odd = {"user": [1], "item": [2], "tags": [["a", "b"]], "more": [object()], "what": [{"a": 1}], "s": {1}, "n": 5}
    assert len(read(odd)) == 1


def test_small_numbers_as_times_are_told() -> None:
    notes = read({"user": [1, 2], "item": [2, 3], "day": [3, 17]}).intake.notes
    assert "times such as 17 read as seconds since 1970" in notes
