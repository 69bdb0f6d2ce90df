"""Measures of recommendation lists: by hand, by brute force, and lists that are refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ParameterError
from fullrank.metrics import lists as module
from fullrank.metrics.lists import (
    counts_of_lists,
    coverage,
    diversity,
    exposure_gini,
    long_tail,
    long_tail_share,
    mean_popularity,
    novelty,
    personalisation,
    popularity,
    popularity_lift,
)

ITEMS = 7


@st.composite
def some_lists(draw: st.DrawFn, min_cases: int = 1) -> np.ndarray:
    """Lists of up to 4 of 7 items, padded at the end."""
    found = draw(st.lists(st.lists(st.integers(0, ITEMS - 1), unique=True, max_size=4), min_size=min_cases, max_size=6))
    return np.array([[*row, *[-1] * (4 - len(row))] for row in found]).reshape(-1, 4)


def items_of(found: np.ndarray) -> list[list[int]]:
    return [[int(item) for item in row if item >= 0] for row in found]


def mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else np.nan


@given(some_lists())
def test_counts_coverage_and_gini_by_brute_force(found: np.ndarray) -> None:
    chosen = [item for row in items_of(found) for item in row]
    counts = [chosen.count(item) for item in range(ITEMS)]
    assert counts_of_lists(found, ITEMS).tolist() == counts
    assert coverage(found, ITEMS) == len(set(chosen)) / ITEMS
    if not chosen:
        with pytest.raises(DataError, match="all empty"):
            exposure_gini(found, ITEMS)
        return
    differences = sum(abs(a - b) for a in counts for b in counts)  # Gini by its other definition
    assert exposure_gini(found, ITEMS) == pytest.approx(differences / (2 * ITEMS * len(chosen)))


@given(some_lists(min_cases=2))
def test_personalisation_by_brute_force(found: np.ndarray) -> None:
    pairs = [(set(a), set(b)) for a, b in combinations(items_of(found), 2)]
    possible = sum(min(len(a), len(b)) for a, b in pairs)
    if not possible:
        with pytest.raises(DataError, match="at least two that are not empty"):
            personalisation(found, ITEMS)
        return
    assert personalisation(found, ITEMS) == pytest.approx(1 - sum(len(a & b) for a, b in pairs) / possible)


def test_personalisation_ends() -> None:
    assert personalisation([[0, 1], [1, 0], [0, 1]], 2) == 0
    assert personalisation([[0, 1], [2, 3], [4, 5]], 6) == 1
    with pytest.raises(DataError, match="at least two"):
        personalisation([[0, 1]], 2)


@given(some_lists(), st.lists(st.integers(0, 9), min_size=ITEMS, max_size=ITEMS))
def test_list_means_by_brute_force(found: np.ndarray, counts: list[int]) -> None:
    counts[0] += 1
    tail = long_tail(counts)
    total = sum(counts)
    for case, row in enumerate(items_of(found)):
        expected = (
            mean([counts[item] for item in row]),
            mean([tail[item] for item in row]),
            mean([np.log2(total / max(counts[item], 1)) for item in row]),
            mean([np.log2(100 / max(counts[item], 1)) for item in row]),
        )
        values = (
            mean_popularity(found, counts)[case],
            long_tail_share(found, tail)[case],
            novelty(found, counts)[case],
            novelty(found, counts, total=100)[case],
        )
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_novelty_range() -> None:
    assert novelty([[0]], [8]).tolist() == [0]
    assert novelty([[1]], [7, 1]).tolist() == [3]
    assert novelty([[1]], [8, 0]).tolist() == [3]  # nobody has it: as if one had
    with pytest.raises(ParameterError, match=r"'total' parameter must be at least the largest popularity, 8\. Got 7"):
        novelty([[0]], [8, 1], total=7)
    with pytest.raises(DataError, match="no item has any feedback"):
        novelty([[0]], [0, 0])


@pytest.mark.parametrize(
    ("counts", "head", "tail"),
    [
        ([6, 2, 1, 1], 0.6, [1, 2, 3]),
        ([6, 2, 1, 1], 0.8, [2, 3]),
        ([6, 2, 1, 1], 0.81, []),  # the third item, and the fourth is as popular
        ([1, 1, 2, 6], 0.8, [0, 1]),  # whatever the item order
        ([55, 30, 15], 0.55, [1, 2]),  # .55 x 100 rounds up
        ([3, 3, 3], 0.1, []),
    ],
)
def test_long_tail(counts: list[int], head: float, tail: list[int]) -> None:
    assert np.flatnonzero(long_tail(counts, head=head)).tolist() == tail


@pytest.mark.parametrize("head", [0, 1, -1, 2, np.nan])
def test_a_head_that_is_no_share(head: float) -> None:
    with pytest.raises(ParameterError, match="'head' parameter must be a number between 0 and 1"):
        long_tail([1, 2], head=head)


def test_popularity_lift() -> None:
    # popularity: a 3, b 2, c 1; u has a b, v has a, w has a b c, x has nothing
    data = Interactions.of(user=["u", "u", "v", "w", "w", "w"], item=["a", "b", "a", "a", "b", "c"]).catalogue(["x"])
    assert popularity(data).tolist() == [3, 2, 1]
    lists = [[2, -1], [0, 2], [0, 1], [1, -1], [-1, -1]]
    own = np.array([2.5, 3, 2, np.nan, 2])
    expected = (np.array([1, 2, 2.5, 2, np.nan]) - own) / own
    np.testing.assert_allclose(popularity_lift(lists, data, [0, 1, 2, 3, 2]), expected)
    assert popularity_lift([[0, 1]], data, [0]).tolist() == [0]  # what the user has themselves
    with pytest.raises(DataError, match="one user code per list"):
        popularity_lift([[0, 1]], data, [0, 1])
    with pytest.raises(DataError, match=r"user codes must be inside 0\.\.3"):
        popularity_lift([[0, 1]], data, [4])


# -- diversity


@given(some_lists(), st.integers(0, 99), st.booleans())
def test_diversity_by_brute_force(found: np.ndarray, seed: int, small_blocks: bool) -> None:
    vectors = np.random.default_rng(seed).normal(size=(ITEMS, 3))
    vectors[0] = 0
    norms = np.linalg.norm(vectors, axis=1)
    cosine = vectors @ vectors.T / np.outer(norms + (norms == 0), norms + (norms == 0))
    expected = [mean([1 - cosine[a, b] for a, b in combinations(row, 2)]) for row in items_of(found)]
    with pytest.MonkeyPatch.context() as patch:
        if small_blocks:
            patch.setattr(module, "BLOCK", 1)
        np.testing.assert_allclose(diversity(found, vectors=vectors), expected, atol=1e-12)
    np.testing.assert_allclose(diversity(found, similarity=cosine), expected, atol=1e-12)
    by_call = diversity(found, similarity=lambda one, other: cosine[one, other])
    np.testing.assert_allclose(by_call, expected, atol=1e-12)


def test_diversity_ends() -> None:
    vectors = [[1, 0], [3, 0], [0, 1], [-2, 0]]
    lists = [[0, 1], [0, 2], [0, 3], [0, -1], [-1, -1]]
    np.testing.assert_allclose(diversity(lists, vectors=vectors), [0, 1, 2, np.nan, np.nan], atol=1e-15)


def test_diversity_refusals() -> None:
    lists = [[0, 1]]
    for options in ({}, {"vectors": [[1.0], [1.0]], "similarity": np.eye(2)}):
        with pytest.raises(DataError, match="either item vectors or a similarity"):
            diversity(lists, **options)
    with pytest.raises(DataError, match=r"row and a column for each item, got shape \(2, 3\)"):
        diversity(lists, similarity=np.ones((2, 3)))
    with pytest.raises(DataError, match="vectors must be a matrix of finite numbers"):
        diversity(lists, vectors=[[np.nan], [1.0]])
    with pytest.raises(DataError, match="one finite number for each pair"):
        diversity(lists, similarity=lambda one, other: np.full(len(one), np.nan))
    with pytest.raises(DataError, match="one finite number for each pair"):
        diversity(lists, similarity=lambda one, other: 1.0)


# -- lists

MEASURES: dict[str, Callable[[object], object]] = {
    "coverage": lambda found: coverage(found, ITEMS),
    "gini": lambda found: exposure_gini(found, ITEMS),
    "personalisation": lambda found: personalisation(found, ITEMS),
    "novelty": lambda found: novelty(found, np.ones(ITEMS)),
    "popularity": lambda found: mean_popularity(found, np.ones(ITEMS)),
    "tail": lambda found: long_tail_share(found, np.ones(ITEMS, dtype=bool)),
    "diversity of vectors": lambda found: diversity(found, vectors=np.ones((ITEMS, 2))),
    "diversity by matrix": lambda found: diversity(found, similarity=np.eye(ITEMS)),
}


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[0, 1, 2], [3, 5, 3], [1, 1, 1]], "list 1 recommends item 3 twice"),
        ([[0, 1], [-1, 3]], "list 1 has -1 before an item; only the end is padded"),
        ([[0, 1], [2, 7]], r"list 1: 7 is not a code inside 0\.\.6"),
        ([[0, -2]], r"list 0: -2 is not a code inside 0\.\.6; short lists end in -1"),
        ([0, 1], r"item codes of shape \(cases, n\), got int64 of shape \(2,\)"),
        ([[0.0, 1.0]], "got float64"),
    ],
)
def test_lists_that_are_refused(name: str, lists: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        MEASURES[name](lists)


@pytest.mark.parametrize("name", MEASURES)
def test_the_order_inside_a_list_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(0)
    lists = np.array([rng.permutation(ITEMS)[:5] for _ in range(20)])
    np.testing.assert_allclose(MEASURES[name](rng.permuted(lists, axis=1)), MEASURES[name](lists), atol=1e-12)


def test_other_refusals() -> None:
    for wrong in ([-1.0, 2], [np.nan, 1], [[1, 2]], ["a", "b"]):
        with pytest.raises(DataError, match="popularity must be one count of 0 or more"):
            mean_popularity([[0, 1]], wrong)
    with pytest.raises(DataError, match="True or False for each item"):
        long_tail_share([[0, 1]], [1, 0])
    with pytest.raises(ParameterError, match="'n_items'"):
        coverage(np.zeros((0, 3), dtype=int), 0)


def test_arguments_are_left_alone() -> None:
    lists = np.array([[3, 1], [2, -1]])
    lists.flags.writeable = False
    for measure in MEASURES.values():
        measure(lists)
