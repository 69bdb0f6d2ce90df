"""MovieLens 10M (GroupLens, 2009)."""

from __future__ import annotations

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import described, titles_file
from fullrank.data.sources.files import Files, Folder
from fullrank.data.sources.movielens_1m import dat_movies
from fullrank.data.sources.source import Dataset, Download, Source

ML_10M = Dataset(
    name="ml-10m",
    title="MovieLens 10M",
    page="https://grouplens.org/datasets/movielens/10m/",
    licence="research; no redistribution, no commercial use without permission; cite GroupLens",
    marks=(("ratings.dat", "tags.dat"),),
    downloads=(
        Download(
            "https://files.grouplens.org/datasets/movielens/ml-10m.zip",
            "md5:ce571fd55effeba0271552578f2648bd",
            128 << 20,
        ),
    ),
    folders=("ml-10M100K",),
    rows=10_000_054,
    users=69_878,
    items=10_677,
)


def movielens_10m(folder: Folder = None, *, catalogue: bool = False) -> Source[Interactions]:
    """10,000,054 ratings 0.5..5 with times, of 69,878 users on 10,677 movies (counts as published).

    `catalogue=True` adds the movies that are listed but that nobody rated, 10,681 in all.
    Licence: research; no redistribution, no commercial use without permission; cite GroupLens.
    """
    files = Files(ML_10M, folder)
    data = read(files.file("ratings.dat"), separator="::", header=False, scale=(0.5, 5))
    movies = titles_file(files, ("movies.dat",), required=catalogue)
    return described(ML_10M, data, None if movies is None else dat_movies(movies, "utf-8"), whole=catalogue)
