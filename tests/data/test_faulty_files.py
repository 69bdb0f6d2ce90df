"""Damaged, compressed, endless, changing and huge files; data frames and sparse matrices."""

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

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.reading import stream
from fullrank.errors import DataError, StorageError
from fullrank.runtime import memory
from tests.data.faulty_files import CLEAN, refusal, write


class TestCompression:
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


def test_small_and_odd_data() -> None:
    one = read({"user": ["u"], "item": ["i"], "rating": [3]})
    assert (len(one), one.density, one.by_item().toarray().tolist()) == (1, 1.0, [[3.0]])
    larger = one.catalogue(users=["v"], items=["j", "a"])
    assert (larger.n_users, larger.n_items, len(larger)) == (2, 3, 1)
    assert larger.by_user().toarray().tolist() == [[0, 3, 0], [0, 0, 0]]
    empty = one.where(np.array([False]))
    assert (len(empty), empty.density, empty.by_user().nnz, len(empty.graded())) == (0, 0.0, 0, 0)


class TestUnusualFiles:
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


def test_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_huge_id_spaces_stay_sparse() -> None:
    users, items = Ids.numbered(10_000_000), Ids.numbered(10_000_000)
    data = Interactions(np.array([0, 9_999_999]), np.array([9_999_999, 0]), None, None, users, items)
    assert data.by_user().shape == (10_000_000, 10_000_000)
    assert data.by_item().nnz == 2


class TestFrames:
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


class TestSparse:
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
