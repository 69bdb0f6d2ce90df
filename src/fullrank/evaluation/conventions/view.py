"""What a library makes of lists before it counts: an order, hits, and how much is relevant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullrank.arrays import CODE, Bools, Codes, Doubles, Ints
from fullrank.evaluation.conventions.given import Given, contained, places, repeated


class View(NamedTuple):
    """The first k places of every list, as a library takes them."""

    hit: Bools  # (cases, k): a relevant item stands there
    again: Bools  # (cases, k): an item that the list had before
    gain: Doubles  # (cases, k): grade of the hit, 1 without grades; 0 elsewhere
    ideal: Doubles  # (cases, k): grades of all relevant items, best first
    length: Ints  # (cases,): items listed among the first k
    relevant: Ints  # (cases,)
    catalogue: int


def look(given: Given, item: Codes, k: int) -> View:
    """The view of these lists (cases, n), in the order they have."""
    cut = _pad(item, k)
    place = places(cut, given.start, given.relevant)
    hit = place >= 0
    grade = np.ones(len(given.relevant)) if given.grade is None else given.grade
    gain = np.where(hit, grade[np.maximum(place, 0)], 0.0) if len(grade) else np.zeros(hit.shape)
    sizes = np.diff(given.start)
    ideal = _order_grades(sizes, grade, k)
    return View(hit, repeated(cut), gain, ideal, (cut >= 0).sum(axis=1), sizes, given.catalogue)


def keep_relevant(given: Given, kept: Bools) -> Given:
    """The same with fewer relevant items; a case may be left without any."""
    start = np.concatenate([[0], np.cumsum(kept)])[given.start]
    grade = None if given.grade is None else given.grade[kept]
    return given._replace(start=start, relevant=given.relevant[kept], grade=grade)


def scores_of(given: Given) -> Doubles:
    """Scores of the lists (cases, n), falling by 1 with every place where only the order was given; -inf for none."""
    width = given.item.shape[1]
    score = np.broadcast_to(np.arange(width, 0.0, -1), given.item.shape) if given.score is None else given.score
    return np.where(given.item >= 0, score, -np.inf)


def order_by(given: Given, score: Doubles, second: Codes) -> Codes:
    """Lists by falling score, equal ones by the rising second key, and then as they were listed."""
    first = np.argsort(second, axis=1, kind="stable")
    then = np.argsort(np.take_along_axis(-score, first, axis=1), axis=1, kind="stable")
    return np.take_along_axis(given.item, np.take_along_axis(first, then, axis=1), axis=1)


def let_last_count(given: Given) -> Codes:
    """Lists by falling score, equal ones as listed; of an item that is there twice the last score counts."""
    score = scores_of(given)
    item = order_by(given, score, np.zeros(given.item.shape, dtype=np.int64))
    for case in np.flatnonzero(repeated(given.item).any(axis=1)):
        there = given.item[case] >= 0
        last = dict(zip(given.item[case][there].tolist(), score[case][there].tolist(), strict=True))
        row = sorted(last, key=lambda code: -last[code])
        item[case] = [*row, *[-1] * (len(item[case]) - len(row))]
    return item


def tidy(given: Given) -> Codes:
    """Lists by score, equal ones by number, without what is seen, outside the catalogue or there before."""
    seen = contained(given.item, given.seen_start, given.seen)
    kept = (given.item >= 0) & (given.item < given.catalogue) & ~seen & ~repeated(given.item)
    item = order_by(given, np.where(kept, scores_of(given), -np.inf), np.where(kept, given.item, given.catalogue))
    return np.where(np.arange(item.shape[1]) < kept.sum(axis=1)[:, None], item, -1)


def _pad(item: Codes, k: int) -> Codes:
    """The first k columns, -1 where there are fewer."""
    width = min(item.shape[1], k)
    cut = np.full((len(item), k), -1, dtype=CODE)
    cut[:, :width] = item[:, :width]
    return cut


def _order_grades(sizes: Ints, grade: Doubles, k: int) -> Doubles:
    """The k best grades of every case (cases, k), 0 where there are fewer."""
    case = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-grade, case))
    place = np.arange(len(grade)) - (np.cumsum(sizes) - sizes)[case]
    ideal = np.zeros((len(sizes), k))
    top = place < k
    ideal[case[top], place[top]] = grade[order][top]
    return ideal
