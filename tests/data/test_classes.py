"""Relevance classes from positions: by hand, and what holds for any positions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data.classes import relevance_classes
from fullrank.errors import DataError, ParameterError

POSITIONS = st.lists(
    st.one_of(st.integers(0, 12).map(float), st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-6)),
    min_size=1,
    max_size=40,
)


def test_by_hand() -> None:
    """0 .1 | .5 .6 | 1: the mean of all is .44, of the upper three .7, and .1 is within the span."""
    assert relevance_classes([1.0, 0.1, 0.5, 0.0, 0.6], 0.2).tolist() == [2, 0, 1, 0, 1]
    assert relevance_classes([10, 1, 5, 0, 6], 0.2).tolist() == [2, 0, 1, 0, 1]
    assert relevance_classes([10, 1, 5, 0, 6], 0.9).tolist() == [1, 0, 1, 0, 1]
    assert relevance_classes([10, 1, 5, 0, 6], 0).tolist() == [4, 1, 2, 0, 3]


def test_degenerate_sessions() -> None:
    assert relevance_classes([], 0.1).tolist() == []
    assert relevance_classes([7.0], 0.1).tolist() == [0]
    assert relevance_classes([3, 3, 3], 0.0).tolist() == [0, 0, 0]
    assert relevance_classes([0, 1], 1).tolist() == [0, 1]  # a span of 1 is not below 1


def test_the_seed_decides_on_the_middle_only() -> None:
    found = {tuple(relevance_classes([0, 0.5, 1], 0.6, seed=seed).tolist()) for seed in range(20)}
    assert found == {(0, 0, 1), (0, 1, 1)}
    assert len({tuple(relevance_classes([0, 0.4, 1], 0.6, seed=seed).tolist()) for seed in range(20)}) == 1


def test_many_items_need_no_recursion() -> None:
    steep = 2.0 ** -np.arange(30)
    assert len(set(relevance_classes(steep, 0).tolist())) == 30
    many = np.arange(20_000) * 1.0
    assert relevance_classes(many, 0).tolist() == list(range(20_000))


@given(positions=POSITIONS, span=st.floats(0, 1), seed=st.integers(0, 9), data=st.data())
def test_order_does_not_matter(positions: list[float], span: float, seed: int, data: Any) -> None:
    order = data.draw(st.permutations(range(len(positions))))
    found = relevance_classes(positions, span, seed)
    assert (relevance_classes(np.array(positions)[order], span, seed) == found[order]).all()


@given(positions=POSITIONS, span=st.floats(0, 1), seed=st.integers(0, 9))
def test_classes_are_stretches_shorter_than_the_span(positions: list[float], span: float, seed: int) -> None:
    at, found = np.array(positions), relevance_classes(positions, span, seed)
    width = at.max() - at.min()
    assert sorted(set(found)) == list(range(found.max() + 1))
    ends = [(at[found == c].min(), at[found == c].max()) for c in range(found.max() + 1)]
    assert all(high < low for (_, high), (low, _) in pairwise(ends))
    for low, high in ends:
        assert high == low or (high - low) / width < span + 1e-12


def test_bad_input() -> None:
    for span in (-0.1, 1.5, "wide"):
        with pytest.raises(ParameterError, match="'span' parameter must be a number from 0 to 1"):
            relevance_classes([1.0, 2.0], span)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"position contains NaN.*item 1"):
        relevance_classes([1.0, np.nan], 0.1)
    for wrong in ([[1.0]], ["a"]):
        with pytest.raises(DataError, match="one column of numbers"):
            relevance_classes(wrong, 0.1)
