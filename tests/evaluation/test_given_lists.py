"""Lists as judge takes them and as conventions take them: the same lists, and the reference the conventions know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullrank import Ids, OutsideLists, Split, cases_of, evaluate, rank
from fullrank.data.interactions import Interactions
from fullrank.evaluation.conventions import Given
from fullrank.evaluation.given_lists import given_lists
from fullrank.evaluation.rank import rank_and_top
from fullrank.metrics.table import parse
from tests.evaluation.convention_cases import Lists, all_lists, given_of
from tests.evaluation.convention_reference import our_mean

NAMES = [
    f"{name}@{k}" for name in ("recall", "precision", "ndcg", "ap", "rr", "hit_rate", "graded_ndcg") for k in (1, 3)
]


def judged(lists: Lists) -> tuple[OutsideLists, Any]:
    """The same lists with cases; people of whom nothing is held out have the numbers behind those of the cases."""
    people = len(lists.listed) + len(lists.extra)
    ids = {"users": Ids.numbered(people), "items": Ids.numbered(lists.catalogue)}
    rows = [(n, item) for n, row in enumerate(lists.seen) for item in row]
    train = Interactions.of([n for n, _ in rows], [item for _, item in rows], **ids)
    held = [(n, item) for n, row in enumerate(lists.relevant) for item in row]
    grade = np.ones(len(held)) if lists.grade is None else np.concatenate(lists.grade)
    after = Interactions.of([n for n, _ in held], [item for _, item in held], grade, **ids)
    every = [*lists.listed, *lists.extra]
    listed = [(n, item) for n, row in enumerate(every) for item in row or []]
    score = None
    if lists.score is not None:
        own = [value for n, row in enumerate(lists.listed) for value in lists.score[n][: len(row or [])]]
        score = [*own, *(float(-place) for row in lists.extra for place in range(len(row)))]
    user, item = [n for n, _ in listed], [item for _, item in listed]
    return OutsideLists.of(user, item, score=score), cases_of(Split(train, after))


@pytest.mark.parametrize("name", all_lists())
def test_judge_counts_what_the_conventions_call_ours(name: str) -> None:
    lists, cases = judged(all_lists()[name])
    found = evaluate(rank(lists, cases), [parse(one) for one in NAMES]).mean()
    given = given_of(all_lists()[name])
    assert found == pytest.approx({one: our_mean(one, given) for one in NAMES}, abs=1e-12)


@pytest.mark.parametrize("name", all_lists())
def test_conventions_get_the_lists_as_they_were(name: str) -> None:
    wanted = given_of(all_lists()[name])
    lists, cases = judged(all_lists()[name])
    found = given_lists(lists, cases, graded=wanted.grade is not None)
    assert by_case(found) == by_case(wanted)
    assert (found.catalogue, found.extra) == (wanted.catalogue, wanted.extra)


def by_case(given: Given) -> list[Any]:
    """Everything of every case, relevant and seen items in the order of their codes; unknown items as -2."""
    cases = []
    for case in range(len(given.item)):
        held = slice(given.start[case], given.start[case + 1])
        seen = given.seen[given.seen_start[case] : given.seen_start[case + 1]]
        grade = np.ones(held.stop - held.start) if given.grade is None else given.grade[held]
        there = given.item[case] >= 0
        item = np.where(given.item[case] >= given.catalogue, -2, given.item[case])[there]
        score = [] if given.score is None else given.score[case][there].tolist()
        relevant = sorted(zip(given.relevant[held].tolist(), grade.tolist(), strict=True))
        cases.append((item.tolist(), score, relevant, sorted(seen.tolist())))
    return cases


def test_the_best_items_of_a_model_are_lists_too() -> None:
    _, cases = judged(all_lists()["regular"])
    scores = np.random.default_rng(3).random((len(cases.users), len(cases.items)))
    _, best = rank_and_top(scores, cases, 7)
    given = given_lists(best, cases)
    assert np.array_equal(given.item, best.item)
    assert given.extra == 0
