"""Tables of titles and other attributes: found by the ids of the feedback, kept exactly, refused in a sentence."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fullrank
from fullrank.data.attributes import Attributes
from fullrank.data.ids import Ids
from fullrank.errors import DataError, FullrankError, NoInputError
from tests.data.shops import write

NUMBERS, WORDS = Ids([1, 2, 30]), Ids(["01", "x, y", "z"])


@pytest.mark.parametrize(
    "content",
    [
        'item,title,genres\n1,"Toy, Story (1995)",Animation|Comedy\n2,Heat,\n4,Other,Drama\n',
        "\ufeffid\tname\tgenres\n1\tToy, Story (1995)\tAnimation|Comedy\n2\tHeat\t\n4\tOther\tDrama\n",
        "1::Toy, Story (1995)::Animation|Comedy\n2::Heat::\n4::Other::Drama\n",
        "title;sku;genres\r\nToy, Story (1995);1;Animation|Comedy\r\nHeat;2;\r\nOther;4;Drama\r\n",
        "4::Other::Drama\n1::Toy, Story (1995)::Animation|Comedy\n2::Heat::\n",
    ],
)
def test_titles_are_found_by_the_ids(tmp_path: Path, content: str) -> None:
    about = fullrank.read_attributes(write(tmp_path, content), NUMBERS)
    assert about.titles_for(NUMBERS) == ("Toy, Story (1995)", "Heat", "")
    assert about.count_unknown(NUMBERS) == 1
    assert sorted(about.ids) == [1, 2, 4]
    genres = next(name for name in about.columns if name != about.title)
    assert about.column_for(genres, NUMBERS) == (("Animation", "Comedy"), (), ())


def test_ids_are_those_of_the_feedback(tmp_path: Path) -> None:
    path = write(tmp_path, 'code,label,"year"\n01,One,1999\n"x, y",Two,2000\n1,Three,2001\n')
    about = fullrank.read_attributes(path, WORDS)
    assert about.titles_for(WORDS) == ("One", "Two", "")
    assert about.column_for("year", WORDS) == ("1999", "2000", "")
    with pytest.raises(DataError, match=r"shop\.csv:2: item id '01' is no integer, as the item ids of the data are"):
        fullrank.read_attributes(path, NUMBERS)


def test_parquet_keeps_lists(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    frame = {"price": [1.5, 2.0], "product_id": [1, 30], "name": ["Tea", None], "tags": [["hot", "wet"], None]}
    pl.DataFrame(frame).write_parquet(path)
    about = fullrank.read_attributes(path, NUMBERS)
    assert about.titles_for(NUMBERS) == ("Tea", "", "")
    assert about.column_for("tags", NUMBERS) == (("hot", "wet"), (), ())
    assert about.column_for("price", NUMBERS) == ("1.5", "", "2.0")
    words = Ids(["1", "30"])
    assert fullrank.read_attributes(path, words).ids == words


def test_users_need_no_title(tmp_path: Path) -> None:
    path = write(tmp_path, "customer_id,age_group,region\n1,45-49,115\n2,20-25,Others\n")
    about = fullrank.read_attributes(path, NUMBERS, of="user")
    assert (about.title, set(about.columns)) == (None, {"age_group", "region"})
    assert about.titles_for(NUMBERS) == ("", "", "")
    assert about.column_for("age_group", NUMBERS) == ("45-49", "20-25", "")
    with pytest.raises(DataError, match=r"no attribute 'regio'\. Did you mean 'region'"):
        about.column_for("regio", NUMBERS)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,title\n1,A\n2,B\n1,C\n", "items.csv:4: item id 1 is on line 2 already"),
        ('item,title\n1,"A\nB"\n2,B\n2,C\n', "items.csv:5: item id 2 is on line 4 already"),
        ("item,title\n1,A\n2\n", "items.csv:3: 1 fields, expected 2"),
        ('item,title\n1,A\n2,"B\n', "items.csv:3: a quote opens here and is never closed"),
        ("item,title,title\n1,A,B\n", "items.csv: column 'title' occurs twice in the header"),
        ("item,title\n1,A\n,B\n", "items.csv:3: item id '' is empty"),
        ("item,title\n1,A\nx7,B\n", "items.csv:3: item id 'x7' is no integer"),
        ("item,title\n1.0,A\n2.0,B\n", "items.csv:2: item id '1.0' is no integer"),
        ("item,title\n7,A\n8,B\n", "items.csv: none of 2 item ids is in the data, the first is 7; give ids such as 1."),
        ("item,title\n", "items.csv: no items; there is a header at most."),
        ("item\n1\n2\n", "items.csv: has one column only"),
        ("", "items.csv: no items; the file is empty."),
        ("\n \n", "items.csv: no items; the file is empty."),
        ("item,title\n1,A\0\n", "items.csv:2: the line contains a NUL character"),
        (b"item,title\n1,Caf\xe9\n", "items.csv:2: '1,Caf\\udce9' is not UTF-8; convert the file, or pass encoding="),
        (b"\xff\xfei\0", "items.csv: looks like utf-16"),
        (b"PAR1 and no more", "items.csv: cannot be read as a table"),
    ],
)
def test_what_is_broken_is_refused_in_a_sentence(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = tmp_path / "items.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        fullrank.read_attributes(path, NUMBERS)
    assert str(caught.value).replace(f"{tmp_path}/", "").startswith(said)
    assert caught.value.exit_code == 65


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(NoInputError):
            fullrank.read_attributes(path, NUMBERS)
    assert fullrank.read_attributes(write(tmp_path, "1,Café\n"), NUMBERS).titles_for(NUMBERS)[0] == "Café"
    (tmp_path / "l.csv").write_bytes(b"1,Caf\xe9\n")
    assert fullrank.read_attributes(tmp_path / "l.csv", NUMBERS, encoding="latin-1").titles_for(NUMBERS)[0] == "Café"


def test_columns_have_a_cell_for_each_id() -> None:
    with pytest.raises(DataError, match="'a' has 1 cells for 3 ids"):
        Attributes(NUMBERS, {"a": ("x",)})
    with pytest.raises(DataError, match="no attribute 'b' for titles"):
        Attributes(NUMBERS, {"a": ("x", "y", "z")}, title="b")


TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, 50), TEXT, min_size=1), st.sampled_from([",", "\t", ";"]))
def test_titles_come_back_as_they_were_written(titles: dict[int, str], separator: str) -> None:
    frame = pl.DataFrame({"item": list(titles), "title": list(titles.values()), "x": ["y"] * len(titles)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(frame.write_csv(separator=separator, quote_style="always").encode())
        ids = Ids(sorted(titles))
        assert fullrank.read_attributes(path, ids).titles_for(ids) == tuple(titles[name] for name in sorted(titles))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(content)
        with suppress(FullrankError):  # anything else is a fault of ours
            assert fullrank.read_attributes(path, NUMBERS).count_unknown(NUMBERS) < len(NUMBERS)
