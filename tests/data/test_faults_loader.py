"""FAULTS section 1, case by case: what a reader of bad data is told, and that nothing is lost uncounted."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zstandard
from scipy.sparse import coo_array, csr_array

from fullrank.data import memory
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.reading import stream
from fullrank.errors import DataError, NoInputError, NotAllowedError, StorageError

CLEAN = "user,item,rating,timestamp\n1,10,5,100\n1,20,3,200\n2,10,4,300\n"


def write(folder: Path, content: str | bytes, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(source: object, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read(source, **options)
    assert caught.value.exit_code == 65
    return str(caught.value).replace(str(Path(str(source)).parent) + os.sep, "")


@pytest.fixture
def clean(tmp_path: Path) -> Interactions:
    return read(write(tmp_path, CLEAN))


@pytest.mark.parametrize(
    ("row", "fields"),
    [("1,30,5", 3), ("1,30,5,100,7", 5), ("1", 1), ('"1",30,5', 3), ('1,"30",5,100,"7"', 5)],
)
@pytest.mark.parametrize("rows_before", [0, 30_000])
def test_d1_wrong_number_of_fields(tmp_path: Path, row: str, fields: int, rows_before: int) -> None:
    before = "".join(f"9,{n},4,{n}\n" for n in range(rows_before))
    path = write(tmp_path, CLEAN + before + row + "\n3,30,1,400\n")
    assert refusal(path) == f"ratings.csv:{5 + rows_before}: {fields} fields, expected 4; repair the line."
    kept = read(path, on_bad="skip")
    assert len(kept) == 4 + rows_before
    assert kept.intake.dropped == {f"{fields} fields, expected 4": 1}
    assert kept.intake.kept == len(kept)


def test_d1_missing_and_extra_fields_do_not_cancel_out(tmp_path: Path) -> None:
    path = write(tmp_path, CLEAN + "1,30,5\n2,30,5,100,7\n")
    assert refusal(path).startswith("ratings.csv:5: 3 fields")
    assert read(path, on_bad="skip").intake.dropped == {"3 fields, expected 4": 1, "5 fields, expected 4": 1}


@pytest.mark.parametrize("rows_after", [0, 10, 200_000])
def test_d2_unclosed_quote_is_reported_where_it_opens(tmp_path: Path, rows_after: int) -> None:
    after = "".join(f"9,{n},4,{n}\n" for n in range(rows_after))
    path = write(tmp_path, CLEAN + '1,"30,5,100\n' + after)
    assert refusal(path) == "ratings.csv:5: a quote opens here and is never closed; repair the line."
    assert len(read(path, on_bad="skip")) == 3 + rows_after


def test_d2_a_field_is_at_most_64_kib(tmp_path: Path) -> None:
    assert "longer than" in refusal(write(tmp_path, CLEAN + "1," + "x" * 70_000 + ",5,100\n"))
    assert "is this text?" in refusal(write(tmp_path, "user,item\n" + "x" * (16 << 20)))


@pytest.mark.parametrize("content", ["", "\n\n", "user,item,rating\n", "\ufeff", "user,item\n\n  \n"])
def test_d3_nothing_to_read(tmp_path: Path, content: str) -> None:
    assert "no interactions" in refusal(write(tmp_path, content))


def test_d3_nothing_left(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no interactions; all 1 rows were refused"):
        read(write(tmp_path, "user,item,rating\n1,2,five\n"), on_bad="skip")


def test_d4_missing_folder_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoInputError, match="no such file") as caught:
        read(tmp_path / "none.csv")
    assert caught.value.exit_code == 66
    with pytest.raises(NoInputError, match="is a folder"):
        read(tmp_path)
    path = write(tmp_path, CLEAN)

    def denied(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", denied)  # root may read everything, so chmod would not do
    with pytest.raises(NotAllowedError, match="permission denied") as refused:
        read(path)
    assert refused.value.exit_code == 77


def test_d5_header(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "who,what,much\na,b,5\n"))
    assert message.startswith("ratings.csv: no user column: expected a name such as user, userid")
    assert "found who, what, much" in message
    assert "--columns" in message
    assert "occurs twice" in refusal(write(tmp_path, "user,user,item\na,b,c\n"))
    assert "no time column" in refusal(write(tmp_path, CLEAN), columns={"user": 0, "item": 1, "time": "when"})
    extra = read(write(tmp_path, "user,color,item,rating,size\na,red,b,5,\nc,blue,d,4,xl\n"))
    assert (len(extra), extra.intake.notes) == (
        2, ("first line taken as the header: 'user, color, item, rating, size'", "2 further columns not read"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("NaN", "contains NaN"),
        ("inf", "inf is beyond"),
        ("-inf", "-inf is beyond"),
        ("", "is empty"),
        ("''", "not a number"),
        ("five", "'five' is not a number"),
        ("1_000", "'1_000' is not a number"),
        ("0x10", "'0x10' is not a number"),
        ("1e400", "inf is beyond"),
        ("٣", "is not a number"),
    ],
)
def test_d6_value_is_no_number(tmp_path: Path, cell: str, found: str) -> None:
    message = refusal(write(tmp_path, CLEAN + f"3,10,{cell},400\n"))
    assert message.startswith("ratings.csv:5: value ")
    assert found in message


def test_d6_arrays(tmp_path: Path) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(DataError, match=r"\(row 1\)"):
            Interactions.of(user=[1, 2], item=[1, 2], value=[1.0, bad])
    with pytest.raises(DataError, match="row 1: column 'rating': value"):
        read({"user": [1, 2], "item": [1, 2], "rating": [1.0, np.nan]})


@pytest.mark.parametrize("value", [0, -1])
def test_d7_implicit_values_are_above_zero(tmp_path: Path, value: int) -> None:
    path = write(tmp_path, f"user,item,count\n1,2,3\n1,3,{value}\n")
    message = refusal(path, feedback="implicit")
    assert message.startswith(f"ratings.csv:3: value {value} in implicit feedback, where values are counts above 0")
    assert read(path, feedback="implicit", on_bad="skip").intake.dropped == {"value out of range": 1}
    assert len(read(path)) == 2
    with pytest.raises(DataError, match="implicit feedback"):
        read(csr_array(np.array([[-1.0]])), feedback="implicit")


@pytest.mark.parametrize("value", ["1e308", "1e-320", str(2**63), "-1e13"])
def test_d8_values_beyond_measure(tmp_path: Path, value: str) -> None:
    assert "rescale the column" in refusal(write(tmp_path, f"user,item,rating\n1,2,{value}\n"))


def test_d8_declared_scale(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item,rating\n1,2,5\n1,3,6\n")
    assert refusal(path, scale=(1, 5)).startswith("ratings.csv:3: value 6 is outside the scale (1, 5)")
    assert len(read(path, scale=(1, 5), on_bad="skip")) == 1
    assert len(read({"user": [1], "item": [1], "value": [3.3]}, scale=(3.3, 3.3))) == 1


class TestD9Duplicates:
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
def test_d11_times(tmp_path: Path, cell: str, found: str) -> None:
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
def test_d11_forms_of_time(tmp_path: Path, cell: str, unit: str, expected: str) -> None:
    first = "2019-01-01" if "-" in cell else "1"
    for rows in (f"1,2,{cell}\n", f"1,1,{first}\n1,2,{cell}\n"):
        time = read(write(tmp_path, "user,item,time\n" + rows), time_unit=unit).time
        assert time is not None
        assert time[-1] == np.datetime64(expected, "us")


def test_d11_times_of_every_type() -> None:
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


ODD_IDS = [
    "a,b",
    "a\tb",
    "a::b",
    'a"b',
    '"',
    "a\nb",
    "a\r\nb",
    " a",
    "a ",
    "é",
    "e\u0301",
    "\u202eabc",
    "👨‍👩‍👧",
    "nan",
    "None",
    "NULL",
    "NA",
    "=cmd()",
    "#1",
    "'",
    "\\",
    "\ufeffx",
    "x" * 1024,
]


@pytest.mark.parametrize("separator", [",", "\t", "::", "|"])
def test_d12_d13_d14_ids_are_kept_exactly(tmp_path: Path, separator: str) -> None:
    quoted = ('"' + name.replace('"', '""') + '"' for name in ODD_IDS)
    data = read(write(tmp_path, "".join(f"{name}{separator}1\n" for name in quoted)), separator=separator, header=False)
    assert sorted(data.users) == sorted(ODD_IDS)


def test_d12_nul(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, CLEAN + "3,1\0,5,400\n")) == (
        "ratings.csv:5: the line contains a NUL character; remove it."
    )
    with pytest.raises(DataError, match="NUL"):
        read({"user": ["a\0"], "item": [1]})


def test_d13_long_and_broken_ids(tmp_path: Path) -> None:
    assert "longer than 1024 bytes" in refusal(write(tmp_path, CLEAN + "é" * 513 + ",1,5,400\n"))
    broken = CLEAN.encode() + "é,1,5,400\n".encode() + b"x\xff,1,5,400\n"
    assert refusal(write(tmp_path, broken)) == (
        f"ratings.csv:6: byte 0xff at offset {broken.index(0xFF)} is not UTF-8; "
        "convert the file, or pass encoding='latin-1' if it is that."
    )
    latin = read(write(tmp_path, "user,item\né,1\n".encode("latin-1")), encoding="latin-1")
    assert list(latin.users) == ["é"]
    with pytest.raises(DataError, match="lone surrogate"):
        read({"user": ["\ud800"], "item": [1]})
    assert "utf-16" in refusal(write(tmp_path, CLEAN.encode("utf-16")))


def test_d14_strings_stay_strings_and_integers_integers(tmp_path: Path) -> None:
    def users(*names: str) -> list[object]:
        return list(read(write(tmp_path, "user,item\n" + "".join(f"{name},1\n" for name in names))).users)

    assert users("1", "10", "9") == [1, 9, 10]
    assert users("1", "01") == ["01", "1"]
    assert users("1", "1.0") == ["1", "1.0"]
    assert users("1", "+1") == ["+1", "1"]
    assert users("0", "-0") == ["-0", "0"]
    assert users("-5", "0") == [-5, 0]
    assert users("1", "nan") == ["1", "nan"]
    assert "user is empty" in refusal(write(tmp_path, "user,item\n,1\n"))
    assert "user is empty" in refusal(write(tmp_path, 'user,item\n"",1\n'))
    assert Ids([1]).codes(["1", 1.0, True, np.int8(1)], missing=-1).tolist() == [-1, -1, -1, 0]


@pytest.mark.parametrize("late", ["01", "x", str(2**63), "+7"])
def test_d14_a_late_string_makes_all_of_them_strings(
    tmp_path: Path, late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullrank.data.reading.text.CHUNK", 4096)
    monkeypatch.setattr("fullrank.data.read.HEAD", 64)
    path = write(tmp_path, "user,item\n" + "".join(f"{n},{n}\n" for n in range(5000)) + f"{late},1\n")
    data = read(path)
    assert sorted(data.users) == sorted([late, *map(str, range(5000))])
    assert sorted(data.items) == list(range(5000))
    assert len(data) == 5001


def test_d15_large_integers_survive(tmp_path: Path) -> None:
    names = [2**53 + 1, 2**53, 2**63 - 1, -(2**63)]
    assert set(read(write(tmp_path, "user,item\n" + "".join(f"{n},1\n" for n in names))).users) == set(names)
    assert set(read({"user": names, "item": [1] * 4}).users) == set(names)
    assert set(read(pd.DataFrame({"user": names, "item": [1] * 4})).users) == set(names)
    too_large = read(write(tmp_path, f"user,item\n{2**63},1\n"))
    assert list(too_large.users) == [str(2**63)]
    with pytest.raises(DataError, match="convert it to strings"):
        read({"user": np.array([2**63], dtype=np.uint64), "item": [1]})
    with pytest.raises(DataError, match="no type for user ids"):
        read({"user": [1.0], "item": [1]})


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n  \n",
        lambda text: text.replace("\n", "  \n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: "\n" + text,
        lambda text: text.replace("\n", "\r\n", 2),
        lambda text: '"' + text.replace(",", '","').replace("\n", '"\n"')[:-1],
        lambda text: '"' + text.replace(",", '","').replace("\n", '"\r\n"')[:-1],
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace(",", "::"),
        lambda text: text.replace(",", " "),
    ],
)
@pytest.mark.parametrize("chunk", [64, 8 << 20])
def test_d16_the_same_as_the_clean_file(
    tmp_path: Path, clean: Interactions, change: object, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullrank.data.reading.text.CHUNK", chunk)
    monkeypatch.setattr("fullrank.data.reading.text.LONGEST_LINE", 1 << 20)
    path = tmp_path / "changed.csv"
    path.write_bytes(change(CLEAN).encode())  # type: ignore[operator]
    assert read(path) == clean


class TestD17Compression:
    def test_every_kind(self, tmp_path: Path, clean: Interactions) -> None:
        raw = CLEAN.encode()
        assert read(write(tmp_path, gzip.compress(raw), "a")) == clean
        assert read(write(tmp_path, gzip.compress(raw[:40]) + gzip.compress(raw[40:]), "b")) == clean
        assert read(write(tmp_path, zstandard.compress(raw), "c")) == clean
        assert read(write(tmp_path, zstandard.compress(raw[:40]) + zstandard.compress(raw[40:]), "d")) == clean
        with zipfile.ZipFile(tmp_path / "e.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ratings.csv", raw)
        assert read(tmp_path / "e.zip") == clean
        with zipfile.ZipFile(tmp_path / "e.zip", "a") as archive:
            archive.writestr("more.csv", raw)
        assert "holds 2 files" in refusal(tmp_path / "e.zip")

    @pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
    def test_truncated_at_every_byte(self, tmp_path: Path, compress: object) -> None:
        whole: bytes = compress(CLEAN.encode())  # type: ignore[operator]
        for size in range(4, len(whole)):
            message = refusal(write(tmp_path, whole[:size]))
            assert "unexpected end" in message or "damaged" in message

    def test_bomb(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stream, "BOMB_SIZE", 1 << 20)
        line = b"1,1,1,1\n"
        path = write(tmp_path, gzip.compress(line * (2 << 20)))
        assert "expands more than 500 times" in refusal(path)


def test_d19_d20_d21_small_and_odd_data() -> None:
    one = read({"user": ["u"], "item": ["i"], "rating": [3]})
    assert (len(one), one.density, one.by_item().toarray().tolist()) == (1, 1.0, [[3.0]])
    larger = one.catalogue(users=["v"], items=["j", "a"])
    assert (larger.n_users, larger.n_items, len(larger)) == (2, 3, 1)
    assert larger.by_user().toarray().tolist() == [[0, 3, 0], [0, 0, 0]]
    empty = one.where(np.array([False]))
    assert (len(empty), empty.density, empty.by_user().nnz, len(empty.graded())) == (0, 0.0, 0, 0)


class TestD22:
    def test_file_that_changes_while_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write(tmp_path, CLEAN)
        original = stream.Stream._piece

        def growing(source: stream.Stream, n: int) -> bytes:
            with path.open("ab") as file:
                file.write(b"9,9,1,1\n")
            return original(source, n)

        monkeypatch.setattr(stream.Stream, "_piece", growing)
        with pytest.raises(StorageError, match="changed while it was read") as caught:
            read(path)
        assert caught.value.exit_code == 74

    def test_fifo(self, tmp_path: Path, clean: Interactions) -> None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=lambda: path.write_text(CLEAN))
        writer.start()
        assert read(path) == clean
        writer.join()

    def test_endless(self) -> None:
        with pytest.raises(DataError):
            read("/dev/zero")

    def test_standard_input(self, clean: Interactions) -> None:
        code = "from fullrank.data.read import read; print(len(read('-')))"
        done = subprocess.run([sys.executable, "-c", code], input=CLEAN.encode(), capture_output=True, check=True)
        assert done.stdout == b"3\n"


def test_d23_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "user,item\n" + "".join(f"{n},{n}\n" for n in range(1000)))
    monkeypatch.setattr(memory, "available", lambda: 10_000.0)
    with pytest.raises(StorageError, match=r"1,000 rows need about .* GB are free") as caught:
        read(path)
    assert caught.value.exit_code == 74
    monkeypatch.undo()
    for limit, expected in ((1 << 30, b"limit of address space leaves"), (64 << 30, b"1,000 rows")):
        code = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
        code += (
            f"from fullrank.data.read import read\ntry: print(read({str(path)!r}))\nexcept ValueError as e: print(e)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert expected in done.stdout


def test_d24_huge_id_spaces_stay_sparse() -> None:
    users, items = Ids.numbered(10_000_000), Ids.numbered(10_000_000)
    data = Interactions(np.array([0, 9_999_999]), np.array([9_999_999, 0]), None, None, users, items)
    assert data.by_user().shape == (10_000_000, 10_000_000)
    assert data.by_item().nnz == 2


class TestD25Frames:
    columns = {"user": [3, 1, 3], "item": ["b", "a", "c"], "rating": [4.0, 5.0, 1.0], "time": [7, 8, 9]}

    @pytest.mark.parametrize(
        "make",
        [
            pd.DataFrame,
            lambda c: pd.DataFrame(c).astype({"user": "Int64", "item": "category", "rating": "Float32"}),
            lambda c: pd.DataFrame(c).astype({"user": object, "item": object}),
            lambda c: pd.DataFrame(c, index=[9, 9, 9]),
            pl.DataFrame,
            lambda c: pl.DataFrame(c).lazy(),
            lambda c: pl.DataFrame(c).with_columns(pl.col("item").cast(pl.Categorical)),
            pa.table,
            lambda c: pa.table({**c, "item": pa.array(c["item"]).dictionary_encode()}),
            lambda c: c,
            lambda c: {**c, "user": np.array(c["user"], dtype=">i2"), "rating": np.array(c["rating"], dtype=">f4")},
            lambda c: {**c, "user": np.repeat(c["user"], 2)[::2], "item": np.array(c["item"])},
            lambda c: {**c, "user": np.array(c["user"], dtype=np.uint8), "item": np.array(c["item"], dtype=object)},
        ],
    )
    def test_same_result(self, make: object) -> None:
        frame = make(self.columns)  # type: ignore[operator]
        assert read(frame) == Interactions.of(
            self.columns["user"], self.columns["item"], self.columns["rating"], self.columns["time"]
        )

    def test_caller_unchanged(self) -> None:
        user, item = np.array([3, 1]), np.array([1, 2])
        user.flags.writeable = False
        data = read({"user": user, "item": item})
        item[0] = 99
        assert (data.items.names.tolist(), user.tolist()) == ([1, 2], [3, 1])
        assert item.flags.writeable

    def test_refused_types(self) -> None:
        for column, message in [
            (pd.array([1, None], dtype="Int64"), "row 1: column 'user': user is empty"),
            ([1, "1"], "column 'user' mixes int, str"),
            ([1.5, 2.0], "column 'user' is Float64"),
            ([True, False], "column 'user' is Boolean"),
            (np.ones((2, 2)), "shape"),
        ]:
            with pytest.raises(DataError, match=message):
                read({"user": column, "item": [1, 2]})
        with pytest.raises(DataError, match="cannot read a int"):
            read(7)
        with pytest.raises(DataError, match="different lengths"):
            read({"user": [1], "item": [1, 2]})


class TestD26Sparse:
    def test_canonical(self) -> None:
        messy = csr_array(
            (np.array([1.0, 2, 3, 0]), np.array([2, 0, 2, 1]), np.array([0, 3, 3, 4])), shape=(3, 4)
        )  # unsorted, a duplicate, an explicit zero, an empty row and column
        data = read(messy)
        assert data.by_user().toarray().tolist() == [[2, 0, 4, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        assert (data.intake.merged, data.intake.dropped) == (1, {"explicit zero": 1})
        assert messy.indices.tolist() == [2, 0, 2, 1]
        assert read(coo_array(messy)) == data

    def test_crafted(self) -> None:
        wrong = {"indices": ([0, 99], [0, -1]), "indptr": ([0, 9, 2], [5, 1, 2])}
        for field, content in ((field, content) for field, contents in wrong.items() for content in contents):
            crafted = csr_array(np.eye(2))
            setattr(crafted, field, np.array(content, dtype=np.int32))
            with pytest.raises(DataError, match=r"sparse matrix|code"):
                read(crafted)
        with pytest.raises(DataError, match="NaN"):
            read(csr_array(np.array([[np.nan]])))


def test_quarantine_lists_line_reason_raw(tmp_path: Path) -> None:
    path = write(tmp_path, CLEAN + "1,30\n2,30,five,1\n")
    bad = tmp_path / "bad.csv"
    data = read(path, on_bad="quarantine", quarantine=bad)
    assert (data.intake.rows, data.intake.kept, len(data)) == (5, 3, 3)
    rows = pl.read_csv(bad)
    assert rows["line"].to_list() == [5, 6]
    assert rows["raw"].to_list() == ["1,30", "2,30,five,1"]
    assert rows["reason"][1] == "value 'five' is not a number; correct or remove it."
    assert str(bad) in str(data.intake)


def test_parquet_damaged(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pl.DataFrame({"user": [1], "item": [2]}).write_parquet(path)
    whole = path.read_bytes()
    for size in (4, 10, len(whole) // 2, len(whole) - 1):
        assert "not a whole parquet file" in refusal(write(tmp_path, whole[:size], "cut.parquet"))
