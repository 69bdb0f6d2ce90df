"""Broken lines, headers and values: refused, with the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.errors import DataError, NoInputError, NotAllowedError
from tests.data.faulty_files import CLEAN, refusal, write


@pytest.mark.parametrize(
    ("row", "fields"),
    [("1,30,5", 3), ("1,30,5,100,7", 5), ("1", 1), ('"1",30,5', 3), ('1,"30",5,100,"7"', 5)],
)
@pytest.mark.parametrize("rows_before", [0, 30_000])
def test_wrong_number_of_fields(tmp_path: Path, row: str, fields: int, rows_before: int) -> None:
    before = "".join(f"9,{n},4,{n}\n" for n in range(rows_before))
    path = write(tmp_path, CLEAN + before + row + "\n3,30,1,400\n")
    assert refusal(path) == f"ratings.csv:{5 + rows_before}: {fields} fields, expected 4; repair the line."
    kept = read(path, on_bad="skip")
    assert len(kept) == 4 + rows_before
    assert kept.intake.dropped == {f"{fields} fields, expected 4": 1}
    assert kept.intake.kept == len(kept)


def test_missing_and_extra_fields_do_not_cancel_out(tmp_path: Path) -> None:
    path = write(tmp_path, CLEAN + "1,30,5\n2,30,5,100,7\n")
    assert refusal(path).startswith("ratings.csv:5: 3 fields")
    assert read(path, on_bad="skip").intake.dropped == {"3 fields, expected 4": 1, "5 fields, expected 4": 1}


@pytest.mark.parametrize("rows_after", [0, 10, 200_000])
def test_unclosed_quote_is_reported_where_it_opens(tmp_path: Path, rows_after: int) -> None:
    after = "".join(f"9,{n},4,{n}\n" for n in range(rows_after))
    path = write(tmp_path, CLEAN + '1,"30,5,100\n' + after)
    assert refusal(path) == "ratings.csv:5: a quote opens here and is never closed; repair the line."
    assert len(read(path, on_bad="skip")) == 3 + rows_after


def test_a_field_is_at_most_64_kib(tmp_path: Path) -> None:
    assert "longer than" in refusal(write(tmp_path, CLEAN + "1," + "x" * 70_000 + ",5,100\n"))
    assert "is this text?" in refusal(write(tmp_path, "user,item\n" + "x" * (16 << 20)))


@pytest.mark.parametrize("content", ["", "\n\n", "user,item,rating\n", "\ufeff", "user,item\n\n  \n"])
def test_nothing_to_read(tmp_path: Path, content: str) -> None:
    assert "no interactions" in refusal(write(tmp_path, content))


def test_nothing_left(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no interactions; all 1 rows were refused"):
        read(write(tmp_path, "user,item,rating\n1,2,five\n"), on_bad="skip")


def test_missing_folder_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_header(tmp_path: Path) -> None:
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
def test_value_is_no_number(tmp_path: Path, cell: str, found: str) -> None:
    message = refusal(write(tmp_path, CLEAN + f"3,10,{cell},400\n"))
    assert message.startswith("ratings.csv:5: value ")
    assert found in message


def test_arrays(tmp_path: Path) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(DataError, match=r"\(row 1\)"):
            Interactions.of(user=[1, 2], item=[1, 2], value=[1.0, bad])
    with pytest.raises(DataError, match="row 1: column 'rating': value"):
        read({"user": [1, 2], "item": [1, 2], "rating": [1.0, np.nan]})


@pytest.mark.parametrize("value", [0, -1])
def test_implicit_values_are_above_zero(tmp_path: Path, value: int) -> None:
    path = write(tmp_path, f"user,item,count\n1,2,3\n1,3,{value}\n")
    message = refusal(path, feedback="implicit")
    assert message.startswith(f"ratings.csv:3: value {value} in implicit feedback, where values are counts above 0")
    assert read(path, feedback="implicit", on_bad="skip").intake.dropped == {"value out of range": 1}
    assert refusal(path).startswith(f"ratings.csv:3: value {value} is no count above 0, which the name of its column")
    assert len(read(path, feedback="explicit")) == 2
    with pytest.raises(DataError, match="implicit feedback"):
        read(csr_array(np.array([[-1.0]])), feedback="implicit")


@pytest.mark.parametrize("value", ["1e308", "1e-320", str(2**63), "-1e13"])
def test_values_beyond_measure(tmp_path: Path, value: str) -> None:
    assert "rescale the column" in refusal(write(tmp_path, f"user,item,rating\n1,2,{value}\n"))


def test_declared_scale(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item,rating\n1,2,5\n1,3,6\n")
    assert refusal(path, scale=(1, 5)).startswith("ratings.csv:3: value 6 is outside the scale (1, 5)")
    assert len(read(path, scale=(1, 5), on_bad="skip")) == 1
    assert len(read({"user": [1], "item": [1], "value": [3.3]}, scale=(3.3, 3.3))) == 1
