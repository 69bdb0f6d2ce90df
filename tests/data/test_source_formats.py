"""Every format of a public data set, from small files written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullrank.data import sources
from fullrank.data.graded import Graded
from fullrank.data.sources.known import KNOWN
from fullrank.errors import DataError, NoInputError, ParameterError
from tests.data.sources_by_hand import AMAZON, PREFLIB, load_module, put, seconds, triples

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


def test_a_probe_of_other_data_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "mv_0000001.txt", "1:\n3,1,2005-09-06\n")
    put(tmp_path, "probe.txt", "1:\n3\n4\n")
    with pytest.raises(DataError, match=r"probe.txt: 1 pairs have no rating, the first is user 4, item 1"):
        sources.netflix_probe(tmp_path)


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
