"""Coat Shopping (Schnabel et al. 2016): ratings people chose to give, and ratings of random coats."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import frozen
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.sources.files import Files, Folder, content, decoded
from fullrank.data.sources.source import Dataset, Download, Genres, Source
from fullrank.data.split import Split
from fullrank.errors import DataError, check

Overlap: TypeAlias = Literal["keep", "train", "held_out"]

COAT = Dataset(
    name="coat",
    title="Coat Shopping",
    page="https://www.cs.cornell.edu/~schnabts/mnar/",
    licence="none is stated; treat it as research only",
    marks=(("train.ascii", "test.ascii"),),
    downloads=(Download("https://www.cs.cornell.edu/~schnabts/mnar/coat.zip", limit=16 << 20),),
)


def coat(folder: Folder = None, *, overlap: Overlap = "keep") -> Source[Split[Interactions]]:
    """Ratings 1..5 by 290 people of 300 coats: 6,960 self-chosen to train on, 4,640 at random held out.

    366 cells are in both parts, with the same rating. `overlap="keep"` leaves them in both, as published:
    a split whose parts are not disjoint. "train" or "held_out" leaves them in that part only, at the price
    of random ratings no longer drawn at random, or of fewer to learn from.
    `extra["propensities"]` (people x coats) are those published; genres are the features of a coat.
    Licence: none is stated; treat it as research only.
    """
    check("overlap", overlap, overlap in ("keep", "train", "held_out"), "'keep', 'train' or 'held_out'")
    files = Files(COAT, folder)
    chosen, random = _matrix(files.file("train.ascii")), _matrix(files.file("test.ascii"))
    if chosen.shape != random.shape:
        raise DataError(f"{files.folder}: train has shape {chosen.shape}, test {random.shape}; fetch them again.")
    both = (chosen > 0) & (random > 0)
    if overlap != "keep":
        (chosen if overlap == "held_out" else random)[both] = 0
    note = f"{int(both.sum())} cells are in both the self-chosen and the random part; overlap={overlap!r}"
    how = f"Self-chosen ratings to train on, ratings of uniformly drawn items held out, as published ({note})."
    split = Split(train=_ratings(chosen), held_out=_ratings(random), how=how)
    weights = files.find("propensities.ascii")
    extra = {} if weights is None else {"propensities": frozen(_matrix(weights, like=chosen))}
    return Source(COAT.title, split, genres=_features(files), notes=(note,), extra=extra)


def _ratings(matrix: NDArray[np.float32]) -> Interactions:
    user, item = np.nonzero(matrix)
    people, coats = map(Ids.numbered, matrix.shape)
    return Interactions(user, item, matrix[user, item], None, people, coats, Intake(len(user)))  # type: ignore[arg-type]


def _matrix(path: Path, like: NDArray[Any] | None = None) -> NDArray[np.float32]:
    """A dense matrix of numbers, blanks between them."""
    try:
        matrix = np.loadtxt(BytesIO(content(path)), dtype=np.float32, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path}: {error}; fetch the file again.") from error
    if like is not None and matrix.shape != like.shape:
        raise DataError(f"{path}: shape {matrix.shape}, expected {like.shape}; fetch the file again.")
    return matrix


def _features(files: Files) -> Genres:
    flags, names = files.find("item_features.ascii"), files.find("item_features_map.txt")
    if flags is None or names is None:
        return ()
    words = decoded(names, "utf-8").split("\n")
    return tuple(tuple(words[place] for place in np.flatnonzero(row)) for row in _matrix(flags))
