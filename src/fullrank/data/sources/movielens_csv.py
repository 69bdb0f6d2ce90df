"""MovieLens 20M, 25M, 32M and latest (GroupLens, since 2015): one format, several sizes."""

from __future__ import annotations

from pathlib import Path

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import Catalogue, as_ids, described, genre_lists, titles_file
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.source import Dataset, Download, Source

ADDRESS = "https://files.grouplens.org/datasets/movielens/"
PAGE = "https://grouplens.org/datasets/movielens/"
LICENCE = "research; redistribution under the same terms, no commercial use without permission; cite GroupLens"
CHANGES = "GroupLens replaces this data set from time to time: report when it was fetched."

ML_20M = Dataset(
    "ml-20m", "MovieLens 20M", f"{PAGE}20m/", LICENCE,
    downloads=(Download(f"{ADDRESS}ml-20m.zip", "md5:cd245b17a1ae2cc31bb14903e1204af3"),),
    rows=20_000_263, users=138_493, items=26_744,
)  # fmt: skip
ML_25M = Dataset(
    "ml-25m", "MovieLens 25M", f"{PAGE}25m/", LICENCE,
    downloads=(Download(f"{ADDRESS}ml-25m.zip", "md5:6b51fb2759a8657d3bfcbfc42b592ada"),),
    rows=25_000_095, users=162_541, items=59_047,
)  # fmt: skip
ML_32M = Dataset(
    "ml-32m", "MovieLens 32M", f"{PAGE}32m/", LICENCE,
    downloads=(Download(f"{ADDRESS}ml-32m.zip", "md5:d472be332d4daa821edc399621853b57"),),
    rows=32_000_204, users=200_948, items=84_432,
)  # fmt: skip
ML_LATEST = Dataset(
    "ml-latest", "MovieLens latest", f"{PAGE}latest/", LICENCE,
    marks=(("ratings.csv", "movies.csv"),), downloads=(Download(f"{ADDRESS}ml-latest.zip"),),
)  # fmt: skip
ML_LATEST_SMALL = Dataset(
    "ml-latest-small", "MovieLens latest, small", f"{PAGE}latest/", LICENCE,
    downloads=(Download(f"{ADDRESS}ml-latest-small.zip"),),
)  # fmt: skip


def movielens_20m(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """20,000,263 ratings 0.5..5 with times, of 138,493 users on 26,744 movies (counts as published).

    `catalogue=True` adds the movies that are listed but that nobody rated, 27,278 in all.
    Licence: research; redistribution under the same terms, no commercial use without permission.
    """
    return _movielens(ML_20M, folder, catalogue)


def movielens_25m(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """25,000,095 ratings 0.5..5 with times, of 162,541 users on 59,047 movies (counts as published).

    `catalogue=True` adds the movies that are listed but that nobody rated, 62,423 in all.
    Licence: research; redistribution under the same terms, no commercial use without permission.
    """
    return _movielens(ML_25M, folder, catalogue)


def movielens_32m(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """32,000,204 ratings 0.5..5 with times, of 200,948 users on 84,432 movies (counts as published).

    `catalogue=True` adds the movies that are listed but that nobody rated, 87,585 in all.
    Licence: research; redistribution under the same terms, no commercial use without permission.
    """
    return _movielens(ML_32M, folder, catalogue)


def movielens_latest(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """All ratings 0.5..5 with times up to some day: GroupLens replaces this data set from time to time.

    `catalogue=True` adds the movies that are listed but that nobody rated.
    Licence: research; redistribution under the same terms, no commercial use without permission.
    """
    return _movielens(ML_LATEST, folder, catalogue, CHANGES)


def movielens_latest_small(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """About 100,000 of the latest ratings, for trying things out. Options and licence as for `latest`."""
    return _movielens(ML_LATEST_SMALL, folder, catalogue, CHANGES)


def _movielens(dataset: Dataset, folder: Folder, catalogue: bool, *notes: str) -> Source[Interactions]:
    files = Files(dataset, folder)
    columns = {"user": "userId", "item": "movieId", "value": "rating", "time": "timestamp"}
    data = read(files.file("ratings.csv"), columns, separator=",", header=True, scale=(0.5, 5))
    movies = titles_file(files, ("movies.csv",), required=catalogue)
    return described(dataset, data, None if movies is None else _movies(movies), whole=catalogue, notes=notes)


def _movies(path: Path) -> Catalogue:
    frame = table(path, ["movieId", "title", "genres"], ",", header=True, quote='"')
    names, titles = as_ids(frame["movieId"].to_list()), frame["title"].to_list()
    return Catalogue(names, titles, genre_lists(frame["genres"].to_list()))
