"""Ids are kept exactly, whatever they look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.errors import DataError
from tests.data.faulty_files import CLEAN, refusal, write

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
def test_ids_are_kept_exactly(tmp_path: Path, separator: str) -> None:
    quoted = ('"' + name.replace('"', '""') + '"' for name in ODD_IDS)
    data = read(write(tmp_path, "".join(f"{name}{separator}1\n" for name in quoted)), separator=separator, header=False)
    assert sorted(data.users) == sorted(ODD_IDS)


def test_nul(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, CLEAN + "3,1\0,5,400\n")) == (
        "ratings.csv:5: the line contains a NUL character; remove it."
    )
    with pytest.raises(DataError, match="NUL"):
        read({"user": ["a\0"], "item": [1]})


def test_long_and_broken_ids(tmp_path: Path) -> None:
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


def test_strings_stay_strings_and_integers_integers(tmp_path: Path) -> None:
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
def test_a_late_string_makes_all_of_them_strings(tmp_path: Path, late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.data.reading.text.CHUNK", 4096)
    monkeypatch.setattr("fullrank.data.reading.table.HEAD", 64)
    path = write(tmp_path, "user,item\n" + "".join(f"{n},{n}\n" for n in range(5000)) + f"{late},1\n")
    data = read(path)
    assert sorted(data.users) == sorted([late, *map(str, range(5000))])
    assert sorted(data.items) == list(range(5000))
    assert len(data) == 5001


def test_large_integers_survive(tmp_path: Path) -> None:
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
def test_the_same_as_the_clean_file(
    tmp_path: Path, clean: Interactions, change: object, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullrank.data.reading.text.CHUNK", chunk)
    monkeypatch.setattr("fullrank.data.reading.text.LONGEST_LINE", 1 << 20)
    path = tmp_path / "changed.csv"
    path.write_bytes(change(CLEAN).encode())  # type: ignore[operator]
    assert read(path) == clean
