"""Anybody's lists, ranked like a model: the same cases, the same candidates, and nobody is dropped.

- A person without a list stays in: nothing relevant was shown.
- An item that is in a list twice, that the person has already, or that is not in the catalogue is taken out: it is no
  candidate. What follows moves up, the list is shorter, and what would have come up from below it stays open.
- Equal scores are ties, as everywhere; ranks are taken as they are.

All of it is counted in `About.irregular`. What a list does not say stays open: see `fullrank.evaluation.bounds`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fullrank.arrays import Bools, Codes, Doubles, Ints, frozen, repeats
from fullrank.data.outside import OutsideLists, match
from fullrank.errors import DataError
from fullrank.evaluation.case_rows import about_ranks
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.top import TopN
from fullrank.ranks import Ranks

UNKNOWN_PEOPLE = "people who are not in the data: their lists are not used"
WITHOUT = "people without a list: nothing relevant was shown to them"
TWICE = "items that were in the list already: taken out"
SEEN = "items that the person has already: taken out"
OUTSIDE = "items outside the catalogue: taken out"


class Rows(NamedTuple):
    """The rows of lists that are judged, by case and best first."""

    case: Ints
    item: Codes
    score: Doubles


def rank_lists(lists: OutsideLists, cases: Cases, *, name: str = "lists", strict: bool = False) -> Ranks:
    """Where lists put the held-out relevant items; what is in no list stands last.

    With `strict`, lists that are irregular in any way are refused instead of mended.
    """
    hidden = hidden_keys(cases)
    rows, irregular, shortened = judged_rows(lists, cases, hidden)
    if strict and irregular:
        raise DataError(f"{name}: {'; '.join(f'{n:,} {what}' for what, n in irregular.items())}; mend the lists.")
    pool, leaks = count_pools(cases, hidden)
    about = about_ranks(name, cases, leaks)
    notes = (*about.notes, *lists.intake.doubts, *_note_others(lists, cases))
    about = replace(about, longest=lists.longest, irregular=irregular, notes=notes)
    return replace(rank_rows(rows, cases, pool), shortened=shortened, about=about)


def _note_others(lists: OutsideLists, cases: Cases) -> tuple[str, ...]:
    """That some people have a list and are not judged, since nothing relevant of theirs was held out."""
    user = match(lists.users, cases.users)
    others = int((~np.isin(user[user >= 0], cases.user)).sum())
    return (f"{others:,} people with a list are not judged: nothing relevant of theirs was held out",) if others else ()


def rank_rows(rows: Rows, cases: Cases, pool: Ints) -> Ranks:
    """Who is above each relevant item, how many tie with it, which are in no list and stand last."""
    held = _held_rows(rows, cases)
    hit = held >= 0
    wrong, found = (np.concatenate([[0], np.cumsum(these)]) for these in (~hit, hit))  # in the rows before each
    start = np.searchsorted(rows.case, np.arange(len(cases) + 1))
    new = ~repeats(rows.case, rows.score)
    first = np.append(np.flatnonzero(new), len(new))  # of every group of ties, and the end
    group, begin = (np.cumsum(new) - 1)[hit], start[rows.case[hit]]
    whose = np.repeat(np.arange(len(cases)), np.diff(cases.start))
    unlisted = np.ones(len(whose), dtype=bool)
    unlisted[held[hit]] = False
    above, tied, higher = pool[whose], np.zeros_like(whose), np.zeros_like(whose)
    above[held[hit]] = wrong[first[group]] - wrong[begin]
    tied[held[hit]] = wrong[first[group + 1]] - wrong[first[group]]
    higher[held[hit]] = found[first[group]] - found[begin]
    last = _unlisted_order(cases, whose, unlisted)
    so_far = np.arange(len(last)) - np.searchsorted(whose[last], whose[last])
    higher[last] = (found[start[1:]] - found[start[:-1]])[whose[last]] + so_far
    return Ranks(
        start=cases.start, above=above, tied=tied, pool=pool, relevant_above=higher, item=cases.item, user=cases.user,
        grade=cases.grade, unlisted=unlisted, listed=wrong[start[1:]] - wrong[start[:-1]],
    )  # fmt: skip


def _unlisted_order(cases: Cases, whose: Ints, unlisted: Bools) -> Ints:
    """The relevant items in no list, case by case, the lowest grades first: last in the worst case is the best."""
    grade = np.zeros(len(whose)) if cases.grade is None else cases.grade
    last = np.lexsort((cases.item, grade, whose))
    return np.asarray(last[unlisted[last]])


def top_lists(lists: OutsideLists, cases: Cases, n: int) -> TopN:
    """The first n items of the list of every case."""
    (case, item, score), _, _ = judged_rows(lists, cases, hidden_keys(cases))
    place = np.arange(len(case)) - np.searchsorted(case, case)
    best, worth = np.full((len(cases), n), -1, dtype=np.int32), np.zeros((len(cases), n))
    inside = place < n
    best[case[inside], place[inside]], worth[case[inside], place[inside]] = item[inside], score[inside]
    return TopN(cases.user, frozen(best), frozen(worth), cases.users, cases.items)


def judged_rows(lists: OutsideLists, cases: Cases, hidden: Ints) -> tuple[Rows, dict[str, int], Bools]:
    """The rows that are judged, what was irregular in them, and the cases whose lists lost some.

    An item that is `hidden` and held out as well stays, and counts as a leak.
    """
    user, item = match(lists.users, cases.users), match(lists.items, cases.items)
    case_of = np.full(len(cases.users) + 1, -1, dtype=np.int64)
    case_of[cases.user] = np.arange(len(cases))
    case = case_of[user][lists.user]
    order = np.argsort(np.where(case < 0, len(cases), case), kind="stable")[: int((case >= 0).sum())]
    rows = Rows(case[order], item[lists.item][order], lists.score[order])
    twice = _repeated(rows.case, lists.item[order])
    outside = ~twice & (rows.item < 0)
    seen = ~twice & ~outside & _among(_keys(rows, cases), hidden) & (_held_rows(rows, cases) < 0)
    kept = ~(twice | seen | outside)
    there = np.bincount(rows.case, minlength=len(cases)) > 0
    counts = {
        UNKNOWN_PEOPLE: int((user < 0).sum()), WITHOUT: int((~there).sum()), TWICE: int(twice.sum()),
        SEEN: int(seen.sum()), OUTSIDE: int(outside.sum()),
    }  # fmt: skip
    shortened = np.bincount(rows.case[~kept], minlength=len(cases)) > 0
    some = {what: n for what, n in counts.items() if n}
    return Rows(rows.case[kept], rows.item[kept], rows.score[kept]), some, shortened


def hidden_keys(cases: Cases) -> Ints:
    """case x items + item of everything that is no candidate because it was seen, sorted, each once."""
    keys: list[Any] = []
    for start, item in (cases.seen, cases.more):
        sizes = start[cases.user + 1] - start[cases.user]
        rows = np.repeat(start[cases.user] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        keys.append(np.repeat(np.arange(len(cases), dtype=np.int64), sizes) * len(cases.items) + item[rows])
    return keys[0] if not len(keys[1]) else np.union1d(*keys)


def held_keys(cases: Cases) -> Ints:
    """The same of the held-out relevant items, in their order, which rises."""
    whose = np.repeat(np.arange(len(cases), dtype=np.int64), np.diff(cases.start))
    return np.asarray(whose * len(cases.items) + cases.item)


def count_pools(cases: Cases, hidden: Ints) -> tuple[Ints, int]:
    """How many irrelevant candidates every case has, and how many held-out items in all are hidden too."""
    items, held = len(cases.items), held_keys(cases)
    leaked = _among(held, hidden)
    leaks = np.bincount(held[leaked] // items, minlength=len(cases))
    return items - np.bincount(hidden // items, minlength=len(cases)) - np.diff(cases.start) + leaks, int(leaked.sum())


def _held_rows(rows: Rows, cases: Cases) -> Ints:
    """The row of `cases.item` that each listed item is, -1 where it is not relevant."""
    held, key = held_keys(cases), _keys(rows, cases)
    place = np.minimum(np.searchsorted(held, key), len(held) - 1)
    return np.where(held[place] == key, place, -1)


def _keys(rows: Rows, cases: Cases) -> Ints:
    """case x items + item, -1 outside the catalogue."""
    return np.where(rows.item < 0, -1, rows.case * len(cases.items) + rows.item)


def _repeated(case: Ints, item: Codes) -> Bools:
    """Which rows have an item that an earlier row of the case has."""
    order = np.lexsort((item, case))  # stable: of equal ones the first stays first
    out = np.zeros(len(case), dtype=bool)
    out[order] = repeats(case[order], item[order])
    return out


def _among(keys: Ints, sorted_keys: Ints) -> Bools:
    """Which keys are among others, which are sorted."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    place = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[place] == keys)
