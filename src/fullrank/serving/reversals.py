"""Whether what else is offered changes minds: pairs of items that one person meets in several sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.arrays import Ints
from fullrank.comparison.results import as_plain
from fullrank.data.graded import Graded


@dataclass(frozen=True)
class PairReversals:
    """Two items: how many people met both in several sessions, how many turned them, how many ordered them once only.

    `reversed` prefer one item in one session and the other in another; `undecided` prefer one in a session and have
    both in one class in another.
    """

    one: int | str
    two: int | str
    people: int
    reversed: int
    undecided: int


@dataclass(frozen=True)
class Reversals:
    """Changes of preference between sessions, by pair of items and by people (Ackerman 2012, section 6.2).

    `people` met some pair in several sessions; of them `reversed` turned one, `undecided` ordered one in one session
    and not in another, and `either` did one of both.
    """

    people: int
    reversed: int
    undecided: int
    either: int
    pairs: tuple[PairReversals, ...]
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and strings."""
        plain: dict[str, Any] = as_plain(self)
        return plain

    def __str__(self) -> str:
        return self.sentence


def reversals(sessions: Graded) -> Reversals:
    """Of any sessions: who orders two items one way in one offer set and another way in another.

    >>> both = Graded.of(["s", "s", "t", "t"], ["tea", "jam", "tea", "jam"], [1, 0, 0, 1], user=["ann"] * 4)
    >>> print(reversals(both))
    1 of 1 people who met two items in several sessions turned their order in one of them (100%), 0 ordered them in one
    session and not in another (0%).
    """
    met = _met(sessions)  # (pairs in sessions, 4): user, item, item, sign
    met = met[np.lexsort(met[:, 2::-1].T)]
    begins = np.flatnonzero((np.diff(met[:, :3], axis=0, prepend=-1) != 0).any(axis=1))
    often = np.diff(np.append(begins, len(met)))
    several = often > 1
    up, down, tie = (
        np.add.reduceat(met[:, 3] == sign, begins)[several] if len(begins) else np.zeros(0) for sign in (1, -1, 0)
    )
    turned, undecided = (up > 0) & (down > 0), (tie > 0) & (up + down > 0)
    user, one, two, _ = met[begins[several]].T
    counts = [len(np.unique(user[mask])) for mask in (turned | True, turned, undecided, turned | undecided)]
    pairs, place = np.unique(np.stack([one, two], axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    sums = [np.bincount(place, mask, len(pairs)).astype(int).tolist() for mask in (turned | True, turned, undecided)]
    names = [(sessions.items.name(a), sessions.items.name(b)) for a, b in pairs.tolist()]
    rows = tuple(PairReversals(*name, *row) for name, row in zip(names, zip(*sums, strict=True), strict=True))
    return Reversals(counts[0], counts[1], counts[2], counts[3], rows, _sentence(*counts[:3]))


def _met(sessions: Graded) -> Ints:
    """Every pair of items of every session: user, both items, and 1, -1 or 0 for the first better, worse, the same."""
    found = []
    for case, (start, stop) in enumerate(zip(sessions.start[:-1], sessions.start[1:], strict=True)):
        one, two = np.triu_indices(stop - start, 1)
        item, grade = sessions.item[start:stop], sessions.grade[start:stop]
        sign = np.sign(grade[one] - grade[two])
        found.append(np.stack([np.full(len(one), sessions.user[case]), item[one], item[two], sign], axis=1))
    rows: Ints = np.concatenate(found).astype(np.int64) if found else np.zeros((0, 4), dtype=np.int64)
    return rows


def _sentence(people: int, turned: int, undecided: int) -> str:
    if not people:
        return "Nobody met two items in several sessions, so nothing can be said of reversals."
    return (
        f"{turned:,} of {people:,} people who met two items in several sessions turned their order in one of them "
        f"({turned / people:.0%}), {undecided:,} ordered them in one session and not in another "
        f"({undecided / people:.0%})."
    )
