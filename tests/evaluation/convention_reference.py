"""Our own measures of lists, counted item by item, and lists as we would have them: to compare conventions with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fullrank.evaluation.conventions import Given
from fullrank.metrics import parse
from fullrank.ranks import Ranks

POOL = 10_000  # irrelevant candidates: more than any cut-off, so that what is not listed is never among the first


def our_mean(name: str, given: Given) -> float:
    """The mean of one of our metrics: seen, unknown and repeated items removed, ties in expectation, all people."""
    return float(parse(name)(our_ranks(given)).mean())


def our_ranks(given: Given) -> Ranks:
    columns: dict[str, list] = {"above": [], "tied": [], "relevant_above": [], "grade": []}
    for case, (first, end) in enumerate(pairwise(given.start.tolist())):
        relevant = given.relevant[first:end].tolist()
        score = dict(tidy_row(given, case))
        for row, item in enumerate(relevant, first):
            mine = score.get(item, -np.inf)
            others = [level for other, level in score.items() if other not in relevant]
            hits = [score.get(other, -np.inf) for other in relevant]
            columns["above"].append(sum(level > mine for level in others) if item in score else POOL)
            columns["tied"].append(sum(level == mine for level in others))
            columns["relevant_above"].append(sum(level > mine for level in hits))
            columns["grade"].append(1.0 if given.grade is None else given.grade[row])
    return Ranks(start=given.start, pool=np.full(len(given.item), POOL), **columns)


def tidy_row(given: Given, case: int) -> list[tuple[int, float]]:
    """A list without seen, unknown and repeated items, with scores."""
    seen = set(given.seen[given.seen_start[case] : given.seen_start[case + 1]].tolist())
    rows: dict[int, float] = {}
    for place, item in enumerate(given.item[case].tolist()):
        if 0 <= item < given.catalogue and item not in seen:
            rows.setdefault(item, float(-place if given.score is None else given.score[case, place]))
    return list(rows.items())


def tidied(given: Given) -> Given:
    item = np.full(given.item.shape, -1, dtype=np.int32)
    for case in range(len(item)):
        row = [code for code, _ in tidy_row(given, case)]
        item[case, : len(row)] = row
    return given._replace(item=item, score=None)


def padded(given: Given) -> Given:
    """Every list as long as the longest, with irrelevant items of the catalogue that were not listed or seen."""
    item = given.item.copy()
    for case, row in enumerate(item):
        relevant = given.relevant[given.start[case] : given.start[case + 1]]
        seen = given.seen[given.seen_start[case] : given.seen_start[case + 1]]
        free = np.setdiff1d(np.arange(given.catalogue), np.concatenate([row, relevant, seen]))
        open_places = np.flatnonzero(row < 0)
        row[open_places] = free[: len(open_places)]
    return given._replace(item=item)
