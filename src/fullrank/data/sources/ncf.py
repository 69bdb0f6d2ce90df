"""The leave-last-out split of MovieLens 1M published with the NCF paper (He et al. 2017)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import checked_codes
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions, canonical
from fullrank.data.read import read
from fullrank.data.reading.fields import Field
from fullrank.data.reading.table import read_table
from fullrank.data.sources.files import Files, Folder, table
from fullrank.data.sources.movielens_1m import RATINGS, REBUILT, dat_movies, is_rebuilt
from fullrank.data.sources.pairs import hold_out
from fullrank.data.sources.source import Dataset, Download, Source
from fullrank.data.split import Split
from fullrank.errors import DataError

ADDRESS = "https://raw.githubusercontent.com/hexiangnan/neural_collaborative_filtering/master/Data/"
NCF = Dataset(
    name="ncf-ml-1m",
    title="MovieLens 1M, leave-last-out split of NCF",
    page="https://github.com/hexiangnan/neural_collaborative_filtering",
    licence="as MovieLens 1M: research; no redistribution, no commercial use without permission",
    marks=(("ml-1m.test.rating",),),
    downloads=tuple(
        Download(f"{ADDRESS}ml-1m.{part}", limit=64 << 20) for part in ("train.rating", "test.rating", "test.negative")
    ),
    folders=("ml-1m",),
)

FIELDS = (Field("user", "id", 0), Field("item", "id", 1), Field("value", "number", 2), Field("time", "time", 3))
HOW = "The last rating of each user is held out, as published with the NCF paper (He et al. 2017)."


def ncf(folder: Folder = None) -> Source[Split[Interactions]]:
    """994,169 ratings to train on and one held out for each of 6,040 users, over 3,706 movies.

    Ids are NCF's: user = MovieLens user - 1, item = rank, from 0, of the movie's first appearance in the
    ratings file; codes are the same numbers. Train is `ml-1m.train.rating`, or, where that is not there,
    every rating of `ratings.dat` (or the rebuilt one) but the held-out ones.
    `extra["negatives"]` (6,040 x 99) are item codes to rank the held-out item against; 156 of them are
    that same user's own held-out item. Licence: as MovieLens 1M, research, no redistribution.
    """
    files = Files(NCF, folder)
    test, train = files.file("ml-1m.test.rating"), files.find("ml-1m.train.rating")
    source = _read_published(train, test) if train else _derive(files, test)
    negatives = files.find("ml-1m.test.negative")
    if negatives is None:
        return replace(source, notes=(*source.notes, "there is no ml-1m.test.negative"))
    sampled = _negatives(negatives, source.data)
    own = int((sampled == source.data.held_out.item[:, None]).sum())
    note = f"{own:,} of the {sampled.size:,} negatives are that same user's own held-out item"
    return replace(source, notes=(*source.notes, note), extra={"negatives": sampled})


def _read_published(train: Path, test: Path) -> Source[Split[Interactions]]:
    parts = [read(path, separator="\t", header=False, scale=(1, 5)) for path in (train, test)]
    users, items = (range(1 + max(int(getattr(part, ids).names.max()) for part in parts)) for ids in ("users", "items"))
    seen, held_out = (part.catalogue(users, items) for part in parts)
    return Source(NCF.title, Split(seen, held_out, how=HOW))


def _derive(files: Files, test: Path) -> Source[Split[Interactions]]:
    """The split of MovieLens's own ratings, with titles where there are any."""
    ratings = files.file("ml-1m.train.rating", *RATINGS)
    rows = read_table(ratings, FIELDS, separator="::", header=False)
    users, items, movies = Ids(rows.ids["user"].names - 1), Ids.numbered(len(rows.ids["item"])), rows.ids["item"]
    rank = _first_appearance(rows.columns["item"])
    rows.columns["item"] = rank[rows.columns["item"]]
    data = canonical(rows.columns, users, items, "error", rows.intake)
    rated = read(test, separator="\t", header=False, users=users, items=items)
    split = hold_out(data, users.names[rated.user], items.names[rated.item], how=HOW, listed=test)
    if not (np.array_equal(split.held_out.value, rated.value) and np.array_equal(split.held_out.time, rated.time)):  # type: ignore[arg-type]
        raise DataError(f"{test}: ratings or times are not those of {ratings}; are both MovieLens 1M?")
    listed = files.find("movies.dat")
    titles, genres = dat_movies(listed, "latin-1").of(Ids(movies.names[np.argsort(rank)])) if listed else ((), ())
    return Source(NCF.title, split, titles, genres, (REBUILT,) if is_rebuilt(ratings) else ())


def _first_appearance(codes: NDArray[Any]) -> NDArray[np.int32]:
    """For every code its rank by the row it first appears in."""
    _, first = np.unique(codes, return_index=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank


def _negatives(path: Path, split: Split[Interactions]) -> NDArray[np.int32]:
    """Item codes by user: lines of (user,item) and 99 items, tabs between them."""
    import polars as pl

    held_out = split.held_out
    frame = table(path, ["pair", *map(str, range(1, 100))], "\t")
    pairs = frame.select(pl.col("pair").str.extract_groups(r"^\((\d+),(\d+)\)$")).unnest("pair")
    user, item = (pairs[group].cast(pl.Int64, strict=False).fill_null(-1).to_numpy() for group in ("1", "2"))
    order = np.argsort(user, kind="stable")
    names = held_out.users.names[held_out.user], held_out.items.names[held_out.item]
    if not (np.array_equal(user[order], names[0]) and np.array_equal(item[order], names[1])):
        raise DataError(f"{path}: the pairs are not the held-out ones; are all files of the same split?")
    sampled = frame.drop("pair").select(pl.all().cast(pl.Int64, strict=False).fill_null(-1)).to_numpy()[order]
    codes = checked_codes(sampled.ravel(), len(held_out.items), f"{path}: item")
    return codes.reshape(sampled.shape)
