"""Frames of every kind: data, or a refusal in one sentence; nothing taken for what it is not (FAULTS D25, D26)."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.read import read, read_preferences, read_sessions
from fullrank.data.times import checked_times
from fullrank.errors import DataError, FullrankError, ParameterError, StorageError

DECIMALS = [Decimal("1.5")] * 2
FAR = 2**61
UNITS = ("Y", "M", "W", "D", "h", "s", "ms", "us", "ns", "ps", "as")

COLUMNS: dict[str, Any] = {
    "masked integers": np.ma.array([1, 2], mask=[True, False]),
    "masked strings": np.ma.array(["a", "b"], mask=[True, False]),
    "masked times": np.ma.array(np.array(["2020", "2021"], "M8[s]"), mask=[True, False]),
    **{f"datetime64[{unit}]": np.array([FAR, 5]).astype(f"M8[{unit}]") for unit in UNITS},
    "timedelta64": np.array([1, 2], "m8[ns]"),
    "complex": np.array([1 + 2j, 2]),
    "records": np.zeros(2, dtype=[("a", int)]),
    "float16": np.array([1, 2], np.float16),
    "longdouble": np.array([1, 2], np.longdouble),
    "no dimension": np.array(5),
    "scalar": 5,
    "string": "ab",
    "bytes": b"ab",
    "none": None,
    "set": {1, 2},
    "mapping": {1: 2, 3: 4},
    "ragged": [[1], [2, 3]],
    "objects": [object(), object()],
    "over 64 bits": [2**64, 1],
    "over 128 bits": [2**200, 1],
    "polars over 64 bits": pl.Series([2**100, 1], dtype=pl.Int128),
    "polars dates": pl.Series([2**30, 1], dtype=pl.Int32).cast(pl.Date),
    "polars times": pl.Series([FAR, 1]).cast(pl.Datetime("ms")),
    "polars objects": pl.Series([object(), object()], dtype=pl.Object),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([1, 2])),
    "pandas decimal256": pd.Series(pd.array(DECIMALS, dtype=pd.ArrowDtype(pa.decimal256(50, 2)))),
    "pandas intervals": pd.Series(pd.interval_range(0, 2)),
    "pandas times": pd.Series(pd.array([5, FAR], dtype="int64[pyarrow]").astype("timestamp[s][pyarrow]")),
    "pandas NA": pd.Series(pd.array([1, pd.NA], dtype="Int64")),
    "decimal256": pa.array(DECIMALS, pa.decimal256(50, 2)),
    "decimal256 by dictionary": pa.array(DECIMALS, pa.decimal256(50, 2)).dictionary_encode(),
    **{f"timestamp[{unit}]": pa.array([FAR, 5], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "timestamp with a zone": pa.array([FAR, 5], pa.timestamp("s", "Europe/Paris")),
    "union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([1])),
    "lists": pa.array([[1], [2]], pa.list_view(pa.int64())),
    "months": pa.array([pa.MonthDayNano([1, 2, 3])] * 2),
    "nulls": pa.nulls(2),
    "times of day": pa.array([1, 2], pa.time32("s")),
}


KEPT = ["float16", "longdouble", "pandas sparse"]  # as values or times; no float is an id


def _sentence(error: FullrankError) -> str:
    assert "\n" not in str(error)
    return str(error)


def outcome(frame: Any, **options: Any) -> Interactions | str:
    """What is read, or the sentence it is refused with; anything else is raised."""
    try:
        return read(frame, **options)
    except DataError as error:
        return _sentence(error)


@pytest.mark.parametrize("role", ["user", "value", "time"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_any_type_is_data_or_a_refusal_that_names_it(name: str, role: str) -> None:
    found = outcome({"user": [1, 2], "item": [1, 2], role: COLUMNS[name]})
    if isinstance(found, str):
        assert f"column '{role}'" in found
    elif role == "time":
        assert name in [*KEPT, "datetime64[ns]", "datetime64[ps]", "datetime64[as]", "timestamp[ns]"]
    else:
        assert name in KEPT


@pytest.mark.parametrize("missing", [np.ma.masked_array([9, 2], [True, False]), np.ma.masked_array([9.0, 2], [1, 0])])
def test_masked_cells_are_missing(missing: Any) -> None:
    for role in ("user", "value", "time") if missing.dtype.kind == "i" else ("value", "time"):
        columns = {"user": [1, 2], "item": [1, 2], role: missing}
        assert f"row 0: column '{role}': {role} is empty" in str(outcome(columns))
        assert len(read(columns, on_bad="skip")) == 1
    assert read({"user": np.ma.masked_array([1, 2], [False, False]), "item": [1, 2]}) == read(
        {"user": [1, 2], "item": [1, 2]}
    )


@pytest.mark.parametrize("role", ["user", "item", "value", "time"])
def test_masked_arrays_are_not_unmasked_by_the_containers(role: str) -> None:
    masked = np.ma.masked_array([1, 2], [False, True])
    with pytest.raises(DataError, match="is masked in row 1"):
        Interactions.of(**{"user": [1, 2], "item": [1, 2], role: masked})


@given(
    st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=5),
    st.sampled_from(["Y", "M", "W", "D", "h", "m", "s", "ms", "us"]),
)
def test_a_time_is_kept_or_refused_never_wrapped(counts: list[int], unit: str) -> None:
    times = np.array(counts).astype(f"M8[{unit}]")
    try:
        kept = checked_times(times)
    except DataError:
        return
    assert kept.astype(f"M8[{unit}]").tolist() == times.tolist()


def test_far_times_are_refused_by_row_and_can_be_skipped() -> None:
    days = np.array(["2020-01-01", "300000-01-01"], "M8[D]")
    for time in (days, pl.Series([18262, 2**30], dtype=pl.Int32).cast(pl.Date), pa.array([5, FAR], pa.timestamp("s"))):
        columns = {"user": [1, 2], "item": [1, 2], "time": time}
        assert (
            outcome(columns) == "dict: row 1: column 'time': time is outside the years 1 to 9999; correct or remove it."
        )
        skipped = read(columns, on_bad="skip")
        assert (len(skipped), skipped.intake.dropped) == (1, {"time out of range": 1})


def test_far_dates_in_parquet(tmp_path: Path) -> None:
    far = pl.Series([1, 2**30], dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame({"user": [1, 2], "item": [1, 2], "time": far}).write_parquet(tmp_path / "x.parquet")
    assert "row 1: column 'time': time is outside the years" in str(outcome(tmp_path / "x.parquet"))


@pytest.mark.parametrize("make", [pd.DataFrame, lambda rows, columns: pa.table(list(zip(*rows, strict=True)), columns)])
def test_columns_given_twice(make: Any) -> None:
    assert "column 'user' occurs twice; rename one of them" in str(outcome(make([[1, 2, 3]], columns=["user", "user", "item"])))  # fmt: skip # noqa: E501


def test_integers_as_names_of_columns() -> None:
    plain = pd.DataFrame([[1, 2, 3], [4, 5, 6]])
    assert list(read(plain, {"user": 2, "item": 0}).users) == [3, 6]
    named = plain.rename(columns={0: 1, 1: 0, 2: 7})
    assert list(read(named, {"user": 0, "item": 7}).users) == [2, 5]  # as pandas says: named[0]
    assert "expected '2', found 1, 0, 7" in str(outcome(named, columns={"user": 0, "item": 2}))
    assert "no user column" in str(outcome(plain))
    assert list(read({0: [1], 1: [2]}, {"user": 1, "item": 0}).users) == [2]


@pytest.mark.parametrize("frame", [pd.DataFrame(), {}, pl.DataFrame(), pd.DataFrame({"user": [], "item": []})])
def test_empty_frames(frame: Any) -> None:
    assert isinstance(outcome(frame), str)


def test_ids_beyond_63_bits_are_called_so() -> None:
    for ids in ([2**64, 1], [2**63, 1], pl.Series([2**100, 1], dtype=pl.Int128), [-(2**63) - 1, 1]):
        assert outcome({"user": ids, "item": [1, 2]}) == "column 'user' has ids beyond 63 bits; convert it to strings."
    small = pl.Series([2**40, 1], dtype=pl.Int128)
    assert list(read({"user": small, "item": [1, 2]}).users) == [1, 2**40]


class TestSparse:
    @pytest.mark.parametrize("shape", [(3,), (2, 3, 4)])
    def test_one_or_three_dimensions(self, shape: tuple[int, ...]) -> None:
        one = sparse.coo_array(np.ones(shape))
        assert outcome(one) == f"the sparse array has shape {shape}; expected two dimensions, users x items."

    def test_shapes_beyond_codes(self) -> None:
        one = sparse.coo_array(([1.0], ([2_999_999_999], [3])), shape=(3_000_000_000, 10))
        message = str(outcome(one))
        assert "shape (3000000000, 10), and 2,147,483,647 users or items are the most" in message
        assert "numpy.unique" in message

    def test_shapes_beyond_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("fullrank.runtime.memory.available", lambda: 1e9)
        monkeypatch.setattr(Ids, "numbered", lambda n: pytest.fail("was made before it was asked whether it fits"))
        with pytest.raises(StorageError, match=r"shape \(2000000000, 10\) need about 48.0 GB, and 1.0 GB are free"):
            read(sparse.coo_array(([1.0], ([5], [3])), shape=(2_000_000_000, 10)))

    def test_names(self) -> None:
        one = sparse.csr_array(np.eye(2))
        assert list(read(one, users=Ids(["a", "b"])).users) == ["a", "b"]
        with pytest.raises(DataError, match="has 2 items, and 1 names of items are given"):
            read(one, items=Ids(["a"]))
        with pytest.raises(ParameterError, match="'columns' parameter must be left out"):
            read(one, {"user": 0, "item": 1})


OPTIONS: dict[str, list[Any]] = {
    "scale": [(float("nan"), 5), (5, 1), (1,), (1, 2, 3), 5, ("1", "5"), (1, None)],
    "duplicates": ["zzz", 5, ""],
    "feedback": ["zzz", True],
    "time_unit": ["h", 5],
    "time_format": [5, ""],
    "decimal": ["", ";", None],
    "on_bad": ["zzz", None],
    "encoding": ["zzz", "hex", None, "utf-8\0", 5],
    "separator": ["", 5, b","],
    "header": ["yes", 5],
    "seperator": [","],
}
BAD_OPTIONS = [(name, value) for name, values in OPTIONS.items() for value in values]
SOURCES: dict[str, Any] = {
    "dict": {"user": [1], "item": [2]},
    "sparse": sparse.csr_array(np.eye(2)),
    "no such file": "nowhere.csv",
}


@pytest.mark.parametrize(("name", "value"), BAD_OPTIONS, ids=repr)
@pytest.mark.parametrize("source", SOURCES)
def test_options_are_checked_whatever_the_source(source: str, name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"'{name}'"):
        read(SOURCES[source], **{name: value})
    if name not in ("scale", "duplicates", "feedback"):
        for reader in (read_sessions, read_preferences):
            with pytest.raises(ParameterError, match=f"'{name}'"):
                reader(SOURCES[source], **{name: value})


@pytest.mark.parametrize("scale", ["ab", (), ("a", "a"), (1, 2), ("a", ""), 5])
def test_scales_of_actions(scale: Any) -> None:
    with pytest.raises(ParameterError, match="'scale'"):
        read_sessions({"session": [1], "item": [1], "action": ["a"]}, scale=scale)


def test_good_options_stay_good() -> None:
    for encoding in ("utf-8", "UTF8", "latin-1", "utf-16", "cp1252"):
        assert len(read({"user": [1], "item": [2]}, encoding=encoding, scale=(np.float32(1), 5), header=True)) == 1


@given(
    st.dictionaries(
        st.sampled_from(["user", "item", "value", "time"]),
        st.lists(
            st.one_of(
                st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3),
                st.datetimes(), st.dates(), st.timedeltas(), st.decimals(allow_nan=True), st.complex_numbers(),
                st.lists(st.integers(), max_size=2), st.just(datetime.time(1)), st.just(pd.NaT), st.just(pd.NA),
                st.just(np.datetime64("NaT")), st.just(np.int8(3)), st.just(np.datetime64(2**62, "D")),
            ),
            max_size=4,
        ),
        min_size=2,
    ),
    st.sampled_from(["error", "skip"]),
)  # fmt: skip
def test_cells_of_any_type_are_data_or_a_refusal(columns: dict[str, Any], on_bad: str) -> None:
    try:
        read(columns, on_bad=on_bad)
    except FullrankError as error:
        _sentence(error)
