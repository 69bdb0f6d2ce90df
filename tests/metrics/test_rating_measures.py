"""RMSE and MAE: by hand, by brute force, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.errors import DataError
from fullrank.metrics.ratings import case_mae, case_rmse, mae, rmse

POOLED = [rmse, mae]
PER_CASE = [case_rmse, case_mae]
numbers = st.floats(-1000, 1000)


def test_by_hand() -> None:
    true, predicted = [5, 3, 1, 4], [4, 3, 3, 4]
    assert rmse(true, predicted) == pytest.approx(np.sqrt(5 / 4))
    assert mae(true, predicted) == pytest.approx(3 / 4)
    weights = [1, 0, 3, 0]
    assert rmse(true, predicted, weights=weights) == pytest.approx(np.sqrt(13 / 4))
    assert mae(true, predicted, weights=weights) == pytest.approx(7 / 4)
    np.testing.assert_allclose(case_rmse([0, 1, 1, 4], true, predicted), [1, np.nan, np.sqrt(4 / 3)])
    np.testing.assert_allclose(case_mae([0, 1, 1, 4], true, predicted), [1, np.nan, 2 / 3])
    np.testing.assert_allclose(case_mae([0, 2, 4], true, predicted, weights=[0, 0, 1, 1]), [np.nan, 1])


@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 3)), min_size=1, max_size=20), st.data())
def test_against_repeated_rows_and_loops(rows: list[tuple[float, float, int]], data: st.DataObject) -> None:
    rows.append((1.0, 2.0, 1))
    true, predicted, weights = zip(*rows, strict=True)
    copies = [(t, p) for t, p, w in rows for _ in range(w)]
    for pooled in POOLED:
        assert pooled(true, predicted, weights=weights) == pytest.approx(pooled(*zip(*copies, strict=True)))
    assert rmse(true, predicted) >= mae(true, predicted) - 1e-9
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    start = [0, *cuts, len(rows)]
    for pooled, per_case in zip(POOLED, PER_CASE, strict=True):
        values = per_case(start, true, predicted)
        for value, a, b in zip(values, start, start[1:], strict=False):
            assert np.isnan(value) if a == b else value == pytest.approx(pooled(true[a:b], predicted[a:b]))
        by_weight = per_case(start, true, predicted, weights=weights)
        for value, a, b in zip(by_weight, start, start[1:], strict=False):
            if sum(weights[a:b]):
                assert value == pytest.approx(pooled(true[a:b], predicted[a:b], weights=weights[a:b]))
            else:
                assert np.isnan(value)


def test_values_of_small_types_do_not_wrap_or_round() -> None:
    assert mae(np.array([1], dtype=np.uint8), np.array([3], dtype=np.uint8)) == 2
    assert rmse(np.array([100], dtype=np.int8), np.array([-100], dtype=np.int8)) == 200
    assert rmse(np.array([1.0], dtype=np.float16), np.array([2e4], dtype=np.float16)) == pytest.approx(
        2e4 - 1, rel=1e-3
    )


@pytest.mark.parametrize("measure", POOLED)
def test_refusals(measure: Callable[..., float]) -> None:
    with pytest.raises(DataError, match=r"prediction nan \(row 1\) is not a usable number"):
        measure([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(DataError, match=r"true value inf \(row 0\)"):
        measure([np.inf, 2.0], [1.0, 2.0])
    with pytest.raises(DataError, match=r"prediction 1e\+200 \(row 0\)"):  # its square is beyond floats
        measure([1.0], [1e200])
    with pytest.raises(DataError, match="3 true values but 2 predictions"):
        measure([1.0, 2.0, 3.0], [1.0, 2.0])
    with pytest.raises(DataError, match=r"predictions must be one column of numbers, got float64 of shape \(1, 2\)"):
        measure([1.0, 2.0], [[1.0, 2.0]])
    with pytest.raises(DataError, match="true values must be one column of numbers"):
        measure(["5"], [5.0])
    with pytest.raises(DataError, match="no row of positive weight"):
        measure([], [])
    with pytest.raises(DataError, match="no row of positive weight"):
        measure([1.0], [2.0], weights=[0])
    with pytest.raises(DataError, match=r"weight -1.0 \(row 1\) is negative"):
        measure([1.0, 1.0], [2.0, 2.0], weights=[2, -1])
    with pytest.raises(DataError, match="1 weights for 2 rows"):
        measure([1.0, 1.0], [2.0, 2.0], weights=[2])
    with pytest.raises(DataError, match=r"weight nan \(row 0\)"):
        measure([1.0], [2.0], weights=[np.nan])


@pytest.mark.parametrize("measure", PER_CASE)
@pytest.mark.parametrize("start", [[0, 1], [1, 2], [0, 2, 1, 2], [0, 3]])
def test_starts_that_do_not_fit(measure: Callable[..., np.ndarray], start: list[int]) -> None:
    with pytest.raises(DataError, match="case starts must rise from 0 to the number of rows, 2"):
        measure(start, [1.0, 2.0], [1.0, 2.0])
    for wrong in ([0.0, 2.0], [[0, 2]], []):
        with pytest.raises(DataError, match="case starts must be one column of integers"):
            measure(wrong, [1.0, 2.0], [1.0, 2.0])
