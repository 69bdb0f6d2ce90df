"""MovieLens 100K (GroupLens, 1998)."""

from __future__ import annotations

from pathlib import Path

from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.data.sources.catalogue import Catalogue, as_ids, described
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.source import Dataset, Download, Source

ML_100K = Dataset(
    name="ml-100k",
    title="MovieLens 100K",
    page="https://grouplens.org/datasets/movielens/100k/",
    licence="research; no redistribution, no commercial use without permission; cite GroupLens",
    marks=(("u.data",),),
    downloads=(
        Download(
            "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
            "md5:0e33842e24a9c977be4e0107933c0723",
            16 << 20,
        ),
    ),
    rows=100_000,
    users=943,
    items=1_682,
)

GENRES = (
    "unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Fantasy",
    "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western",
)  # fmt: skip


def movielens_100k(folder: Folder = None) -> Source[Interactions]:
    """100,000 ratings 1..5 with times, of 943 users on 1,682 movies (every movie listed is rated).

    Licence: research; no redistribution, no commercial use without permission; cite GroupLens.
    """
    files = Files(ML_100K, folder)
    data = read(files.file("u.data"), separator="\t", header=False, scale=(1, 5))
    movies = files.find("u.item")
    return described(ML_100K, data, None if movies is None else _movies(movies))


def _movies(path: Path) -> Catalogue:
    """Lines of id|title|release|video release|address|19 flags of genres."""
    frame = table(path, ["item", "title", "release", "video", "address", *GENRES], "|", encoding="latin-1")
    flags = (frame.select(GENRES) == "1").to_numpy()
    genres = [tuple(genre for genre, flag in zip(GENRES, row, strict=True) if flag) for row in flags]
    return Catalogue(as_ids(frame["item"].to_list()), frame["title"].to_list(), genres)
