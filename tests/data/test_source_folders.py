"""Data sets by name and by folder: where they are looked for, and what is refused."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fullrank.data import sources
from fullrank.data.sources.known import KNOWN
from fullrank.errors import DataError, NoInputError, ParameterError
from tests.data.sources_by_hand import put, triples

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
