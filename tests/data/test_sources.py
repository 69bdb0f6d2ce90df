"""Public data sets: the counts of the real ones, small ones of every format, faults, downloads."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import io
import os
import socket
import stat
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.data import sources
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.read import read_table
from fullrank.data.sources.known import KNOWN, Known
from fullrank.data.sources.ta_feng import FIELDS as TA_FENG_FIELDS
from fullrank.data.split import Split, leave_last
from fullrank.errors import DataError, NoInputError, OutputError, ParameterError, StorageError

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def real(name: str) -> Path:
    """The folder of a real data set, or a skip that says what is missing."""
    roots = [Path(root) for root in (os.environ.get("FULLRANK_DATA"), SHARED) if root]
    for root in roots:
        if (root / name).is_dir():
            return root / name
    pytest.skip(f"the data set {name} is in none of {', '.join(map(str, roots))}")


def put(folder: Path, name: str, text: str | bytes, *, gz: bool = False, encoding: str = "utf-8") -> Path:
    """A file of a made-up data set, compressed where told."""
    content = text if isinstance(text, bytes) else text.encode(encoding)
    path = folder / (f"{name}.gz" if gz else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if gz else content)
    return path


def triples(data: Interactions) -> list[tuple[Any, ...]]:
    value = np.ones(len(data)) if data.value is None else data.value
    names = zip(data.users.names[data.user].tolist(), data.items.names[data.item].tolist(), value.tolist(), strict=True)
    return list(names)


def seconds(data: Interactions) -> list[int]:
    assert data.time is not None
    return [int(time) // 1_000_000 for time in data.time.astype(np.int64)]


# -- the real ones, with exactly the counts of their README ---------------------------------------------------


@pytest.fixture(scope="module")
def ml_1m() -> sources.Source[Interactions]:
    return sources.movielens_1m(real("ml-1m"))


@pytest.fixture(scope="module")
def ncf() -> sources.Source[Split[Interactions]]:
    return sources.ncf(real("ml-1m"))


def counts(data: Interactions) -> tuple[int, int, int]:
    touched = len(np.unique(data.user)), len(np.unique(data.item))
    assert touched == (data.n_users, data.n_items)
    return data.intake.rows, *touched


def test_movielens_100k() -> None:
    source = sources.movielens_100k(real("ml-100k"))
    assert counts(source.data) == (100_000, 943, 1_682)
    assert len(source.data) == 100_000
    assert source.name == "MovieLens 100K"
    assert source.notes == ()
    assert len(source.titles) == 1_682
    assert all(source.titles)
    assert all(source.genres)
    code = source.items.code(543)  # latin-1
    assert source.titles[code] == "Misérables, Les (1995)"
    assert source.genres[code] == ("Drama", "Musical")


def test_movielens_1m_counts(ml_1m: sources.Source[Interactions]) -> None:
    data = ml_1m.data
    assert counts(data) == (1_000_209, 6_040, 3_706)
    assert len(data) == 1_000_209
    assert data.value is not None
    assert np.bincount(data.value.astype(int)).tolist() == [0, 56_174, 107_557, 261_197, 348_971, 226_310]
    assert (min(seconds(data)), max(seconds(data))) == (956_703_932, 1_046_454_590)


def test_movielens_1m_titles_and_note(ml_1m: sources.Source[Interactions]) -> None:
    assert ml_1m.title(ml_1m.items.code(1)) == "Toy Story (1995)"
    assert all(ml_1m.titles)
    assert ml_1m.genres[ml_1m.items.code(1)] == ("Animation", "Children's", "Comedy")
    if (real("ml-1m") / "ratings.rebuilt.dat.gz").exists():
        assert ml_1m.name == "MovieLens 1M, rebuilt"
        assert len(ml_1m.notes) == 1
        assert "MovieLens 1M, rebuilt" in ml_1m.notes[0]
        assert "70,964" in ml_1m.notes[0]


def test_movielens_1m_catalogue_has_movies_nobody_rated(ml_1m: sources.Source[Interactions]) -> None:
    whole = sources.movielens_1m(real("ml-1m"), catalogue=True)
    assert (len(whole.data), whole.data.n_items, len(whole.titles)) == (1_000_209, 3_883, 3_883)
    assert len(np.unique(whole.data.item)) == 3_706
    assert all(whole.titles)
    assert whole.data.where(whole.data.user == 0).relevant(5).n_items == 3_883
    assert [whole.title(whole.items.code(int(name))) for name in ml_1m.items.names] == list(ml_1m.titles)


def test_coat() -> None:
    source = sources.coat(real("coat"))
    train, held_out = source.data.train, source.data.held_out
    assert (len(train), len(held_out), train.n_users, train.n_items) == (6_960, 4_640, 290, 300)
    assert set(np.bincount(train.user)) == {24}
    assert set(np.bincount(held_out.user)) == {16}
    assert train.users == held_out.users
    assert train.items == held_out.items
    assert set(np.unique(train.value)) == set(np.unique(held_out.value)) == {1, 2, 3, 4, 5}  # type: ignore[arg-type]
    both = train.by_user().multiply(held_out.by_user()).nnz
    assert both == 366
    assert "366" in source.notes[0]
    assert "366" in source.data.how
    weights = source.extra["propensities"]
    assert weights.shape == (290, 300)
    assert not weights.flags.writeable
    assert weights.min() == pytest.approx(0.0025, abs=1e-4)
    assert weights.max() == pytest.approx(0.690, abs=1e-3)
    assert len(source.genres) == 300
    assert "gender:men" in source.genres[0]
    assert held_out.by_user()[:, [299]].nnz > 0  # the last column, before the carriage return


@pytest.mark.parametrize(("overlap", "sizes"), [("train", (6_960, 4_274)), ("held_out", (6_594, 4_640))])
def test_coat_made_disjoint(overlap: Any, sizes: tuple[int, int]) -> None:
    split = sources.coat(real("coat"), overlap=overlap).data
    assert (len(split.train), len(split.held_out)) == sizes
    assert split.train.by_user().multiply(split.held_out.by_user()).nnz == 0


@pytest.mark.parametrize(("which", "items", "orders"), [("10", 10, 4_926), ("100", 100, 5_000), ("scores", 100, 5_000)])
def test_sushi(which: Any, items: int, orders: int) -> None:
    source = sources.sushi(real("sushi"), which=which)
    data = source.data
    assert (len(data), len(data.users), len(data.items), len(data.item)) == (5_000, 5_000, items, 50_000)
    assert set(np.diff(data.start)) == {10}
    assert len(np.unique(data.item)) == items
    assert len(source.titles) == items
    assert all(source.titles)
    assert "ebi (shrimp)" in source.titles
    cases = {(data.item[rows].tobytes(), data.grade[rows].tobytes()) for rows in map(slice, data.start, data.start[1:])}
    assert len(cases) == orders
    strict = data.count_pairs() == 45
    assert strict.all() if which != "scores" else (~strict).all() and data.grade.max() <= 4


def test_sushi_grades_follow_the_order() -> None:
    source = sources.sushi(real("sushi"), which="10")
    first = source.data.grade[:10]  # 3: 7,4,5,1,10,2,8,3,9,6
    assert [source.items.name(int(item)) for item in np.argsort(-first)] == [7, 4, 5, 1, 10, 2, 8, 3, 9, 6]
    assert (source.data.grade[:30].reshape(3, 10) == first).all()


def test_lastfm() -> None:
    source = sources.lastfm_2k(real("lastfm-2k"))
    assert counts(source.data) == (92_834, 1_892, 17_632)
    assert len(source.data) == 92_834
    assert source.notes == ()
    assert source.data.time is None
    assert source.title(source.items.code(289)) == "Britney Spears"
    assert all(source.titles)


def test_ta_feng() -> None:
    folder = real("ta-feng")
    source = sources.ta_feng(folder)
    data = source.data
    assert counts(data) == (817_741, 32_266, 23_812)
    assert len(data) + data.intake.merged == 817_741
    assert "01104905" in data.users
    assert source.notes == ()
    assert data.time is not None
    assert str(data.time.min())[:10] == "2000-11-01"
    assert (data.time == data.time.astype("datetime64[D]")).all()
    rows = read_table(folder / "ta_feng_all_months_merged.csv.gz", TA_FENG_FIELDS, separator=",", header=True)
    assert len(rows.ids["session"]) == 120
    assert len(np.unique(rows.columns["user"].astype(np.int64) * 120 + rows.columns["session"])) == 119_578


def test_kuairec_partial() -> None:
    source = sources.kuairec_partial(real("kuairec-partial"))
    assert counts(source.data) == (117_113, 1_411, 2_519)
    assert len(source.data) == 117_113
    assert set(np.bincount(source.data.user)) == {83}


def test_amazon_sequences() -> None:
    source = sources.amazon_video_games_seq(real("amazon-video-games-seq"))
    data = source.data
    assert counts(data) == (287_107, 31_013, 23_715)
    assert len(data) == 287_107
    assert data.value is None
    split = leave_last(data)
    last = split.held_out.where(split.held_out.user == data.users.code(1))
    assert data.items.names[last.item].tolist() == [19263]  # the last line of user 1


def test_ncf_split(ncf: sources.Source[Split[Interactions]]) -> None:
    train, held_out = ncf.data.train, ncf.data.held_out
    assert (len(train), len(held_out), train.n_users, train.n_items) == (994_169, 6_040, 6_040, 3_706)
    assert (held_out.user == np.arange(6_040)).all()  # one each
    assert held_out.items.names[held_out.item[:3]].tolist() == [25, 133, 207]
    assert seconds(held_out)[0] == 978_824_351
    assert train.by_user().multiply(held_out.by_user()).nnz == 0
    assert train.time is not None
    assert held_out.time is not None
    assert (np.maximum.reduceat(train.time, train.starts[:-1]) <= held_out.time).all()


def test_ncf_negatives(ncf: sources.Source[Split[Interactions]]) -> None:
    negatives, held_out = ncf.extra["negatives"], ncf.data.held_out
    assert negatives.shape == (6_040, 99)
    assert negatives[0, :3].tolist() == [1064, 174, 2791]
    assert negatives.min() >= 0
    assert negatives.max() < 3_706
    assert not negatives.flags.writeable
    assert (negatives == held_out.item[:, None]).sum() == 156
    assert any(note.startswith("156 of the 597,960 negatives") for note in ncf.notes)


def test_ncf_is_movielens_under_other_names(
    ncf: sources.Source[Split[Interactions]], ml_1m: sources.Source[Interactions]
) -> None:
    user = 4_000
    rows = ml_1m.data.user == ml_1m.data.users.code(user + 1)
    theirs = {ml_1m.title(int(item)) for item in ml_1m.data.item[rows]}
    parts = (ncf.data.train, ncf.data.held_out)
    assert {ncf.title(int(item)) for part in parts for item in part.item[part.user == user]} == theirs
    assert ncf.titles[0] == "One Flew Over the Cuckoo's Nest (1975)"  # the first line of the ratings


def test_known_names_are_found_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(real("lastfm-2k").parent))
    assert sources.load("lastfm-2k").data.n_users == 1_892
    assert sources.load(real("lastfm-2k")).data.n_users == 1_892


# -- every other format, made up ------------------------------------------------------------------------------

GZ = pytest.mark.parametrize("gz", [False, True], ids=["plain", "gz"])


@GZ
def test_original_movielens_1m(tmp_path: Path, gz: bool) -> None:
    put(tmp_path, "ratings.dat", "1::10::5::978300760\n2::30::3::978300761\n", gz=gz)
    put(tmp_path, "users.dat", "1::F::1::10::48067\n", gz=gz)
    put(
        tmp_path,
        "movies.dat",
        '10::Café "X" (1995)::Comedy|Drama\n20::Y::War\n30::Z::Drama\n',
        gz=gz,
        encoding="latin-1",
    )
    source = sources.load(tmp_path)
    assert source.name == "MovieLens 1M"
    assert triples(source.data) == [(1, 10, 5.0), (2, 30, 3.0)]
    assert seconds(source.data) == [978_300_760, 978_300_761]
    assert source.titles == ('Café "X" (1995)', "Z")
    assert source.genres == (("Comedy", "Drama"), ("Drama",))
    assert source.notes == ("not as published (in brackets): 2 rows (1,000,209), 2 users (6,040), 2 items (3,706)",)
    whole = sources.load(tmp_path, catalogue=True)
    assert whole.items.names.tolist() == [10, 20, 30]
    assert whole.title(1) == "Y"
    assert len(whole.data) == 2


def test_the_original_comes_before_the_rebuilt(tmp_path: Path) -> None:
    put(tmp_path, "ratings.rebuilt.dat", "1::10::4::978300760\n", gz=True)
    assert sources.movielens_1m(tmp_path).name == "MovieLens 1M, rebuilt"
    put(tmp_path, "ratings.dat", "1::10::5::978300760\n")
    assert triples(sources.movielens_1m(tmp_path).data) == [(1, 10, 5.0)]


@GZ
def test_movielens_10m(tmp_path: Path, gz: bool) -> None:
    folder = tmp_path / "ml-10M100K"
    put(folder, "ratings.dat", "1::122::5::838985046\n1::185::0.5::838983525\n", gz=gz)
    put(folder, "movies.dat", "122::Amélie (2001)::Comedy\n185::Net, The (1995)::(no genres listed)\n", gz=gz)
    put(folder, "tags.dat", "1::122::excellent!::1215184630\n", gz=gz)
    for source in (sources.load(folder), sources.load(tmp_path), sources.movielens_10m(tmp_path)):
        assert source.name == "MovieLens 10M"
        assert triples(source.data) == [(1, 122, 5.0), (1, 185, 0.5)]
        assert source.titles == ("Amélie (2001)", "Net, The (1995)")
        assert source.genres == (("Comedy",), ())


@GZ
@pytest.mark.parametrize("name", ["ml-20m", "ml-25m", "ml-32m", "ml-latest", "ml-latest-small"])
def test_movielens_csv(tmp_path: Path, name: str, gz: bool) -> None:
    folder = tmp_path / name
    put(folder, "ratings.csv", "userId,movieId,rating,timestamp\r\n1,2,3.5,1112486027\r\n7,1,4.0,1112484676\r\n", gz=gz)
    movies = 'movieId,title,genres\n1,"Say ""Hi"", you (1995)",Comedy|War\n2,Z,(no genres listed)\n9,Q,Drama\n'
    put(folder, "movies.csv", movies, gz=gz)
    source = sources.load(folder)
    assert source.name == KNOWN[name].dataset.title
    assert triples(source.data) == [(1, 2, 3.5), (7, 1, 4.0)]
    assert source.titles == ('Say "Hi", you (1995)', "Z")
    assert source.genres == (("Comedy", "War"), ())
    assert sources.load(folder, catalogue=True).items.names.tolist() == [1, 2, 9]
    assert ("published" in source.notes[0]) != name.startswith("ml-latest")


NETFLIX_TITLES = "1,2003,Dinosaur Planet\n3,NULL,Crouching Tiger, Hidden Café\n"


@GZ
@pytest.mark.parametrize("form", ["combined", "per movie"])
def test_netflix(tmp_path: Path, form: str, gz: bool) -> None:
    first, second = "1:\n30,5,2005-09-06\n7,3,2004-12-31\n", "3:\n30,1,2005-09-07"
    if form == "combined":
        put(tmp_path, "combined_data_1.txt", first, gz=gz)
        put(tmp_path, "combined_data_2.txt", second, gz=gz)
    else:
        put(tmp_path, "training_set/mv_0000001.txt", first, gz=gz)
        put(tmp_path, "training_set/mv_0000003.txt", second, gz=gz)
    put(tmp_path, "movie_titles.txt", NETFLIX_TITLES, gz=gz, encoding="latin-1")
    put(tmp_path, "probe.txt", "1:\n30\n", gz=gz)
    source = sources.load(tmp_path)
    assert triples(source.data) == [(7, 1, 3.0), (30, 1, 5.0), (30, 3, 1.0)]
    assert source.data.time is not None
    assert str(source.data.time[0])[:10] == "2004-12-31"
    assert source.titles == ("Dinosaur Planet", "Crouching Tiger, Hidden Café")
    split = sources.netflix_probe(tmp_path).data
    assert triples(split.held_out) == [(30, 1, 5.0)]
    assert triples(split.train) == [(7, 1, 3.0), (30, 3, 1.0)]
    assert split.how == "The 1 ratings listed in Netflix's probe.txt are held out."


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1:\n30,5\n", 2), ("1:\n30,5,2005-13-06\n", 2), ("1:\n30,9,2005-09-06\n", 2), ("1:\n3,1,2005-09-06,9\n", 2),
        ("1:\nx,5,2005-09-06\n", 2), ("1:\n3,1,2005-09-06\n\n2:\n", 3), ("1:\nx:\n", 2), ("3,1,2005-09-06\n", 1),
    ],
)  # fmt: skip
def test_netflix_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    put(tmp_path, "mv_0000001.txt", "1:\n3,1,2005-09-06\n")
    put(tmp_path, "mv_0000002.txt", text)
    with pytest.raises(DataError, match=rf"mv_0000002.txt:{line}: "):
        sources.netflix(tmp_path)


def test_netflix_without_ratings(tmp_path: Path) -> None:
    put(tmp_path, "mv_0000001.txt", "1:\n")
    put(tmp_path, "mv_0000002.txt", "")
    with pytest.raises(DataError, match="no ratings; there are headings at most"):
        sources.netflix(tmp_path)


def test_netflix_over_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{m}:\n" + "".join(f"{u},{1 + (u + m) % 5},2005-09-06\n" for u in range(1, 40)) for m in (1, 2, 3))
    put(tmp_path, "combined_data_1.txt", text)
    whole = sources.netflix(tmp_path).data
    for module in ("files", "netflix"):
        monkeypatch.setattr(load_module(module), "BLOCK", 50)
    assert sources.netflix(tmp_path).data == whole
    assert len(whole) == 3 * 39
    put(tmp_path, "combined_data_1.txt", text + "3,x,2005-09-06\n")
    with pytest.raises(DataError, match=r"combined_data_1.txt:121: '3,x,2005-09-06'"):
        sources.netflix(tmp_path)


def load_module(name: str) -> Any:
    import importlib

    return importlib.import_module(f"fullrank.data.sources.{name}")


def test_a_probe_of_other_data_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "mv_0000001.txt", "1:\n3,1,2005-09-06\n")
    put(tmp_path, "probe.txt", "1:\n3\n4\n")
    with pytest.raises(DataError, match=r"probe.txt: 1 pairs have no rating, the first is user 4, item 1"):
        sources.netflix_probe(tmp_path)


AMAZON = {
    "amazon-2014": ("ratings_Video_Games.csv",
                    "AB9S9279OZ3QO,0078764343,5,1373155200\nA24SSUT5CSW8BH,B000000001,1,9\n"),
    "amazon-2018": ("Video_Games.csv", "0078764343,AB9S9279OZ3QO,5.0,1373155200\nB000000001,A24SSUT5CSW8BH,1.0,9\n"),
    "amazon-2023": ("Video_Games.csv", "user_id,parent_asin,rating,timestamp\n"
                    "AB9S9279OZ3QO,0078764343,5.0,1373155200000\nA24SSUT5CSW8BH,B000000001,1.0,9000\n"),
}  # fmt: skip


@GZ
@pytest.mark.parametrize("name", AMAZON)
def test_amazon(tmp_path: Path, name: str, gz: bool) -> None:
    put(tmp_path / name, *AMAZON[name], gz=gz)
    source = sources.load(tmp_path / name)
    assert triples(source.data) == [("A24SSUT5CSW8BH", "B000000001", 1.0), ("AB9S9279OZ3QO", "0078764343", 5.0)]
    assert seconds(source.data) == [9, 1_373_155_200]
    assert source.name == f"Amazon reviews {name[-4:]}, Video Games"
    put(tmp_path / name, "ratings_Books.csv" if "2014" in name else "Books.csv", AMAZON[name][1])
    with pytest.raises(DataError, match=r"several categories .*choose one"):
        sources.load(tmp_path / name)
    assert len(sources.load(tmp_path / name, category="Video_Games").data) == 2
    with pytest.raises(NoInputError, match=r"no ratings_Music.csv or Music.csv"):
        sources.load(tmp_path / name, category="Music")
    with pytest.raises(ParameterError, match="category"):
        sources.load(tmp_path / name, category="../secret")


@GZ
def test_million_song(tmp_path: Path, gz: bool) -> None:
    put(tmp_path, "train_triplets.txt", "b80344\tSOAKIMP\t1\nb80344\tSOBXHDL\t2\n85c1f8\tSOAKIMP\t1\n", gz=gz)
    put(tmp_path, "unique_tracks.txt", "TRM<SEP>SOAKIMP<SEP>Jack Johnson<SEP>The Cove\n", gz=gz)
    source = sources.load(tmp_path)
    assert triples(source.data) == [("85c1f8", "SOAKIMP", 1.0), ("b80344", "SOAKIMP", 1.0), ("b80344", "SOBXHDL", 2.0)]
    assert source.titles == ("Jack Johnson: The Cove", "")
    assert source.title(1) == "SOBXHDL"
    assert source.notes[-1] == "1 of 2 items have no title"


KUAIREC = "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio\n"


@GZ
def test_kuairec(tmp_path: Path, gz: bool) -> None:
    folder = tmp_path / "KuaiRec 2.0" / "data"
    twice = (
        "0,5,1,2,2020-07-05 00:08:23.438,20200705,1593878903.438,0.5\n0,5,2,2,2020-07-06 00:00:00,20200706,{},0.25\n"
    )
    put(folder, "big_matrix.csv", KUAIREC + twice.format(1593990000), gz=gz)
    put(folder, "small_matrix.csv", KUAIREC + "3,5,1,2,,,,0.5\n3,8,1,2,2020-07-05 00:08:23.438,20200705,1.5,0\n", gz=gz)
    put(folder, "item_categories.csv", 'video_id,feat\n5,"[27, 9]"\n8,[1]\n', gz=gz)
    big = sources.load(tmp_path)
    assert triples(big.data) == [(0, 5, 0.25)]
    assert big.data.intake.merged == 1
    assert big.genres == (("27", "9"),)
    assert seconds(big.data) == [1593990000]
    assert big.name == "KuaiRec, big matrix"
    small = sources.load(tmp_path, matrix="small")
    assert triples(small.data) == [(3, 5, 0.5), (3, 8, 0.0)]
    assert small.data.time is None
    assert small.genres == (("27", "9"), ("1",))
    with pytest.raises(DataError, match=r"small_matrix.csv(.gz)?:2: time is empty"):
        sources.load(tmp_path, matrix="small", times=True)
    with pytest.raises(ParameterError, match="'big' or 'small'"):
        sources.load(tmp_path, matrix="medium")


def test_ta_feng_dates_and_sums(tmp_path: Path) -> None:
    head = '\ufeff"TRANSACTION_DT","CUSTOMER_ID","PRODUCT_ID","AMOUNT"\r\n'
    rows = '"11/1/2000","0001","7","2"\r\n"12/31/2000","0001","7","1"\r\n'
    put(tmp_path, "ta_feng_all_months_merged.csv", head + rows)
    data = sources.load(tmp_path).data
    assert triples(data) == [("0001", 7, 3.0)]
    assert data.time is not None
    assert str(data.time[0])[:10] == "2000-12-31"
    first = sources.load(tmp_path, duplicates="first").data
    assert triples(first) == [("0001", 7, 2.0)]
    assert str(first.time[0])[:10] == "2000-11-01"
    put(tmp_path, "ta_feng_all_months_merged.csv", head + rows + '"31/12/2000","0001","7","1"\r\n')
    with pytest.raises(DataError, match=r"date '31/12/2000' is not month/day/year"):
        sources.load(tmp_path)
    put(tmp_path, "ta_feng_all_months_merged.csv", head + '"11/1/2000","0001","7","0"\r\n')
    with pytest.raises(DataError, match="above 0"):
        sources.load(tmp_path)


PREFLIB = """# FILE NAME: 00002-00000001.toi
# TITLE: Leaders
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: Branden: the first
# ALTERNATIVE NAME 2: Raphaël
# ALTERNATIVE NAME 3: Bdale
# ALTERNATIVE NAME 4: None
"""


@GZ
def test_preflib_orders_with_ties(tmp_path: Path, gz: bool) -> None:
    path = put(tmp_path, "x.toi", PREFLIB + "2: 3,{1,4}\n1: {2, 4}, 1, 3\n1: 2\n", gz=gz)
    source = sources.preflib(path)
    data = source.data
    assert isinstance(data, Graded)
    assert source.name == "Leaders"
    assert len(data) == 4
    assert source.titles == ("Branden: the first", "Raphaël", "Bdale", "None")
    cases = [
        dict(zip(data.items.names[data.item[a:b]].tolist(), data.grade[a:b].tolist(), strict=True))
        for a, b in zip(data.start, data.start[1:], strict=False)
    ]
    assert cases == [{3: 1, 1: 0, 4: 0}, {3: 1, 1: 0, 4: 0}, {2: 2, 4: 2, 1: 1, 3: 0}, {2: 0}]
    assert data.count_pairs().tolist() == [2, 2, 5, 0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 3,1", "x.soc:9: '2 3,1' is not like"), ("1: 3,,1", "x.soc:9"), ("1: {3,1", "x.soc:9"),
        ("1: 3,1,3", r"x.soc:9: an alternative twice \(3\)"), ("1: 3,5", r"x.soc:9: an unknown alternative \(5\)"),
        ("0: 3,1", "x.soc:9: an order of 0 people"), ("99999999999: 3,1", "x.soc:9: an order of 99,999,999,999"),
        ("99999999999999999999: 1", "x.soc:9: an order of"), ("1: {}", "x.soc:9"),
    ],
)  # fmt: skip
def test_preflib_names_the_line(tmp_path: Path, line: str, message: str) -> None:
    path = put(tmp_path, "x.soc", f"{PREFLIB}1: 1,2\n{line}\n")
    with pytest.raises(DataError, match=message):
        sources.preflib(path)


def test_preflib_without_orders_or_header(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no orders"):
        sources.preflib(put(tmp_path, "x.soc", PREFLIB))
    with pytest.raises(DataError, match="is this a PrefLib file"):
        sources.preflib(put(tmp_path, "y.soc", "3\n1,a\n2,b\n"))
    with pytest.raises(NoInputError, match="no such file"):
        sources.preflib(tmp_path / "z.soc")


def ncf_folder(folder: Path, *, published: bool, gz: bool) -> None:
    """Users 1 and 2; movies in order of appearance 30, 10, 20, so that their NCF ids are 0, 1, 2."""
    if published:
        put(folder, "ml-1m.train.rating", "0\t0\t5\t100\n1\t1\t4\t90\n", gz=gz)
    else:
        put(folder, "ratings.dat", "1::30::5::100\n1::10::3::200\n2::10::4::90\n2::20::1::99\n", gz=gz)
        put(folder, "movies.dat", "10::Ten::War\n20::Twenty::War\n30::Thirty::War\n", gz=gz)
    put(folder, "ml-1m.test.rating", "0\t1\t3\t200\n1\t2\t1\t99\n", gz=gz)
    negatives = ["\t".join(["(0,1)", "2", "1", *["2"] * 97]), "\t".join(["(1,2)", *["0"] * 99])]
    put(folder, "ml-1m.test.negative", "\n".join(negatives) + "\n", gz=gz)


@GZ
@pytest.mark.parametrize("published", [True, False])
def test_ncf_from_its_own_train_file_or_derived(tmp_path: Path, published: bool, gz: bool) -> None:
    ncf_folder(tmp_path, published=published, gz=gz)
    source = sources.ncf(tmp_path)
    assert triples(source.data.train) == [(0, 0, 5.0), (1, 1, 4.0)]
    assert triples(source.data.held_out) == [(0, 1, 3.0), (1, 2, 1.0)]
    assert seconds(source.data.held_out) == [200, 99]
    assert source.extra["negatives"].shape == (2, 99)
    assert source.extra["negatives"][0, :2].tolist() == [2, 1]
    assert source.notes == ("1 of the 198 negatives are that same user's own held-out item",)
    assert source.titles == (() if published else ("Thirty", "Ten", "Twenty"))


def test_ncf_files_that_do_not_fit_together(tmp_path: Path) -> None:
    ncf_folder(tmp_path, published=False, gz=False)
    put(tmp_path, "ml-1m.test.rating", "0\t1\t4\t200\n1\t2\t1\t99\n")
    with pytest.raises(DataError, match="ratings or times are not those of"):
        sources.ncf(tmp_path)
    put(tmp_path, "ml-1m.test.rating", "0\t2\t4\t200\n1\t2\t1\t99\n")
    with pytest.raises(DataError, match="1 pairs have no rating, the first is user 0, item 2"):
        sources.ncf(tmp_path)
    ncf_folder(tmp_path, published=False, gz=False)
    put(tmp_path, "ml-1m.test.negative", "\t".join(["(0,1)", *["2"] * 99]) + "\n")
    with pytest.raises(DataError, match="the pairs are not the held-out ones"):
        sources.ncf(tmp_path)
    put(tmp_path, "ml-1m.test.negative", "\n".join("\t".join([pair, *["7"] * 99]) for pair in ("(0,1)", "(1,2)")))
    with pytest.raises(DataError, match=r"item code 7 is outside 0\.\.2"):
        sources.ncf(tmp_path)


# -- names, folders, faults -----------------------------------------------------------------------------------


def test_every_name_is_declared_whole() -> None:
    assert len(sources.names()) == len(KNOWN) == 22
    for name, (dataset, reader) in KNOWN.items():
        assert dataset.name == name
        assert dataset.licence
        assert dataset.page.startswith("http")
        assert reader.__doc__
        assert "icence" in reader.__doc__
        for file in dataset.downloads:
            assert file.address.startswith("http")
            assert file.limit
            assert file.checksum is None or len(file.checksum) in (4 + 32, 7 + 64)


def test_unknown_names_and_options() -> None:
    with pytest.raises(NoInputError, match=r"ml1m: neither a folder nor .* Did you mean 'ml-1m'\? Known: ml-100k"):
        sources.load("ml1m")
    with pytest.raises(NoInputError, match="Did you mean 'coat'"):
        sources.download("coats")
    with pytest.raises(ParameterError, match=r"'ml-1m' has no option 'catalog'. Did you mean 'catalogue'"):
        sources.load("ml-1m", catalog=True)
    with pytest.raises(ParameterError, match=r"'lastfm-2k' has no option 'catalogue'. It has none"):
        sources.load("lastfm-2k", catalogue=True)


def test_a_data_set_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NoInputError) as caught:
        sources.load("ml-25m")
    message = str(caught.value)
    places = (tmp_path / "data" / "ml-25m", tmp_path / "cache" / "fullrank" / "ml-25m")
    address = "https://files.grouplens.org/datasets/movielens/ml-25m.zip"
    for part in (*places, address, "fullrank data ml-25m --download", "FULLRANK_DATA"):
        assert str(part) in message
    with pytest.raises(NoInputError, match=r"get it from https://www.kaggle.com"):
        sources.ta_feng(tmp_path)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match=r"no such folder.*fullrank data coat.*coat.zip"):
        sources.coat(tmp_path / "nowhere")
    with pytest.raises(NoInputError, match=r"no ratings.dat or ratings.rebuilt.dat .*ml-1m.zip"):
        sources.movielens_1m(tmp_path)
    put(tmp_path, "ratings.dat", "1::10::5::978300760\n")
    assert sources.movielens_1m(tmp_path).titles == ()
    with pytest.raises(NoInputError, match=r"no movies.dat"):
        sources.movielens_1m(tmp_path, catalogue=True)
    with pytest.raises(NoInputError, match=r"is a file; read it with fullrank.read"):
        sources.load(tmp_path / "ratings.dat")
    with pytest.raises(NoInputError, match=r"not the folder of a data set known here; it holds ratings.dat"):
        sources.load(tmp_path)


def test_the_first_place_with_the_files_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "million-song").mkdir(parents=True)
    with pytest.raises(NoInputError, match=r"data/million-song: no train_triplets.txt"):
        sources.load("million-song")
    put(tmp_path / "cache" / "fullrank" / "million-song", "train_triplets.txt", "u\ts\t2\n", gz=True)
    assert triples(sources.load("million-song").data) == [("u", "s", 2.0)]
    put(tmp_path / "data" / "msd", "train_triplets.txt", "u\ts\t3\n")  # another name is the last resort
    assert triples(sources.load("million-song").data) == [("u", "s", 2.0)]
    put(tmp_path / "data" / "million-song", "train_triplets.txt", "u\ts\t4\n")
    assert triples(sources.load("million-song").data) == [("u", "s", 4.0)]


def test_no_folder_beside_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FULLRANK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    put(tmp_path / "shared" / "data" / "million-song", "train_triplets.txt", "u\ts\t2\n")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    with pytest.raises(NoInputError) as caught:
        sources.load("million-song")
    assert "shared" not in str(caught.value)


def test_nobody_is_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", _nobody)
    with pytest.raises(NoInputError, match="ml-32m"):
        sources.load("ml-32m")


def _nobody(_: Path) -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    lines = "".join(f"{user}\t{user % 7}\t3\t{user}\n" for user in range(1, 20_000))
    whole = put(tmp_path, "u.data", lines, gz=True).read_bytes()
    put(tmp_path, "u.data.gz", whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"u.data.gz: unexpected end of the gzip data"):
        sources.load(tmp_path)
    put(tmp_path, "u.data.gz", whole)
    titles = put(tmp_path, "u.item", "1|x|||" + "|0" * 19 + "\n", gz=True)
    titles.write_bytes(titles.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"u.item.gz: unexpected end"):
        sources.load(tmp_path)


def test_wrong_columns_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "u.data", "1\t2\t3\t4\n1\t3\t3\n")
    with pytest.raises(DataError, match=r"u.data:2: 3 fields, expected 4"):
        sources.movielens_100k(tmp_path)
    put(tmp_path, "u.data", "1\t2\t6\t4\n")
    with pytest.raises(DataError, match=r"6 is outside the scale"):
        sources.movielens_100k(tmp_path)
    put(tmp_path, "u.data", "1\t2\t3\t4\n")
    put(tmp_path, "u.item", "1|Toy Story|01-Jan-1995\n")
    with pytest.raises(DataError, match=r"u.item: no column .*found 3 columns"):
        sources.movielens_100k(tmp_path)
    put(tmp_path, "ml-1m/ratings.dat", "1::10::5::978300760\n")
    put(tmp_path, "ml-1m/movies.dat", "10::X::War\n11::Y\n")
    with pytest.raises(DataError, match=r"movies.dat:2: 2 fields, expected 3"):
        sources.movielens_1m(tmp_path / "ml-1m")
    put(tmp_path, "ml-1m/movies.dat", "10::X::War\n::Y::War\n")
    with pytest.raises(DataError, match=r"movies.dat:2: the item is empty"):
        sources.movielens_1m(tmp_path / "ml-1m")
    put(tmp_path, "ml-25m/ratings.csv", "userId,film,rating,timestamp\n1,2,3,4\n")
    with pytest.raises(DataError, match="no item column: expected 'movieId', found userId, film"):
        sources.load(tmp_path / "ml-25m")
    put(tmp_path, "ml-25m/ratings.csv", "userId,movieId,rating,timestamp\n1,2,3,4\n")
    put(tmp_path, "ml-25m/movies.csv", "movieId,name\n1,x\n")
    with pytest.raises(DataError, match=r"movies.csv: no column 'title': expected .* found movieId, name"):
        sources.load(tmp_path / "ml-25m")
    put(tmp_path, "ml-25m/movies.csv", "movieId,title,genres\n1,x,y\n2,caf\xe9,y\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"movies.csv: byte 0xe9 at offset 32 is not utf-8"):
        sources.load(tmp_path / "ml-25m")


def test_ragged_matrices_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "train.ascii", "0 1 \r\n2 0 \r\n")
    put(tmp_path, "test.ascii", "0 1\r\n2\r\n")
    with pytest.raises(DataError, match=r"test.ascii: .*fetch the file again"):
        sources.coat(tmp_path)
    put(tmp_path, "test.ascii", "0 1 5\r\n0 0 2\r\n")
    with pytest.raises(DataError, match=r"train has shape \(2, 2\), test \(2, 3\)"):
        sources.coat(tmp_path)
    put(tmp_path, "test.ascii", "0 3\r\n0 2\r\n")
    assert triples(sources.coat(tmp_path).data.held_out) == [(0, 1, 3.0), (1, 1, 2.0)]
    with pytest.raises(ParameterError, match="overlap"):
        sources.coat(tmp_path, overlap="drop")  # type: ignore[arg-type]


def test_a_file_found_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "a/u.data", "1\t2\t3\t4\n")
    assert len(sources.movielens_100k(tmp_path).data) == 1
    put(tmp_path, "b/u.data", "1\t2\t3\t4\n")
    with pytest.raises(DataError, match=r"both .*a/u.data and .*b/u.data are there"):
        sources.movielens_100k(tmp_path)


def test_reading_never_uses_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    put(tmp_path, "u.data", "1\t2\t3\t4\n")
    assert len(sources.load(tmp_path).data) == 1
    with pytest.raises(NoInputError):
        sources.load(tmp_path / "nowhere")


# -- downloads, from a server of our own ----------------------------------------------------------------------


class Web:
    """A server on this machine: what it answers by path, and how long it says that is."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.answers: dict[str, tuple[bytes, int | None]] = {}

    def give(self, name: str, content: bytes, length: int | None = -1) -> str:
        self.answers[f"/{name}"] = (content, len(content) if length == -1 else length)
        return f"{self.address}/{name}"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in site.answers:
                self.send_error(404)
                return
            content, length = site.answers[self.path]
            self.send_response(200)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Web(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


Offer = Callable[..., None]


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Offer:
    def change(name: str, *downloads: sources.Download) -> None:
        known = KNOWN[name]
        monkeypatch.setitem(KNOWN, name, Known(replace(known.dataset, downloads=downloads), known.read))

    return change


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], mode: Any = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


