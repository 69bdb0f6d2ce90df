"""Lists to count by other libraries' definitions: regular ones, one set for every irregularity, and all of them at once.

`benchmarks.conventions` gives the same lists to the libraries themselves; convention_figures.json has their answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
    """Random lists without anything irregular; from 1 to 7 relevant items, some in the list, and 13 or more of a few."""
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
    return lists._replace(listed=[row and row[: 2 + n % 5] if n % 3 == 1 else row for n, row in enumerate(lists.listed)])


def repeat_items(lists: Lists) -> Lists:
    """The item in second place again in the third, and the first relevant one of the list again behind itself."""
    pairs = enumerate(lists.listed)
    listed = [row and [*row[:2], row[1], *row[2:]][: len(row)] if n % 2 else row for n, row in pairs]
    for n, (row, relevant) in enumerate(zip(listed, lists.relevant, strict=True)):
        if row and n % 4 == 0 and relevant[0] in row:
            at = row.index(relevant[0]) + 1
            listed[n] = [*row[:at], relevant[0], *row[at:]][: len(row)]
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


