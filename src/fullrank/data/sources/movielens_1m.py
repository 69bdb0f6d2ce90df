"""MovieLens 1M (GroupLens, 2003), and the file rebuilt from parts of it."""

from __future__ import annotations

from pathlib import Path

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import Catalogue, as_ids, described, genre_lists, titles_file
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.source import Dataset, Download, Source

ML_1M = Dataset(
    name="ml-1m",
    title="MovieLens 1M",
    page="https://grouplens.org/datasets/movielens/1m/",
    licence="research; no redistribution, no commercial use without permission; cite GroupLens",
    marks=(("ratings*.dat", "users.dat"), ("ratings.rebuilt.dat",)),
    downloads=(
        Download(
            "https://files.grouplens.org/datasets/movielens/ml-1m.zip", "md5:c4d9eecfca2ab87c1945afe126590906", 32 << 20
        ),
    ),
    rows=1_000_209,
    users=6_040,
    items=3_706,
)

RATINGS = ("ratings.dat", "ratings.rebuilt.dat")
REBUILT = (
    "MovieLens 1M, rebuilt: users, movies, ratings and their order are the original's, but 70,964 times of users "
    "3000 and up are estimates; say so with every number that depends on time."
)


def movielens_1m(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """1,000,209 ratings 1..5 with times, of 6,040 users on 3,706 movies.

    `catalogue=True` adds the movies that are listed but that nobody rated, 3,883 in all (Steck 2010 ranks among
    those). Of `ratings.rebuilt.dat`, where there is no `ratings.dat`, a note says that it is rebuilt.
    Licence: research; no redistribution, no commercial use without permission; cite GroupLens.
    """
    files = Files(ML_1M, folder)
    ratings = files.file(*RATINGS)
    data = read(ratings, separator="::", header=False, scale=(1, 5))
    movies = titles_file(files, ("movies.dat",), required=catalogue)
    known = None if movies is None else dat_movies(movies, "latin-1")
    name, notes = ("MovieLens 1M, rebuilt", (REBUILT,)) if is_rebuilt(ratings) else ("", ())
    return described(ML_1M, data, known, name=name, whole=catalogue, notes=notes)


def is_rebuilt(ratings: Path) -> bool:
    """Whether this is the file put together from parts."""
    return ratings.name.startswith("ratings.rebuilt.")


def dat_movies(path: Path, encoding: str) -> Catalogue:
    """Titles and genres of a movies.dat: lines of id::title::genre|genre."""
    frame = table(path, ["item", "title", "genres"], "::", encoding=encoding)
    return Catalogue(as_ids(frame["item"].to_list()), frame["title"].to_list(), genre_lists(frame["genres"].to_list()))
