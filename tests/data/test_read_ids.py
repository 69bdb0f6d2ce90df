"""Lists of ids in files, as people keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fullrank import Ids, read_ids
from fullrank.errors import DataError, NoInputError

NUMBERS, WORDS = Ids([1, 2, 3]), Ids(["01", "1", "tea"])


@pytest.mark.parametrize(
    ("text", "ids", "expected"),
    [
        ("1\n3\n9\n", NUMBERS, [1, 3, 9]),
        ("item\n1\n3", NUMBERS, [1, 3]),
        ("\ufeffSKU\r\n1\r\n1\r\n2\r\n", NUMBERS, [1, 2]),
        ("01\n1\nx\n", NUMBERS, ["01", 1, "x"]),
        ("01\n1\nitem\n", WORDS, ["01", "1", "item"]),
        ("name,item_id\ntea,1\njam,2\n", NUMBERS, [1, 2]),
        ("1\tsold out\n2\tgone\n", NUMBERS, [1, 2]),
        ('"tea"\n"a,b"\n', WORDS, ["tea", "a,b"]),
    ],
)
def test_text(text: str, ids: Ids, expected: list[Any], tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes(text.encode())
    assert read_ids(tmp_path / "ids.txt", ids) == expected


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"price": [1.5, 2.5], "item": [3, 2**53 + 1]}).write_parquet(tmp_path / "ids.parquet")
    assert read_ids(tmp_path / "ids.parquet", NUMBERS) == [3, 2**53 + 1]


def test_faults_say_where(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text("item,why\n1,a\n,b\n")
    with pytest.raises(DataError, match=r"ids.csv:3: item id '' is empty"):
        read_ids(tmp_path / "ids.csv", NUMBERS)
    with pytest.raises(NoInputError, match="no such file"):
        read_ids(tmp_path / "none.csv", NUMBERS)
