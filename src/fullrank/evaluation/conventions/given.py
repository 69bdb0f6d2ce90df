"""Lists as they were given, what is relevant, and what is irregular about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullrank.arrays import Bools, Codes, Doubles, Ints
from fullrank.errors import DataError


class Given(NamedTuple):
    """Lists of cases, nothing removed. A case is a person with at least one relevant held-out item."""

    item: Codes  #: (cases, n): codes of the catalogue or above it, best first, then -1; all -1: no list
    score: Doubles | None  #: (cases, n), or None: only the order was given
    start: Ints  #: (cases + 1,): where the relevant items of each case start
    relevant: Codes  #: held-out relevant items, case by case, each once
    grade: Doubles | None  #: parallel to `relevant`, or None: all the same
    seen_start: Ints  #: (cases + 1,)
    seen: Codes  #: training items, case by case
    catalogue: int  #: items of the catalogue, 0 .. catalogue - 1
    extra: int = 0  #: people with a list and nothing relevant held out


#: What lists may have that makes libraries differ; see `irregularities`.
IRREGULARITIES = {
    "unlisted": "a person without a list",
    "short": "a list shorter than the cut-off",
    "thinned": "a list shorter than the cut-off without its items that are seen, outside or there before",
    "duplicate": "an item twice in a list",
    "outside": "an item that is not in the catalogue",
    "seen": "an item of the person's training part",
    "tied": "equal scores in a list",
    "rounded": "scores that are equal in float32 only",
    "extra": "people with a list and nothing held out",
    "graded": "grades that are not all the same",
    "low": "a grade below 1",
    "fraction": "a grade that is not a whole number",
}


def irregularities(given: Given, k: int) -> frozenset[str]:
    """Which of `IRREGULARITIES` these lists have, at this cut-off.

    >>> one = Given(item=np.array([[3, 3, -1]]), score=None, start=np.array([0, 1]), relevant=np.array([3]), grade=None,
    ...     seen_start=np.array([0, 0]), seen=np.array([], dtype=int), catalogue=5)
    >>> sorted(irregularities(one, 2)), sorted(irregularities(one, 3))
    (['duplicate', 'thinned'], ['duplicate', 'short'])
    """
    again, outside = repeated(given.item), given.item >= given.catalogue
    seen = contained(given.item, given.seen_start, given.seen)
    length = (given.item >= 0).sum(axis=1)
    tied, rounded = _ties(given)
    grade = np.ones(1) if given.grade is None else given.grade
    found = {
        "unlisted": (length == 0).any(),
        "short": ((length > 0) & (length < k)).any(),
        "thinned": ((length >= k) & (length - (again | outside | seen).sum(axis=1) < k)).any(),
        "duplicate": again.any(),
        "outside": outside.any(),
        "seen": seen.any(),
        "tied": tied,
        "rounded": rounded,
        "extra": given.extra > 0,
        "graded": (grade != grade[:1]).any(),
        "low": (grade < 1).any(),
        "fraction": (grade != np.floor(grade)).any(),
    }
    return frozenset(name for name, there in found.items() if there)


def check_given(given: Given) -> None:
    """Refuse what would be counted wrongly: shapes that do not fit, a case without anything relevant, gaps in lists."""
    cases = len(given.item)
    if given.item.ndim != 2 or len(given.start) != cases + 1 or len(given.seen_start) != cases + 1:
        raise DataError(
            f"lists of shape {given.item.shape} need {cases + 1} starts of relevant and of seen items; got "
            f"{len(given.start)} and {len(given.seen_start)}."
        )
    for name, column, like in (("score", given.score, given.item), ("grade", given.grade, given.relevant)):
        if column is not None and column.shape != like.shape:
            raise DataError(f"{name} has the shape {column.shape}; expected {like.shape}.")
    empty = np.flatnonzero(np.diff(given.start) == 0)
    if cases == 0 or len(empty):
        what = f"case {empty[0]} has no relevant item" if len(empty) else "there is no case"
        raise DataError(f"{what}; give people with something held out, and count the others in `extra`.")
    if given.score is not None and (wrong := ~np.isfinite(given.score) & (given.item >= 0)).any():
        case, place = np.argwhere(wrong)[0]
        raise DataError(
            f"place {place + 1} of the list of case {case} has the score {given.score[case, place]}; give numbers."
        )
    gaps = np.flatnonzero((np.diff(given.item >= 0, axis=1) & (given.item[:, 1:] >= 0)).any(axis=1))
    if len(gaps):
        raise DataError(f"the list of case {gaps[0]} goes on after -1; put what is listed first.")


def contained(item: Codes, start: Ints, codes: Codes) -> Bools:
    """Where an item of a list (cases, n) is among the codes of its case."""
    return places(item, start, codes) >= 0


def places(item: Codes, start: Ints, codes: Codes) -> Ints:
    """For every item of a list (cases, n) its row among the codes of its case, or -1."""
    if not len(codes):
        return np.full(item.shape, -1)
    width = int(max(item.max(initial=0), codes.max(initial=0))) + 1
    case = np.repeat(np.arange(len(start) - 1), np.diff(start))
    keys = case * width + codes
    order = np.argsort(keys, kind="stable")
    asked = np.arange(len(item))[:, None] * width + item
    at = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
    return np.where((keys[at] == asked) & (item >= 0), at, -1)


def repeated(item: Codes) -> Bools:
    """Where a list (cases, n) has an item that it had before."""
    order = np.argsort(item, axis=1, kind="stable")
    ordered = np.take_along_axis(item, order, axis=1)
    again = np.zeros(item.shape, dtype=bool)
    again[:, 1:] = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    found = np.empty_like(again)
    np.put_along_axis(found, order, again, axis=1)
    return found


def _ties(given: Given) -> tuple[bool, bool]:
    """Whether a list has equal scores, and whether it has scores that are equal in float32 only."""
    if given.score is None:
        return False, False
    score = -np.sort(-np.where(given.item >= 0, given.score, -np.inf), axis=1)
    there = np.isfinite(score[:, 1:])
    same = (score[:, 1:] == score[:, :-1]) & there
    single = score.astype(np.float32)
    close = (single[:, 1:] == single[:, :-1]) & there
    return bool(same.any()), bool((close & ~same).any())
