"""Elementary counts of a view: what libraries add up, before they divide. Places count from 1."""

from __future__ import annotations

import numpy as np

from fullrank.arrays import Array, Doubles
from fullrank.evaluation.conventions.view import View
from fullrank.metrics.elementary import exp2, log2


def hits(view: View) -> Doubles:
    """Hits among the first k; an item that is there twice is hit twice."""
    return np.asarray(view.hit.sum(axis=1), dtype=np.float64)


def hit_rate(view: View) -> Doubles:
    """1 where there is a hit."""
    return np.where(view.hit.any(axis=1), 1.0, 0.0)


def precision(view: View) -> Doubles:
    """hits / k."""
    return np.asarray(hits(view) / view.hit.shape[1])


def listed_precision(view: View) -> Doubles:
    """hits / items listed among the first k."""
    return over(hits(view), view.length)


def recall(view: View) -> Doubles:
    """hits / |R|."""
    return over(hits(view), view.relevant)


def capped_recall(view: View) -> Doubles:
    """hits / min(k, |R|)."""
    return over(hits(view), possible(view))


def reciprocal_rank(view: View) -> Doubles:
    """1 / place of the first hit, 0 without one."""
    return np.where(view.hit.any(axis=1), 1 / (view.hit.argmax(axis=1) + 1.0), 0.0)


def sum_precisions(view: View) -> Doubles:
    """Sum of the precision at the place of every hit."""
    place = np.arange(1.0, view.hit.shape[1] + 1)
    return np.asarray((view.hit * np.cumsum(view.hit, axis=1) / place).sum(axis=1))


def average_precision(view: View) -> Doubles:
    """The same / |R|."""
    return over(sum_precisions(view), view.relevant)


def capped_average_precision(view: View) -> Doubles:
    """The same / min(k, |R|)."""
    return over(sum_precisions(view), possible(view))


def ndcg(view: View) -> Doubles:
    """DCG / ideal DCG with gain 1 and discount log2(place + 1); the ideal has min(k, |R|) hits."""
    weight = discount(view)
    return over(view.hit @ weight, _binary_ideal(view) @ weight)


def clipped_ndcg(view: View) -> Doubles:
    """The same with discount log2(max(place, 2)): the first two places count the same."""
    weight = 1 / log2(np.maximum(np.arange(1, view.hit.shape[1] + 1), 2))
    return over(view.hit @ weight, _binary_ideal(view) @ weight)


def full_ndcg(view: View) -> Doubles:
    """The same with discount log2(place + 1) and k hits in the ideal, whatever is relevant."""
    weight = discount(view)
    return np.asarray(view.hit @ weight / weight.sum())


def grade_ndcg(view: View) -> Doubles:
    """The same with the grade as the gain."""
    weight = discount(view)
    return over(view.gain @ weight, view.ideal @ weight)


def power_ndcg(view: View, plus: float = 0.0) -> Doubles:
    """The same with 2^(grade + plus) - 1 as the gain."""
    weight = discount(view)
    gain = np.where(view.hit, exp2(view.gain + plus) - 1, 0.0)
    ideal = np.where(_binary_ideal(view) > 0, exp2(view.ideal + plus) - 1, 0.0)
    return over(gain @ weight, ideal @ weight)


def discount(view: View) -> Doubles:
    """1 / log2(place + 1) of every place."""
    return np.asarray(1 / log2(np.arange(2, view.hit.shape[1] + 2)))


def possible(view: View) -> Array:
    """min(k, |R|) of every case."""
    return np.minimum(view.hit.shape[1], view.relevant)


def over(sums: Array, by: Array) -> Doubles:
    """A quotient, 0 where nothing is divided by nothing."""
    return np.divide(sums, by, out=np.zeros(len(sums)), where=by > 0)


def _binary_ideal(view: View) -> Doubles:
    return (np.arange(view.hit.shape[1]) < view.relevant[:, None]).astype(np.float64)
