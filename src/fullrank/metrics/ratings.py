"""How far predicted values are from the true ones: RMSE and MAE, pooled and per case."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Doubles, Ints
from fullrank.errors import DataError


def rmse(true: ArrayLike, predicted: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Root of the mean squared error over all rows.

        sqrt(sum w (true - predicted)^2 / sum w),   w = 1 without weights

    Range 0 (best) to infinity, in units of the values. Pooled: who has many rows weighs much.

    >>> rmse([5, 3], [4, 4], weights=[1, 3])
    1.0
    """
    return float(np.sqrt(_mean(_errors(true, predicted) ** 2, weights)))


def mae(true: ArrayLike, predicted: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Mean absolute error over all rows.

        sum w |true - predicted| / sum w,   w = 1 without weights

    Range 0 (best) to infinity, in units of the values.
    """
    return _mean(np.abs(_errors(true, predicted)), weights)


def case_rmse(start: ArrayLike, true: ArrayLike, predicted: ArrayLike, *, weights: ArrayLike | None = None) -> Doubles:
    """`rmse` of each case's rows start[c] .. start[c+1]-1; NaN for a case without rows or of weight 0."""
    return np.sqrt(_case_means(start, _errors(true, predicted) ** 2, weights))


def case_mae(start: ArrayLike, true: ArrayLike, predicted: ArrayLike, *, weights: ArrayLike | None = None) -> Doubles:
    """`mae` of each case's rows start[c] .. start[c+1]-1; NaN for a case without rows or of weight 0."""
    return _case_means(start, np.abs(_errors(true, predicted)), weights)


def _errors(true: ArrayLike, predicted: ArrayLike) -> Doubles:
    values, predictions = _column(true, "true value"), _column(predicted, "prediction")
    if len(values) != len(predictions):
        raise DataError(f"{len(values)} true values but {len(predictions)} predictions; give one for each.")
    return values - predictions


def _column(column: ArrayLike, what: str) -> Doubles:
    """Numbers as float64 whose differences can be squared."""
    array: NDArray[Any] = np.asarray(column)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise DataError(f"{what}s must be one column of numbers, got {array.dtype} of shape {array.shape}.")
    numbers = array.astype(np.float64)
    usable = np.abs(numbers) < 1e150
    if not usable.all():
        row = int(usable.argmin())
        raise DataError(f"{what} {numbers[row]} (row {row}) is not a usable number; mend it or leave the row out.")
    return numbers


def _weights(weights: ArrayLike | None, rows: int) -> Doubles:
    if weights is None:
        return np.ones(rows)
    column = _column(weights, "weight")
    if len(column) != rows:
        raise DataError(f"{len(column)} weights for {rows} rows; give one for each.")
    if (column < 0).any():
        row = int((column < 0).argmax())
        raise DataError(f"weight {column[row]} (row {row}) is negative; weights must be 0 or more.")
    return column


def _mean(errors: Doubles, weights: ArrayLike | None) -> float:
    weight = _weights(weights, len(errors))
    if not weight.any():
        raise DataError("there is no row of positive weight to average over.")
    return float(np.average(errors, weights=weight))


def _case_means(start: ArrayLike, errors: Doubles, weights: ArrayLike | None) -> Doubles:
    weight, sizes = _weights(weights, len(errors)), np.diff(_starts(start, len(errors)))
    case = np.repeat(np.arange(len(sizes)), sizes)
    above, below = (np.bincount(case, rows, minlength=len(sizes)) for rows in (weight * errors, weight))
    means: Doubles = np.divide(above, below, out=np.full(len(sizes), np.nan), where=below > 0)
    return means


def _starts(start: ArrayLike, rows: int) -> Ints:
    starts = np.asarray(start)
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or not len(starts):
        raise DataError(f"case starts must be one column of integers, got {starts.dtype} of shape {starts.shape}.")
    if starts[0] or starts[-1] != rows or (np.diff(starts.astype(np.int64)) < 0).any():
        raise DataError(f"case starts must rise from 0 to the number of rows, {rows}.")
    return starts.astype(np.int64)
