"""The best of the few items that somebody is allowed: only these are scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Bools, Codes, Doubles, Ints, row_blocks
from fullrank.errors import DataError
from fullrank.evaluation.scoring import name_of
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.linear import Linear, exact_scores_of, pair_scores
from fullrank.recommending.request import Request, Rows

BLOCK = 64  # people whose rows are scored together, by models without vectors


def best_allowed(request: Request, rows: NDArray[Any], n: int) -> tuple[Codes, Doubles, Bools]:
    """The n best of what these rows are allowed, (rows, n), -1 where there are no more; of equal scores by popularity.

    And for whom there are several, all with the same score.
    """
    train = request.candidates.model.train
    place, item = _pairs(request, rows)
    score = np.zeros(len(item))
    known = request.known[rows][place]
    score[known] = _scores(request, rows, place[known], item[known])
    score[~known] = _popular(request)[item[~known]]
    order = np.lexsort((train.popularity_order[item], -score, place))
    place, item, score = place[order], item[order], score[order]
    rank = np.arange(len(place)) - np.searchsorted(place, place)
    found, worth = np.full((len(rows), n), -1, dtype=np.int32), np.zeros((len(rows), n))
    inside = rank < n
    found[place[inside], rank[inside]], worth[place[inside], rank[inside]] = item[inside], score[inside]
    least, most = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(least, place, score)
    np.maximum.at(most, place, score)
    return found, worth, (least == most) & (np.bincount(place, minlength=len(rows)) > 1)


def _pairs(request: Request, rows: NDArray[Any]) -> tuple[Ints, Codes]:
    """Which row (its place among these) may have which items: allowed, left, and not hidden from them."""
    left, keep, items = request.candidates.left, request.candidates.keep, len(request.candidates.left)
    place, item = _flat(request.allowed, rows)
    inside = left[item]
    place, item = place[inside], item[inside]
    hidden = []
    for lists in (request.seen, request.denied):
        row, codes = _flat(lists, rows)
        hidden.append(row * items + (codes if keep is None else keep[codes]))
    free = ~np.isin(place * items + item, np.concatenate(hidden))
    return place[free], item[free]


def _flat(lists: Rows, rows: NDArray[Any]) -> tuple[Ints, Codes]:
    """The entries of these rows, each with the place of its row among them."""
    start, item = lists
    sizes = start[rows + 1] - start[rows]
    place = np.repeat(np.arange(len(rows), dtype=np.int64), sizes)
    entry = np.repeat(start[rows] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    return place, item[entry]


def _popular(request: Request) -> Array:
    model = request.candidates.model
    return model.items if isinstance(model, ItemScores) else model.train.popularity.astype(np.float32)


def _scores(request: Request, rows: NDArray[Any], place: Ints, item: Codes) -> Doubles:
    """The canonical scores of pairs (rows[place], item); `place` rises."""
    model: Any = request.candidates.model
    who, row = np.unique(place, return_inverse=True)
    codes = request.code[rows[who]]
    score = np.empty(len(item))
    for some in row_blocks(len(who), BLOCK):
        first, end = np.searchsorted(row, [some.start, some.stop])
        at, wanted = row[first:end] - some.start, item[first:end]
        if isinstance(model, Linear):
            people = model.people(codes[some])
            vectors = model.item_vectors.beside(people)
            score[first:end] = pair_scores(vectors, at, model.item_vectors.rows, wanted) + people.offset[at]
        else:
            score[first:end] = np.asarray(exact_scores_of(model, codes[some]))[at, wanted]
    if not np.isfinite(score).all():
        raise DataError(
            f"{name_of(model)}: a score is NaN or infinite; fit with a smaller rate or more regularisation, or look "
            "for such values in the model's input."
        )
    return score
