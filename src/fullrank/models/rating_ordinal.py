"""A model that gives every pair a distribution over the levels of a scale (Koren and Sill)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import checked_codes, frozen
from fullrank.data.ids import Codes
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.kernels.threads import one_blas_thread
from fullrank.models.linear import ItemVectors, People, pair_scores
from fullrank.models.model import Floats, check_finite, described, in_new_array

Doubles: TypeAlias = NDArray[np.float64]

STEPS = 25  # of Newton's method, at most


@dataclass(frozen=True, eq=False, repr=False)
class OrdinalFactors:
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
    recipe: Any
    history: Floats | None = None  # (items, factors)

    def __post_init__(self) -> None:
        for name in ("users", "items", "bias", "thresholds", "common", "levels", "weights", "history"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, frozen(np.ascontiguousarray(array, dtype=np.float32)))
                check_finite(self.recipe, name, getattr(self, name))
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

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def __repr__(self) -> str:
        return described(self)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        vector, thresholds = self.fold_in(items, values)
        return np.asarray(self._worth(vector[None, :], thresholds[None, :])[0], dtype=np.float32)

    def fold_in(self, items: Codes, values: Floats) -> tuple[Floats, Floats]:
        """The vector and thresholds of somebody new, from what they did: the best by their own likelihood."""
        codes = checked_codes(np.asarray(items), self.train.n_items, "item")
        if len(codes) != len(values):
            raise DataError(f"a history of {len(codes)} items has {len(values)} values; give one for each.")
        known = np.zeros(self.items.shape[1])
        if self.history is not None and len(codes):
            known = self.history[codes].sum(axis=0, dtype=np.float64) / np.sqrt(len(codes))
        rows = self.items[codes].astype(np.float64)
        design = np.hstack([rows, np.ones((len(codes), 1))])
        with one_blas_thread():
            base = rows @ known + self.bias[codes]
            found = newton(design, base, nearest(self.levels, values), self.common, self.recipe.reg * len(codes))
        return (known + found[:-1]).astype(np.float32), (self.common - found[-1]).astype(np.float32)

    def _worth(self, vectors: Floats, thresholds: Floats) -> Doubles:
        """weight_S - sum over s of (weight_s+1 - weight_s) sigma(t_s - y)."""
        from fullrank.kernels.levels import expected_worth

        y = self._item_vectors.exact(People(vectors, np.zeros(len(vectors))))
        expected_worth(y, thresholds, self.weights)
        return y


def distribution(y: Doubles, thresholds: NDArray[Any]) -> Doubles:
    """P of every level: differences of sigma(t - y), from 0 to 1."""
    from scipy.special import expit

    below = expit(thresholds.astype(np.float64) - y[:, None])
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def nearest(levels: Floats, values: NDArray[Any]) -> NDArray[np.int64]:
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
