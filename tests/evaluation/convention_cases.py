"""Lists to count by other libraries' definitions: regular ones, one set for every irregularity, and all at once.

`benchmarks.conventions` gives the same lists to the libraries themselves; convention_figures.json has their answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.evaluation.conventions import Given

KS = (1, 3, 10)
GRADES = (1, 2, 3, 4)


class Lists(NamedTuple):
    """People with something held out: their lists, best first, and what is relevant; and lists of others."""

    listed: list[list[int] | None]  # None: a person without a list
    score: list[list[float]] | None  # as long as the lists
    relevant: list[list[int]]
    grade: list[list[float]] | None
    seen: list[list[int]]
    catalogue: int
    extra: list[list[int]]  # lists of people of whom nothing is held out


def draw(seed: int, people: int, items: int, length: int) -> Lists:
    """Random lists without anything irregular; 1 to 7 relevant items, some in the list, and 13 or more of a few."""
    rng = np.random.default_rng(seed)
    listed: list[list[int] | None] = []
    relevant, seen = [], []
    for n in range(people):
        order = rng.permutation(items).tolist()
        hits, others = int(rng.integers(0, 5)), int(rng.integers(1, 4)) + 12 * (n % 7 == 3)
        places = sorted(rng.permutation(length)[:hits].tolist())
        listed.append(order[:length])
        relevant.append([order[place] for place in places] + order[length : length + others])
        seen.append(order[length + 16 : length + 22])
    return Lists(listed, None, relevant, None, seen, items, [])


def leave_unlisted(lists: Lists) -> Lists:
    """People without a list, to whom one of the items with the lowest numbers is relevant."""
    listed = [None if n % 5 == 2 else row for n, row in enumerate(lists.listed)]
    relevant = [
        [item, *row] if n % 5 == 2 and (item := n % 4) not in row and item not in lists.seen[n] else row
        for n, row in enumerate(lists.relevant)
    ]
    return lists._replace(listed=listed, relevant=relevant)


def shorten(lists: Lists) -> Lists:
    listed = [row and row[: 2 + n % 5] if n % 3 == 1 else row for n, row in enumerate(lists.listed)]
    return lists._replace(listed=listed)


def repeat_items(lists: Lists) -> Lists:
    """The first item again in second or fourth place, or the first relevant one of the list again two places below."""
    listed = list(lists.listed)
    for n, (row, relevant) in enumerate(zip(lists.listed, lists.relevant, strict=True)):
        again = row and (row[0] if n % 2 else next((item for item in row if item in relevant), None))
        if row and again is not None:
            at = row.index(again) + (n % 4 if n % 2 else 2)
            listed[n] = [*row[:at], again, *row[at:]][: len(row)]
    return lists._replace(listed=listed)


def go_outside(lists: Lists) -> Lists:
    """An item that is not in the catalogue in first place."""
    listed = [row and [lists.catalogue + n % 3, *row[:-1]] if n % 2 else row for n, row in enumerate(lists.listed)]
    return lists._replace(listed=listed)


def show_seen(lists: Lists) -> Lists:
    """A seen item in second place."""
    pairs = enumerate(zip(lists.listed, lists.seen, strict=True))
    return lists._replace(listed=[row and [row[0], seen[0], *row[1:-1]] if n % 2 else row for n, (row, seen) in pairs])


def tie(lists: Lists) -> Lists:
    """Scores fall by one every two, three or four places; a few differ in float64 only."""
    steps = [2 + n % 3 for n in range(len(lists.listed))]
    score = [
        [100.0 - place // step - (1e-9 * place if step == 4 else 0) for place in range(len(row or []))]
        for row, step in zip(lists.listed, steps, strict=True)
    ]
    return lists._replace(score=score)


def add_people(lists: Lists) -> Lists:
    return lists._replace(extra=[list(range(n, n + 12)) for n in range(4)])


def give_grades(lists: Lists) -> Lists:
    grade = [[float(GRADES[(n + 3 * item) % 4]) for item in row] for n, row in enumerate(lists.relevant)]
    return lists._replace(grade=grade)


def lower_grades(lists: Lists) -> Lists:
    """Grades from 0 to 3, and nothing but 0 for every fifth."""
    grade = [[float(item % 4 * (n % 5 > 0)) for item in row] for n, row in enumerate(lists.relevant)]
    return lists._replace(grade=grade)


def break_grades(lists: Lists) -> Lists:
    return lists._replace(grade=[[1 + item % 5 / 2 for item in row] for row in lists.relevant])


IRREGULAR = {
    "unlisted": leave_unlisted,
    "short": shorten,
    "outside": go_outside,
    "seen": show_seen,
    "tied": tie,
    "extra": add_people,
    "graded": give_grades,
    "duplicate": repeat_items,
}
GRADED = {"low": lower_grades, "fraction": break_grades}  # other grades, each alone


def all_lists() -> dict[str, Lists]:
    """By name: "regular", one set for every irregularity alone, "mixed" with all but duplicates, "irregular" with all.

    Lists are of 12 items, up to which ranx sorts stably; the regular ones are of 20.
    """
    found = {"regular": draw(19, 60, 200, 20)}
    for seed, (name, change) in enumerate((IRREGULAR | GRADED).items()):
        found[name] = change(draw(seed, 15, 60, 12))
    mixed = draw(99, 30, 60, 12)
    for name, change in IRREGULAR.items():
        mixed = change(mixed) if name != "duplicate" else mixed
    return found | {"mixed": mixed, "irregular": repeat_items(mixed)}


def given_of(lists: Lists) -> Given:
    """The same as arrays."""
    shape = len(lists.listed), max(len(row or []) for row in lists.listed)
    item, score = np.full(shape, -1, dtype=np.int32), np.full(shape, -np.inf)
    for case, row in enumerate(lists.listed):
        item[case, : len(row or [])] = row or []
        if lists.score is not None:
            score[case, : len(row or [])] = lists.score[case]
    start, relevant = _as_rows(lists.relevant)
    seen_start, seen = _as_rows(lists.seen)
    return Given(
        item=item, score=None if lists.score is None else score, start=start, relevant=relevant,
        grade=None if lists.grade is None else np.concatenate(lists.grade), seen_start=seen_start, seen=seen,
        catalogue=lists.catalogue, extra=len(lists.extra),
    )  # fmt: skip


def _as_rows(rows: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int32)
