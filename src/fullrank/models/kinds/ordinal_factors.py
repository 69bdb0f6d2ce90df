"""A model that gives every pair a distribution over the levels of a scale (Koren and Sill)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Codes, Doubles, Floats, checked_codes
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.kinds.linear import ItemVectors, People, pair_scores
from fullrank.models.kinds.model import Model, checked_history, keep_floats
from fullrank.runtime.threads import one_blas_thread

STEPS = 25  # of Newton's method, at most


class Likelihood(Protocol):
    """What the model asks of its recipe."""

    @property
    def reg(self) -> float:
        """Strength of regularisation."""


@dataclass(frozen=True, eq=False, repr=False)
class OrdinalFactors(Model):
    """P(level <= s) = sigma(t_us - y_ui),  y_ui = <p_u, q_i> + b_i;  score = sum over levels of weight P(level).

    Weights that are the levels make it the expected value. Of somebody new the recipe's likelihood gives the vector and
    a shift of all thresholds that everybody has in common; values between the levels count as the nearest.
    """

    users: Floats  # (users, factors), with what a history adds
    items: Floats  # (items, factors)
    bias: Floats  # (items,)
    thresholds: Floats  # (users, levels - 1), rising
    common: Floats  # (levels - 1,), of somebody of whom nothing is known
    levels: Floats  # (levels,), rising
    weights: Floats  # (levels,)
    train: Interactions
    recipe: Likelihood
    history: Floats | None = None  # (items, factors)

    def __post_init__(self) -> None:
        keep_floats(self, "users", "items", "bias", "thresholds", "common", "levels", "weights", "history")
        if not all((np.diff(array) >= 0).all() for array in (self.thresholds, self.common, self.levels)):
            raise DataError(f"{type(self.recipe).__name__}: thresholds or levels do not rise; fit the model again.")

    @cached_property
    def _item_vectors(self) -> ItemVectors:
        return ItemVectors(self.items, self.bias)

    def probabilities(self, users: Codes, items: Codes) -> Doubles:
        """The distribution over `levels` of each pair (users[n], items[n]), by codes; rows sum to 1."""
        user = checked_codes(np.asarray(users), self.train.n_users, "user")
        item = checked_codes(np.asarray(items), self.train.n_items, "item")
        if len(user) != len(item):
            raise DataError(f"{len(user)} users but {len(item)} items; give pairs of them.")
        y = pair_scores(self.users, user, self.items, item) + self.bias[item]
        return distribution(y, self.thresholds[user])

    def exact_scores(self, users: Codes) -> Doubles:
        """The scores of known users (codes) by which they are ranked: the same bits on every machine."""
        return self._worth(self.users[users], self.thresholds[users])

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        out[:] = self.exact_scores(users)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        vector, thresholds = self.fold_in(items, values)
        return np.asarray(self._worth(vector[None, :], thresholds[None, :])[0], dtype=np.float32)

    def fold_in(self, items: Codes, values: Floats) -> tuple[Floats, Floats]:
        """The vector and thresholds of somebody new, from what they did: the best by their own likelihood."""
        codes, _ = checked_history(self, items, values)
        known = np.zeros(self.items.shape[1])
        if self.history is not None and len(codes):
            known = self.history[codes].sum(axis=0, dtype=np.float64) / np.sqrt(len(codes))
        rows = self.items[codes].astype(np.float64)
        design = np.hstack([rows, np.ones((len(codes), 1))])
        with one_blas_thread():
            base = rows @ known + self.bias[codes]
            best = newton(design, base, nearest(self.levels, values), self.common, self.recipe.reg * len(codes))
        return (known + best[:-1]).astype(np.float32), (self.common - best[-1]).astype(np.float32)

    def _worth(self, vectors: Floats, thresholds: Floats) -> Doubles:
        """weight_S - sum over s of (weight_s+1 - weight_s) sigma(t_s - y)."""
        from fullrank.kernels.expected_level import expected_worth

        y = self._item_vectors.exact(People(vectors, np.zeros(len(vectors))))
        expected_worth(y, thresholds, self.weights)
        return y


def distribution(y: Doubles, thresholds: Array) -> Doubles:
    """P of every level: differences of sigma(t - y), from 0 to 1."""
    from scipy.special import expit

    below = expit(thresholds.astype(np.float64) - y[:, None])
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def nearest(levels: Floats, values: Array) -> NDArray[np.int64]:
    """The level nearest to each value, of two as near the lower."""
    middles = (levels[1:].astype(np.float64) + levels[:-1]) / 2
    return np.searchsorted(middles, np.asarray(values, dtype=np.float64), side="left")


def newton(design: Doubles, base: Doubles, level: NDArray[np.int64], common: Floats, ridge: float) -> Doubles:
    """The x with the least  sum of -log P(level | y = base + design x) + ridge/2 |x|^2, which is convex."""
    from scipy.special import expit

    edges = np.concatenate([[-np.inf], common.astype(np.float64), [np.inf]])
    low, high = edges[level], edges[level + 1]
    penalty = max(ridge, 1e-6)
    x = np.zeros(design.shape[1])
    for _ in range(STEPS):
        y = base + design @ x
        below, above = expit(low - y), expit(y - high)
        curve = below * (1 - below) + above * (1 - above)
        slope = design.T @ (above - below) + penalty * x
        step = np.linalg.solve((design.T * curve) @ design + penalty * np.eye(len(x)), slope)
        step /= max(1.0, float(np.abs(design @ step).max(initial=0.0)) / 2)  # where the curve is still like this
        x -= step
        if np.abs(step).max() < 1e-9:
            break
    return x