ML_100K_ZIP = zipped({"ml-100k/": "", "ml-100k/u.data": "1\t2\t3\t4\n", "ml-100k/README": "research\n"})


def test_download_verified_and_read(web: Web, offer: Offer, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    address = web.give("ml-100k.zip", ML_100K_ZIP)
    offer("ml-100k", sources.Download(address, f"md5:{hashlib.md5(ML_100K_ZIP).hexdigest()}"))
    done = sources.download("ml-100k", tmp_path / "new", progress=lambda *state: seen.append(state))
    assert done.folder == tmp_path / "new" / "ml-100k"
    assert done.verified
    assert done.files == 2
    assert "checksum verified" in str(done)
    assert "research" in str(done)
    assert sorted(os.listdir(done.folder)) == ["README", "u.data"]
    assert os.listdir(tmp_path / "new") == ["ml-100k"]
    assert stat.S_IMODE(done.folder.stat().st_mode) & 0o700 == 0o700
    assert seen[-1] == (len(ML_100K_ZIP), len(ML_100K_ZIP))
    assert triples(sources.load(done.folder).data) == [(1, 2, 3.0)]


def test_download_without_a_published_checksum_says_so(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("coat", sources.Download(web.give("coat.zip", zipped({"train.ascii": "1", "test.ascii": "2"}), None)))
    done = sources.download("coat", tmp_path)
    assert not done.verified
    assert "not verified" in str(done)
    assert len(sources.load(done.folder).data.train) == 1


def test_download_of_several_plain_files(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("sushi", *(sources.Download(web.give(f"00014%20-%20sushi/{n}", PREFLIB.encode() + b"1: 1,2\n"))
                     for n in ("00014-00000001.soc", "00014-00000002.soi")))  # fmt: skip
    done = sources.download("sushi", tmp_path)
    assert sorted(os.listdir(done.folder)) == ["00014-00000001.soc", "00014-00000002.soi"]
    assert len(sources.load(done.folder, which="100").data) == 1


def test_download_of_an_archive_in_an_archive(web: Web, offer: Offer, tmp_path: Path) -> None:
    inner = tarred({"training_set/mv_0000001.txt": b"1:\n3,1,2005-09-06\n"}, "w")
    outer = tarred({"download/training_set.tar": inner, "download/probe.txt": b"1:\n3\n"})
    offer("netflix", sources.Download(web.give("nf_prize_dataset.tar.gz", outer)))
    done = sources.download("netflix", tmp_path)
    assert triples(sources.load(done.folder).data) == [(3, 1, 1.0)]
    assert not list(done.folder.rglob("*.tar"))


def test_download_fills_the_category(web: Web, offer: Offer, tmp_path: Path) -> None:
    web.give("ratings_Video_Games.csv", AMAZON["amazon-2014"][1].encode())
    offer("amazon-2014", sources.Download(f"{web.address}/ratings_{{category}}.csv"))
    done = sources.download("amazon-2014", tmp_path, category="Video_Games")
    assert len(sources.load(done.folder).data) == 2
    with pytest.raises(ParameterError, match="Choose the category"):
        sources.download("amazon-2014", tmp_path / "other")
    with pytest.raises(ParameterError, match="category"):
        sources.download("amazon-2014", tmp_path / "other", category="../x")
    with pytest.raises(ParameterError, match="has no 'category'"):
        sources.download("coat", tmp_path / "other", category="x")


def test_download_keeps_what_is_there(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    put(tmp_path / "ml-100k", "mine.txt", "precious")
    with pytest.raises(OutputError, match="exists; pass overwrite=True"):
        sources.download("ml-100k", tmp_path)
    assert os.listdir(tmp_path / "ml-100k") == ["mine.txt"]
    sources.download("ml-100k", tmp_path, overwrite=True)
    assert sorted(os.listdir(tmp_path / "ml-100k")) == ["README", "u.data"]
    assert os.listdir(tmp_path) == ["ml-100k"]
    put(tmp_path, "file", "x")
    with pytest.raises(OutputError, match="cannot be created as a folder"):
        sources.download("ml-100k", tmp_path / "file")


def test_a_failed_overwrite_leaves_the_old(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP), "md5:" + "0" * 32))
    put(tmp_path / "ml-100k", "mine.txt", "precious")
    with pytest.raises(DataError, match="checksum"):
        sources.download("ml-100k", tmp_path, overwrite=True)
    assert os.listdir(tmp_path) == ["ml-100k"]
    assert os.listdir(tmp_path / "ml-100k") == ["mine.txt"]


def refused(tmp_path: Path, kind: type[Exception], match: str, name: str = "ml-100k") -> None:
    """The download fails in one sentence, and leaves nothing behind."""
    to = tmp_path / "to"
    with pytest.raises(kind, match=match) as caught:
        sources.download(name, to)
    assert "\n" not in str(caught.value)
    assert os.listdir(to) == []
    assert os.listdir(tmp_path) == ["to"]


def test_a_wrong_checksum(web: Web, offer: Offer, tmp_path: Path) -> None:
    wrong = "0" * 64
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP), f"sha256:{wrong}"))
    refused(tmp_path, DataError, f"sha256 checksum is {hashlib.sha256(ML_100K_ZIP).hexdigest()}, expected {wrong}")


