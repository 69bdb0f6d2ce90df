"""Duplicates and times: merged by rule, read in one form, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.errors import DataError
from tests.data.faulty_files import CLEAN, refusal, write


class TestDuplicates:
    rows = "1,10,2,100\n1,10,5,300\n1,10,4,200\n2,10,1,50\n"

    @pytest.mark.parametrize(
        ("rule", "value", "time"),
        [("last", 5, 300), ("first", 2, 100), ("sum", 11, 300), ("mean", 11 / 3, 300), ("max", 5, 300)],
    )
    def test_rule(self, tmp_path: Path, rule: str, value: float, time: int) -> None:
        lines = self.rows.splitlines(keepends=True)
        results = [
            read(write(tmp_path, "user,item,rating,time\n" + "".join(order)), duplicates=rule)  # type: ignore[arg-type]
            for order in (lines, lines[::-1], lines[2:] + lines[:2])
        ]
        assert results[0] == results[1] == results[2]
        assert results[0].value is not None
        assert results[0].value[0] == pytest.approx(value)
        assert results[0].time is not None
        assert results[0].time[0] == np.datetime64(time, "s")
        assert results[0].intake.merged == 2
        assert "2 merged as duplicates" in str(results[0].intake)

    def test_equally_late_values_give_the_largest(self) -> None:
        rows = {"user": [1, 1, 1], "item": [1, 1, 1], "rating": [3, 4, 5], "time": [7, 7, 6]}
        assert read(rows).value == [4]
        assert read({name: cells[::-1] for name, cells in rows.items()}).value == [4]

    def test_error(self) -> None:
        with pytest.raises(DataError, match=r"repeat a .user, item. pair, the first is user 1, item 'x'"):
            read({"user": [1, 1], "item": ["x", "x"]}, duplicates="error")

    def test_without_time_the_last_is_unknown(self) -> None:
        same = read({"user": [1, 1], "item": [1, 1], "rating": [3, 3]})
        assert (len(same), same.intake.merged) == (1, 1)
        with pytest.raises(DataError, match="no time to tell the last; choose duplicates="):
            read({"user": [1, 1], "item": [1, 1], "rating": [3, 4]})

    def test_sums_do_not_depend_on_row_order(self) -> None:
        rng = np.random.default_rng(0)
        values = rng.lognormal(0, 8, 500).astype(np.float32).clip(1e-9, 1e9)
        sums = set()
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(500)
            merged = Interactions.of(np.ones(500, int), np.ones(500, int), values[order], duplicates="sum").value
            assert merged is not None
            sums.add(float(merged[0]))
        assert len(sums) == 1
        assert sums.pop() == pytest.approx(float(np.sum(values, dtype=np.float64)), rel=1e-6)


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("-1", "before 1970"),
        ("1546300800000", "looks like milliseconds; give time_unit='ms'"),
        ("1546300800000000", "looks like microseconds; give time_unit='us'"),
        ("NaN", "is missing"),
        ("", "is empty"),
        ("+275760-09-13", "is not a time"),
        ("soon", "is not a time"),
        ("9223372036854775807", "looks like nanoseconds; give time_unit='ns'"),
        ("1e300", "beyond the year 5138 in every unit"),
    ],
)
def test_times(tmp_path: Path, cell: str, found: str) -> None:
    message = refusal(write(tmp_path, CLEAN + f"3,10,5,{cell}\n"))
    assert message.startswith("ratings.csv:5: time ")
    assert found in message


@pytest.mark.parametrize(
    ("cell", "unit", "expected"),
    [
        ("1546300800", "s", "2019-01-01"),
        ("1546300800000", "ms", "2019-01-01"),
        ("1546300800.25", "s", "2019-01-01T00:00:00.250"),
        ("1546300800000000000", "ns", "2019-01-01"),
        ("2019-01-01", "s", "2019-01-01"),
        ("2019-01-01 10:00", "s", "2019-01-01T10"),
        ("2019-01-01T12:30:05", "s", "2019-01-01T12:30:05"),
        ("2019-01-01T12:30:05.125Z", "s", "2019-01-01T12:30:05.125"),
        ("2019-01-01 12:30:05+02:00", "s", "2019-01-01T10:30:05"),
    ],
)
def test_forms_of_time(tmp_path: Path, cell: str, unit: str, expected: str) -> None:
    first = "2019-01-01" if "-" in cell else "1"
    for rows in (f"1,2,{cell}\n", f"1,1,{first}\n1,2,{cell}\n"):
        time = read(write(tmp_path, "user,item,time\n" + rows), time_unit=unit).time
        assert time is not None
        assert time[-1] == np.datetime64(expected, "us")


def test_times_of_every_type() -> None:
    moment = np.datetime64("2019-01-01T12:00:00", "us")
    aware = pd.Series(pd.to_datetime(["2019-01-01T14:00:00+02:00"], utc=False))
    for times in (
        pl.Series([1546344000]),
        aware,
        pd.Series([moment]),
        pa.array([moment.astype("datetime64[ms]")]),
        pl.Series(["2019-01-01T12:00:00"]),
    ):
        assert read({"user": [1], "item": [1], "time": times}).time == [moment]
    with pytest.raises(DataError, match="row 0: column 'time': time is empty"):
        read(pd.DataFrame({"user": [1], "item": [1], "time": [pd.NaT]}).astype({"time": "datetime64[ns]"}))
