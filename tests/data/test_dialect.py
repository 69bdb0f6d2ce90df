"""Separator, header, decimal mark, encoding: found where they can be, asked for where they cannot."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data.read import read
from fullrank.data.reading.table import column_names
from fullrank.errors import DataError, ParameterError
from tests.data import tables


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "f.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows_of(path: Path, **options: Any) -> list[list[str]]:
    return tables.read_rows(path, **options)


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    return str(caught.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("1,a::b,3\n2,c::d,4\n", [["1", "a::b", "3"], ["2", "c::d", "4"]]),
        ("ann;tea, green;5\nbob;tea, black;3\n", [["ann", "tea, green", "5"], ["bob", "tea, black", "3"]]),
        ("user;item;rating, 1-5\n1;10;3\n2;10;4\n", [["1", "10", "3"], ["2", "10", "4"]]),
        ("a\tb,x,3\nc\td,y,4\n", [["a\tb", "x", "3"], ["c\td", "y", "4"]]),
        ("ann,green tea\nbob,black tea\n", [["ann", "green tea"], ["bob", "black tea"]]),
        ("1,2,five\n", None),
        ("ann|tea, green|5|978300760\n", [["ann", "tea, green", "5", "978300760"]]),
        ('"a;b","c;d"\n"e;f","g;h"\n', [["a;b", "c;d"], ["e;f", "g;h"]]),
        ('1,"tea, green"\n2,"jam, red"\n', [["1", "tea, green"], ["2", "jam, red"]]),
    ],
)
def test_a_separator_is_what_cuts_all_lines_into_plausible_columns(
    tmp_path: Path, content: str, rows: list[list[str]] | None
) -> None:
    path = write(tmp_path, content)
    if rows is None:
        assert "is not a number" in refusal(path)  # the third column is a value, and nothing else fits better
    else:
        assert rows_of(path) == rows


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("1;10;3,5\n2;10;4,5\n", ("'1 | 10 | 3,5' with --separator ';' and --decimal ','", "'1;10;3 | 5' with")),
        ("1\t10\t3,5\n2\t10\t4,5\n", ("'1 | 10 | 3,5' with --separator '\\t' and --decimal ','", "--separator ','")),
        ("1 10 3,5\n2 10 4,5\n", ("'1 | 10 | 3,5' with --separator ' ' and --decimal ','", "--separator ','")),
        ("ann;tea,green\nbob;tea,black\n", ("'ann;tea | green' with --separator ','", "'ann | tea,green' with")),
        ("a\tb,c\nd\te,f\n", ("'a | b,c' with --separator '\\t'", "'a\\tb | c' with --separator ','")),
    ],
)  # fmt: skip
def test_two_ways_to_read_a_file_are_shown(tmp_path: Path, content: str, shown: tuple[str, str]) -> None:
    message = refusal(write(tmp_path, content))
    assert message.startswith("f.csv:1: this can be read in two ways: ")
    for part in shown:
        assert part in message
    assert message.endswith("say which.")


def test_a_decimal_comma_is_told_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "user;item;rating\n1;10;3,5\n1;11;4\n2;10;0,25\n")
    message = refusal(path)
    assert "f.csv:1: numbers have a comma where a point is expected" in message
    assert "--separator ';' and --decimal ','" in message
    assert rows_of(path, decimal=",") == [["1", "10", "3.5"], ["1", "11", "4"], ["2", "10", "0.25"]]
    mostly = write(tmp_path, "user;item;rating\n1;10;3\n1;11;4\n2;10;5\n2;11;4\n2;12;0,25\n")
    assert refusal(mostly) == (
        "f.csv:6: value '0,25' is not a number; correct or remove it, or say decimal=',' (--decimal ,)."
    )
    pointed = write(tmp_path, "user;item;rating\n1;10;3,5\n2;11;1.250,5\n")
    assert "value '1.250,5' is not a number" in refusal(pointed, decimal=",")
    with pytest.raises(ParameterError, match="The 'decimal' parameter must be"):
        read(path, decimal=";")


@pytest.mark.parametrize(
    ("content", "users"),
    [
        ("alice,book,5\nbob,movie,3\n", ["alice", "bob"]),
        ("alice,book\nbob,movie\n", ["alice", "bob"]),
        ("anonymous,tea,5\n17,jam,3\n18,tea,4\n", ["17", "18", "anonymous"]),
        ("user,item,5\nbob,movie,3\n", None),
        ("user,item\nann,tea\n", ["ann"]),
        ("foo,bar,baz\n1,2,3\n", None),
        ("userid,movieid\n1,2\n2,3\n", [1, 2]),
    ],
)
def test_a_first_row_is_a_header_only_where_it_must_be(tmp_path: Path, content: str, users: list[Any] | None) -> None:
    path = write(tmp_path, content)
    if users is None:
        assert "may be a header or a row" in refusal(path) or "no user column" in refusal(path)
    else:
        assert read(path).users.names.tolist() == users
    with_positions = read(path, {"user": 0, "item": 1}, header=False)
    assert len(with_positions) == content.count("\n")


def test_columns_by_position_lose_no_row(tmp_path: Path) -> None:
    path = write(tmp_path, "alice,book,5\nbob,movie,3\n")
    data = read(path, {"user": 0, "item": 1, "value": 2})
    assert (len(data), data.intake.notes) == (2, ())


def test_a_header_that_is_dropped_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "user,item\n1,2\n3,4\n")
    assert "first line taken as the header: 'user, item'" in str(read(path).intake)
    assert read(path, header=True).intake.notes == ()
    assert len(read(path, header=False)) == 3


def test_words_above_numbers_of_ids_may_be_either(tmp_path: Path) -> None:
    path = write(tmp_path, "klant,artikel\n1,2\n3,4\n")
    assert refusal(path) == (
        "f.csv:1: 'klant | artikel' may be a header or a row; say header=True or header=False "
        "(--header or --no-header)."
    )
    assert len(read(path, {"user": 0, "item": 1}, header=True)) == 2
    assert len(read(path, header=False)) == 3


def test_headers_above_decimal_commas(tmp_path: Path) -> None:
    path = write(tmp_path, "who;what;much\nann;tea;3,5\nbob;jam;4,5\n")
    options = {"separator": ";", "decimal": ","}
    assert "no user column: expected a name such as user" in refusal(path, **options)
    assert len(read(path, {"user": 0, "item": 1, "value": 2}, **options)) == 2
    rows = write(tmp_path, "ann;tea;3,5\nbob;jam;4,5\n")
    assert len(read(rows, **options)) == 2


def test_a_tab_may_be_spelled(tmp_path: Path) -> None:
    path = write(tmp_path, "user\titem\n1\ta,b\n2\tc,d\n")
    assert len(read(path, separator="\\t")) == 2
    assert column_names(path, "\\t") == {"user", "item"}


def test_quotes_inside_plain_fields_and_quoted_newlines_lose_no_row(tmp_path: Path) -> None:
    """Counting quotes is not enough to know where a record ends."""
    rows = []
    for n in range(12_000):
        odd = '"two\nlines"' if n % 7 == 0 else '5" nail' if n % 5 == 0 else f"plain {n}"
        rows.append(f"{n},{odd},4")
    path = write(tmp_path, "user,item,rating\n" + "\n".join(rows) + "\n")
    assert path.stat().st_size > 128 << 10
    data = read(path)
    assert (data.intake.rows, len(data), data.intake.dropped) == (12_000, 12_000, {})
    assert {"two\nlines", '5" nail'} <= set(data.items)


def test_a_quote_that_opens_late_in_a_long_record_is_not_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullrank.data.reading.text.CHUNK", 100_000)
    monkeypatch.setattr("fullrank.data.reading.text.PIECE", 90_000)
    long = ",".join("y" * 60_000 for _ in range(2))
    path = write(tmp_path, "user,item,a,b,c\n" + f'1,2,{long},"say ""hi"", {"z" * 30_000}"\n' * 3 + "4,5,a,b,c\n")
    data = read(path, duplicates="last")
    assert (data.intake.rows, len(data)) == (4, 2)


@pytest.mark.parametrize("first", [["10", " 10"], [" 10", "10"]])
@pytest.mark.parametrize("quote", ["", '"x"'])
@pytest.mark.parametrize("place", [0, 1])
def test_blanks_are_part_of_an_id_whatever_stands_around(
    tmp_path: Path, first: list[str], quote: str, place: int
) -> None:
    others = ["7", "8", quote or "9"]
    rows = [[id, other] if place == 0 else [other, id] for id, other in zip([*first, "12"], others, strict=True)]
    path = write(tmp_path, "user,item,rating\n" + "".join(f"{a},{b},3\n" for a, b in rows))
    data = read(path)
    ids = (data.users if place == 0 else data.items).names.tolist()
    assert sorted(ids) == [" 10", "10", "12"]


@pytest.mark.parametrize("quoted", [False, True])
def test_blanks_at_the_end_of_a_line_are_none(tmp_path: Path, quoted: bool) -> None:
    other = '"x"' if quoted else "x"
    data = read(write(tmp_path, f"user,item\na,tea  \nb,tea\nc,{other}\n"))
    assert sorted(data.items) == ["tea", "x"]


def test_a_separator_of_two_characters_inside_quotes_is_text(tmp_path: Path) -> None:
    assert rows_of(write(tmp_path, '"a::b"::1::5\nc::2::4\n'), separator="::") == [["a::b", "1", "5"], ["c", "2", "4"]]


@pytest.mark.parametrize(
    "encoding", ["iso2022_jp", "utf-16", "utf-16-le", "shift_jis", "cp1252", "latin-1", "utf-8-sig"]
)
@pytest.mark.parametrize("chunk", [None, 50])
def test_every_encoding_is_decoded(
    tmp_path: Path, encoding: str, chunk: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if chunk:
        monkeypatch.setattr("fullrank.data.reading.encoding.BLOCK", 7)
        monkeypatch.setattr("fullrank.data.reading.text.CHUNK", chunk)
    word = "é" if encoding in ("cp1252", "latin-1") else "日本"
    path = write(tmp_path, "".join(f"{word}{n},{n},5\n" for n in range(40)).encode(encoding))
    data = read(path, encoding=encoding)
    assert sorted(data.users) == sorted(f"{word}{n}" for n in range(40))


def test_what_cannot_be_decoded_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "あ,1,5\n".encode("shift_jis") + b"\xff\xff,2,5\n" + b"x,3,4\n")
    assert refusal(path, encoding="shift_jis") == (
        "f.csv:2: the line has bytes that are not shift_jis; give the right encoding (--encoding), or repair it."
    )
    assert read(path, encoding="shift_jis", on_bad="skip").intake.dropped == {"not shift_jis": 1}
    for wrong in ("zzz", "zlib", "rot13", ""):
        with pytest.raises(ParameterError, match="The 'encoding' parameter must be one that Python knows"):
            read(path, encoding=wrong)
    assert "encoding='utf-16'" in refusal(write(tmp_path, "a,b\n".encode("utf-16")))


@given(random=st.randoms(use_true_random=False), chunk=st.sampled_from([40, 200, 1 << 20]))
@settings(max_examples=200, deadline=None)
def test_files_are_read_as_the_csv_module_reads_them(random: Random, chunk: int) -> None:
    file = tables.make(random)
    if file.plain and len(file.separator) == 1:
        assert tables.by_csv_module(file) == file.rows
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr("fullrank.data.reading.text.CHUNK", chunk)
        patch.setattr("fullrank.data.reading.text.PIECE", chunk // 2)
        tables.check(file, Path(folder) / "f.csv")


def test_most_files_need_no_word(tmp_path: Path) -> None:
    """The test above would let a reader pass that always asks."""
    known = [tables.check(tables.make(Random(seed)), tmp_path / "f.csv") for seed in range(60)]
    assert sum(known) > 50
