"""Losses as functions of the ranks of relevant items, and the tables that training looks them up in (Steck 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fullrank.arrays import Array, Doubles, Floats
from fullrank.errors import ParameterError
from fullrank.models.asymmetric.activations import Activation

PER_WIDTH = 512  # columns of a table for a change of the score by one width


@dataclass(frozen=True)
class RankLoss:
    """What a relevant item costs at rank r, and the slope of that.

    Its scale does not matter. A model trained toward functions of your own can be used but not kept in a file.

    >>> reciprocal = RankLoss(lambda r: 1 - 1 / r, lambda r: 1 / r**2)
    """

    #: What a relevant item costs at each of an array of ranks, counted from 1: finite, rising.
    value: Callable[[Doubles], Array]
    #: Its derivative at these ranks: finite, above 0 somewhere in the upper half of the list.
    slope: Callable[[Doubles], Array]


AUC = RankLoss(lambda r: r, np.ones_like)
NDCG = RankLoss(lambda r: 1 - 1 / np.log2(r + 1), lambda r: np.log(2) / ((r + 1) * np.log(r + 1) ** 2))
LOSSES = {"auc": AUC, "ndcg": NDCG}


def rank_table(loss: RankLoss, n: int, level: float) -> Floats:
    """Over the ranks 1 .. n: L(r), and  L'(r) N 4 rho (1 - rho),  rho = 1 - (r - 1/2) / N  (Steck 2015, Eq. 15)."""
    rank = np.arange(1, n + 1, dtype=np.float64)
    rho = 1 - (rank - 0.5) / n
    return _table(loss, rank, n, 4 * rho * (1 - rho), level)


def score_table(loss: RankLoss, activation: Activation, n: int, level: float) -> Floats:
    """Over scores x from -8 to 8 widths: L(r), and  L'(r) N a'(x),  at the rank  r = N (1 - a(x))."""
    from fullrank.kernels.sgd_history import FURTHEST

    x = np.linspace(-FURTHEST, FURTHEST, int(2 * FURTHEST * PER_WIDTH) + 1)
    rank = n * (1 - activation.value(x))
    return _table(loss, rank if loss is AUC else np.maximum(rank, 1), n, activation.slope(x), level)


def _table(loss: RankLoss, rank: Doubles, n: int, bend: Doubles, level: float) -> Floats:
    """Both divided by the largest slope from rank `level` to the middle; at better ranks no slope is larger than it."""
    value, slope = (np.asarray(part(rank), dtype=np.float64) for part in (loss.value, loss.slope))
    if not value.shape == slope.shape == rank.shape or not np.isfinite([value, slope]).all():
        raise ParameterError("A RankLoss must give a finite number for each of an array of ranks from 1 on.")
    first, force = min(level, n / 4), n * slope * bend
    most = force[(rank >= first) & (rank <= max(n / 2, first + 1))].max(initial=0.0)
    if most <= 0:
        raise ParameterError(
            "A RankLoss must rise with the rank; give it a slope above 0 in the upper half of the list."
        )
    force[rank < first] = np.minimum(force[rank < first], most)
    return np.ascontiguousarray(np.stack([value, force]) / most, dtype=np.float32)