def test_a_download_that_breaks_off(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP[:50], len(ML_100K_ZIP))))
    refused(tmp_path, StorageError, f"broke off after 50 .*{len(ML_100K_ZIP)}|broke off after 0 bytes")


def test_a_download_cut_short_without_a_length(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP[:50], None)))
    refused(tmp_path, DataError, "not a whole archive")


@pytest.mark.parametrize("length", [-1, None], ids=["said", "not said"])
def test_a_download_over_its_limit(web: Web, offer: Offer, tmp_path: Path, length: int | None) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP, length), limit=100))
    refused(tmp_path, StorageError, "more than 100 bytes")


def test_a_refused_connection(offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    offer("ml-100k", sources.Download(f"http://127.0.0.1:{port}/x.zip"))
    refused(tmp_path, NoInputError, "cannot be reached .*refused.*check the network")


def test_an_answer_that_is_no_archive(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(f"{web.address}/gone.zip"))
    refused(tmp_path, NoInputError, "the server answered 404")
    (tmp_path / "to").rmdir()
    offer("ml-100k", sources.Download(web.give("x.zip", b"<html>Please log in</html>")))
    refused(tmp_path, DataError, "not a whole archive")
    (tmp_path / "to").rmdir()
    offer("ml-100k", sources.Download("ftp://127.0.0.1/x.zip"))
    refused(tmp_path, ParameterError, "http or https")


def test_what_has_no_address(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="Ta Feng grocery has no address to fetch it from; get it from https"):
        sources.download("ta-feng", tmp_path)


def evil_zip(name: str, mode: int = stat.S_IFREG | 0o644) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("ok.txt", "fine")
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        entry.external_attr = mode << 16
        archive.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def evil_tar(name: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("ok.txt"))
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    return buffer.getvalue()


OUTSIDE, LINK = "points outside", "is a link or device"
HOSTILE = {
    "zip: above": ("x.zip", evil_zip("../evil.txt"), OUTSIDE),
    "zip: above, hidden": ("x.zip", evil_zip("a/../../evil.txt"), OUTSIDE),
    "zip: absolute": ("x.zip", evil_zip("/tmp/evil.txt"), OUTSIDE),
    "zip: backslash": ("x.zip", evil_zip("..\\evil.txt"), OUTSIDE),
    "zip: drive": ("x.zip", evil_zip("C:evil.txt"), OUTSIDE),
    "zip: link": ("x.zip", evil_zip("l", stat.S_IFLNK | 0o777), LINK),
    "zip: link named like a folder": ("x.zip", evil_zip("l/", stat.S_IFLNK | 0o777), LINK),
    "zip: device": ("x.zip", evil_zip("d", stat.S_IFCHR | 0o666), LINK),
    "zip: below a file": ("x.zip", evil_zip("ok.txt/below"), "not a whole archive"),
    "zip: twice": ("x.zip", evil_zip("./ok.txt"), "in it twice"),
    "tar: above": ("x.tar.gz", evil_tar("../evil.txt"), OUTSIDE),
    "tar: absolute": ("x.tar.gz", evil_tar("/tmp/evil.txt"), OUTSIDE),
    "tar: link": ("x.tar.gz", evil_tar("l", tarfile.SYMTYPE), LINK),
    "tar: hard link": ("x.tar.gz", evil_tar("h", tarfile.LNKTYPE), LINK),
    "tar: device": ("x.tar.gz", evil_tar("d", tarfile.CHRTYPE), LINK),
    "tar: pipe": ("x.tar.gz", evil_tar("f", tarfile.FIFOTYPE), LINK),
    "tar: inside": ("x.tar.gz", tarred({"inner.tar": tarred({"../../evil.txt": b"x"}, "w")}), OUTSIDE),
}


@pytest.mark.parametrize(("file", "content", "fault"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives(web: Web, offer: Offer, tmp_path: Path, file: str, content: bytes, fault: str) -> None:
    offer("ml-100k", sources.Download(web.give(file, content)))
    refused(tmp_path, DataError, fault)
    assert not Path("/tmp/evil.txt").exists()


def test_an_archive_that_expands_without_measure(
    web: Web, offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack = load_module("unpack")
    monkeypatch.setattr(unpack, "BOMB_SIZE", 1000)
    offer("ml-100k", sources.Download(web.give("x.zip", zipped({"u.data": "0" * 10_000_000}))))
    refused(tmp_path, DataError, "expands to over")
    (tmp_path / "to").rmdir()
    monkeypatch.setattr(unpack, "MOST_FILES", 3)
    offer("ml-100k", sources.Download(web.give("x.zip", zipped(dict.fromkeys("abcd", "")))))
    refused(tmp_path, DataError, "expands to over 3 files")


def test_an_interrupted_download_leaves_nothing(web: Web, offer: Offer, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    with pytest.raises(KeyboardInterrupt):
        sources.download("ml-100k", tmp_path, progress=interrupt)
    assert os.listdir(tmp_path) == []


def test_leftovers_of_killed_downloads_are_removed(web: Web, offer: Offer, tmp_path: Path) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    put(tmp_path / ".ml-100k.killed.tmp", "x.zip", "half")
    put(tmp_path / ".ml-100k.running.tmp", "x.zip", "half")
    handle = os.open(tmp_path / ".ml-100k.running.tmp", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        sources.download("ml-100k", tmp_path)
    finally:
        os.close(handle)
    assert sorted(os.listdir(tmp_path)) == [".ml-100k.running.tmp", "ml-100k"]


def test_downloads_go_where_names_are_found(
    web: Web, offer: Offer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer("ml-100k", sources.Download(web.give("x.zip", ML_100K_ZIP)))
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "data"))
    assert sources.download("ml-100k").folder == tmp_path / "data" / "ml-100k"
    assert len(sources.load("ml-100k").data) == 1
    monkeypatch.delenv("FULLRANK_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert sources.download("ml-100k").folder == tmp_path / "cache" / "fullrank" / "ml-100k"
