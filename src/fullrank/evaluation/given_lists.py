"""Lists as the conventions of other libraries take them: nothing removed, whatever is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.arrays import Codes, Doubles, Ints
from fullrank.data.outside import OutsideLists, match
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.lists import hidden_keys
from fullrank.evaluation.top import TopN


def given_lists(lists: OutsideLists | TopN, cases: Cases, *, graded: bool = False) -> Given:
    """The lists of all cases, padded with -1; `graded` gives the held-out values for grades.

    Items outside the catalogue have codes above it.
    """
    if isinstance(lists, TopN):
        place = np.searchsorted(lists.user, cases.user)
        return _given(lists.item[place], lists.score[place], cases, 0, graded)
    case_of = np.full(len(cases.users) + 1, -1, dtype=np.int64)
    case_of[cases.user] = np.arange(len(cases))
    whose = case_of[match(lists.users, cases.users)]  # the case of every person with a list
    known = match(lists.items, cases.items)
    codes = np.where(known < 0, len(cases.items) + np.arange(len(known)), known).astype(np.int32)
    case = whose[lists.user]
    place = np.arange(len(case)) - lists.start[lists.user]
    judged = case >= 0
    shape = len(cases), max(lists.longest, 1)
    item, score = np.full(shape, -1, dtype=np.int32), np.zeros(shape)
    item[case[judged], place[judged]] = codes[lists.item][judged]
    score[case[judged], place[judged]] = lists.score[judged]
    return _given(item, score if lists.by == "score" else None, cases, int((whose < 0).sum()), graded)


def _given(item: Codes, score: Doubles | None, cases: Cases, extra: int, graded: bool) -> Given:
    start, seen = _seen_lists(cases)
    grade: Any = cases.grade.astype(np.float64) if graded and cases.grade is not None else None
    return Given(item, score, cases.start, cases.item, grade, start, seen, len(cases.items), extra)


def _seen_lists(cases: Cases) -> tuple[Ints, Codes]:
    """What every case has seen, case by case."""
    keys = hidden_keys(cases)
    start = np.searchsorted(keys, np.arange(len(cases) + 1) * len(cases.items))
    return start, (keys % len(cases.items)).astype(np.int32)
