"""Times as people write them: one form for a column, found where only one fits, asked for where two do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.write import write
from fullrank.errors import DataError, ParameterError

SOURCES = ("csv", "frame", "parquet")


def source(folder: Path, kind: str, cells: list[Any]) -> Any:
    columns = {"user": list(range(len(cells))), "item": [1] * len(cells), "time": cells}
    if kind == "frame":
        return columns
    path = folder / f"f.{kind}"
    if kind == "parquet":
        pl.DataFrame(columns).write_parquet(path)
    else:
        lines = "".join(f'{row},1,"{cell}"\n' for row, cell in enumerate(cells))
        path.write_text("user,item,time\n" + lines)
    return path


def times(data: Interactions) -> list[str]:
    assert data.time is not None
    return [str(time.astype("datetime64[s]")) for time in data.time]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(
    ("cells", "expected", "told"),
    [
        (["2020-01-31", "2020-02-01 10:00:30"], ["2020-01-31T00:00:00", "2020-02-01T10:00:30"], ""),
        (["2020-01-31T10:00:00Z"], ["2020-01-31T10:00:00"], ""),
        (["2020-01-31 10:00:00+0200", "2020-01-31 10:00:00 UTC"], ["2020-01-31T08:00:00", "2020-01-31T10:00:00"], ""),
        (["31/01/2020", "01/02/2020"], ["2020-01-31T00:00:00", "2020-02-01T00:00:00"], "%d/%m/%Y"),
        (["01/02/2020 3:04 PM", "1/31/2020 12:00 AM"], ["2020-01-02T15:04:00", "2020-01-31T00:00:00"], "%m/%d/%Y"),
        (["31.1.2020 10:00"], ["2020-01-31T10:00:00"], "%d.%m.%Y"),
        (["2020/01/02"], ["2020-01-02T00:00:00"], "%Y/%m/%d"),
        (["Jan 31, 2020", "May 1, 2020", "June 2, 2020"], ["2020-01-31", "2020-05-01", "2020-06-02"], "%b %d, %Y"),
        (["20200131", "20200201"], ["2020-01-31T00:00:00", "2020-02-01T00:00:00"], "%Y%m%d"),
        ([20200131, 20200201], ["2020-01-31T00:00:00", "2020-02-01T00:00:00"], "%Y%m%d"),
        (["20200131T101112Z"], ["2020-01-31T10:11:12"], "%Y%m%d"),
        ([202001311200], ["2020-01-31T12:00:00"], "%Y%m%d%H%M"),
        ([20200131120059], ["2020-01-31T12:00:59"], "%Y%m%d%H%M%S"),
        ([978300760], ["2000-12-31T22:12:40"], ""),
        ([978300760000], ["2000-12-31T22:12:40"], "milliseconds"),
        ([978300760000000], ["2000-12-31T22:12:40"], "microseconds"),
        ([978300760000000000], ["2000-12-31T22:12:40"], "nanoseconds"),
        ([0, 5, 1000], ["1970-01-01T00:00:00", "1970-01-01T00:00:05", "1970-01-01T00:16:40"], ""),
    ],
)
def test_found_by_itself(tmp_path: Path, kind: str, cells: list[Any], expected: list[str], told: str) -> None:
    data = read(source(tmp_path, kind, cells))
    assert times(data) == [(day + "T00:00:00")[:19] for day in expected]
    notes = [note for note in data.intake.notes if note.startswith("times read as")]
    assert len(notes) == bool(told)
    assert told in "".join(notes)


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(
    ("cells", "readings"),
    [
        (["01/02/2020", "03/04/2020"], ("%d/%m/%Y", "%m/%d/%Y")),
        (["05/05/2020"], ("%d/%m/%Y", "%m/%d/%Y")),  # the same day now, but not in the next row
        (["01/02/20"], ("%d/%m/%y", "%m/%d/%y")),
        (["13/01/2020", "01/13/2020"], ("%d/%m/%Y", "%m/%d/%Y")),
        ([2020, 2021], ("%Y", "seconds since 1970")),
        ([202001, 202112], ("%Y%m", "seconds since 1970")),
        ([2020013110], ("%Y%m%d%H", "seconds since 1970")),
    ],
)
def test_two_readings_are_an_error_that_names_both(
    tmp_path: Path, kind: str, cells: list[Any], readings: tuple[str, str]
) -> None:
    with pytest.raises(DataError) as caught:
        read(source(tmp_path, kind, cells))
    for reading in readings:
        assert reading in str(caught.value)
    assert "--time-format" in str(caught.value)


@pytest.mark.parametrize("kind", SOURCES)
def test_what_is_said_decides(tmp_path: Path, kind: str) -> None:
    ambiguous = source(tmp_path, kind, ["01/02/2020"])
    assert times(read(ambiguous, time_format="%d/%m/%Y")) == ["2020-02-01T00:00:00"]
    assert times(read(ambiguous, time_format="%m/%d/%Y")) == ["2020-01-02T00:00:00"]
    years = source(tmp_path, kind, [2020])
    assert times(read(years, time_format="%Y")) == ["2020-01-01T00:00:00"]
    assert times(read(years, time_unit="s")) == ["1970-01-01T00:33:40"]
    assert times(read(source(tmp_path, kind, [20200131]), time_unit="s")) == ["1970-08-22T19:08:51"]
    assert times(read(source(tmp_path, kind, [2020013110]), time_format="%Y%m%d%H")) == ["2020-01-31T10:00:00"]
    literal = source(tmp_path, kind, ["2020-01-31T10:00:00 Z"])
    assert times(read(literal, time_format="%Y-%m-%dT%H:%M:%S Z")) == ["2020-01-31T10:00:00"]
    for wrong in ("%Q%H", "%H:%M", "", "xx"):
        with pytest.raises(ParameterError, match="The 'time_format' parameter must be a strftime form"):
            read(source(tmp_path, kind, ["01/02/2020"]), time_format=wrong)
    with pytest.raises(ParameterError, match="The 'time_unit' parameter must be"):
        read({"user": [1], "item": [1]}, time_unit="h")


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["2020-01-31", "1950-05-05"], "time '1950-05-05' is before 1970; is it a mark for a missing time?"),
        (["2020-01-31", "9999-12-31"], "time '9999-12-31' is beyond the year 5138; is it a mark for a missing time?"),
        (["31/01/2020", "2020"], "times are dates in some rows ('31/01/2020') and numbers in others ('2020')"),
        (["2020-01-31", "31/01/2020"], "read as %Y-%m-%d and as %d/%m/%Y"),
        (["2020-01-31", "soon"], "time 'soon' is not a time like the others (%Y-%m-%d)"),
        ([978300760, -1], "time -1 is before 1970"),
        ([978300760, 978300760000], "looks like milliseconds; give time_unit='ms'"),
        ([978300760, 978300760000000], "looks like microseconds; give time_unit='us'"),
    ],
)
def test_the_right_sentence(tmp_path: Path, kind: str, cells: list[Any], sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read(source(tmp_path, kind, cells))
    assert sentence in str(caught.value)


def test_a_stray_date_among_numbers_can_be_skipped(tmp_path: Path) -> None:
    path = source(tmp_path, "csv", [978300760, "2020-01-31", 978300761])
    with pytest.raises(DataError, match="make them one, or say time_unit or time_format"):
        read(path)
    data = read(path, time_unit="s", on_bad="skip")
    assert (len(data), data.intake.dropped) == (2, {"time is not a time": 1})


def test_the_form_of_the_first_rows_holds_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every chunk has the same one: 02/13 is refused, though by itself it could only be month and day."""
    monkeypatch.setattr("fullrank.data.reading.text.CHUNK", 200)
    cells = [f"{1 + n % 28:02}/01/2020" for n in range(8000)]
    path = source(tmp_path, "csv", [*cells, "02/13/2020"])
    with pytest.raises(DataError, match="'02/13/2020' is not a time like the others"):
        read(path)
    data = read(path, on_bad="skip")
    assert (len(data), data.intake.dropped) == (8000, {"time is not a time": 1})
    assert data.time is not None
    assert set(data.time.astype("datetime64[M]").astype(str)) == {"2020-01"}


@pytest.mark.parametrize("seconds", [[2020, 2021], [20200131], [1_900_123_123], [978300760, 1], [1_577_836_800]])
def test_written_times_are_read_back(tmp_path: Path, seconds: list[int]) -> None:
    rows = list(range(len(seconds)))
    data = Interactions.of(rows, rows, time=np.array(seconds))
    write(data, tmp_path / "x.csv")
    assert read(tmp_path / "x.csv") == data
