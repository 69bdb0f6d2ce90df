"""How sure a number is: bootstrap intervals, permutation tests, corrections for many comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Doubles, row_blocks
from fullrank.runtime.threads import one_blas_thread

DRAWN = 1 << 23  # numbers drawn at a time


def weighted_mean(values: Doubles, weight: Doubles) -> float:
    """sum w x / sum w over cases where x is defined, exactly rounded: the order of cases does not matter.

    >>> weighted_mean(np.array([0.1, 0.2, 0.3]), np.array([1.0, 1.0, 2.0]))
    0.225
    """
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    values, weight = values[known], weight[known]
    return fsum((values * weight).tolist()) / fsum(weight.tolist())


def together(user: NDArray[Any] | None, *columns: Doubles) -> list[Doubles]:
    """Sums of the rows of each user, users in their order; without users the columns themselves."""
    if user is None:
        return list(columns)
    _, place = np.unique(user, return_inverse=True)
    sums = [np.zeros((int(place.max(initial=-1)) + 1, *column.shape[1:])) for column in columns]
    for total, column in zip(sums, columns, strict=True):
        np.add.at(total, place, column)
    return sums


def bootstrap(values: Doubles, weight: Doubles, repeats: int, seed: int, user: NDArray[Any] | None = None) -> Doubles:
    """Weighted means of (cases, columns) over cases drawn again with replacement: (repeats, columns).

    A weight is of a case, or of a case in a column. Cases of one user are not independent: where `user` tells whose
    they are, people are drawn with all their cases.
    """
    known = ~np.isnan(values)
    weights = np.where(known, weight if weight.ndim == 2 else weight[:, None], 0.0)
    each, total = together(user, weights, np.where(known, values, 0.0) * weights)
    rng = np.random.default_rng([seed, len(each)])
    means = np.empty((repeats, values.shape[1]))
    n = len(each)
    totals, weighed = Sliced(total, n), Sliced(each, n)
    for some in row_blocks(repeats, _at_once(n)):
        drawn = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(some.start, some.stop)])
        often = drawn.astype(np.float64)
        means[some] = totals.summed(often) / np.maximum(weighed.summed(often), 1e-300)
    return means


class Sliced:
    """Numbers (rows, columns), ready to be summed with the same bits on every machine and for any number of threads.

    They are cut into two slices of so few bits that every sum of at most `most` of them is exact, in whatever order
    BLAS adds them up.

    >>> Sliced(np.array([[0.1], [0.2]]), 3).summed(np.array([[1.0, 2.0]]))
    array([[0.5]])
    """

    def __init__(self, values: Doubles, most: int) -> None:
        bits = 52 - most.bit_length()
        size = np.frexp(np.abs(values).max(axis=0, initial=0))[1]  # values of a column are below 2^size
        self.parts: list[tuple[Doubles, Any]] = []
        for shift in (bits - size, 2 * bits - size):
            part = np.rint(np.ldexp(values, shift))  # whole numbers up to 2^bits
            values = values - np.ldexp(part, -shift)
            self.parts.append((part, shift))

    def summed(self, counts: Doubles) -> Doubles:
        """counts @ values, for whole numbers >= 0 whose rows add up to `most` or less."""
        with one_blas_thread():
            high, low = (np.ldexp(counts @ part, -shift) for part, shift in self.parts)
        return np.asarray(high + low)


def _at_once(cases: int) -> int:
    """Repetitions whose draws are kept at a time."""
    return max(1, min(256, DRAWN // max(cases, 1)))


def percentile_interval(samples: Doubles, level: float) -> tuple[float, float]:
    """The middle share `level` of bootstrap samples."""
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def permutations(difference: Doubles, repeats: int, seed: int) -> Doubles:
    """Of every column (cases, columns): the share of random sign changes with a sum at least as far from 0.

    The one observed counts among them. The signs are the same for all columns.
    """
    rng = np.random.default_rng([seed, len(difference), 1])
    sums = np.array([fsum(column) for column in difference.T.tolist()])
    observed, extreme = np.abs(sums) - 1e-12 * np.abs(difference).sum(axis=0), np.zeros(difference.shape[1])
    sliced = Sliced(difference, len(difference))
    for some in row_blocks(repeats, _at_once(len(difference))):
        kept = rng.integers(0, 2, (some.stop - some.start, len(difference)), dtype=np.int8).astype(np.float64)
        extreme += (np.abs(2 * sliced.summed(kept) - sums) >= observed).sum(axis=0)  # kept, or turned
    return np.asarray((extreme + 1) / (repeats + 1))


def holm(p_values: Mapping[Any, float]) -> dict[Any, float]:
    """Holm's adjusted p-values: what is below alpha can be claimed together at that level.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    ordered = sorted(p_values, key=lambda name: p_values[name])
    adjusted: dict[Any, float] = {}
    largest = 0.0
    for place, name in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - place) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean over repetitions and its standard error, sd / sqrt(n).

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    array = np.asarray(values, dtype=np.float64)
    error = float(np.std(array, ddof=1)) / sqrt(len(array)) if len(array) > 1 else float("nan")
    return float(array.mean()), error
