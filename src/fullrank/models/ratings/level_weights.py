"""How much each level counts when items are ranked by their distributions: learned from pairs of training items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Doubles
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.ratings.passes import ratings
from fullrank.runtime.threads import one_blas_thread

PAIRS = 1 << 17  # looked at, at most
STEPS = 30  # of Newton's method, at most
RIDGE = 1.0  # towards levels in equal steps: a pair's worth


def learned_weights(model: OrdinalFactors) -> OrdinalFactors:
    """The same model, ranking by  sum of weight P(level)  with the weights that order training pairs best.

        sum over pairs (u, i, j), i rated above j, of  log(1 + exp(-<w, P_ui - P_uj>)),   w_1 = 0

    Pairs are neighbours in one random order of each user's items, always the same.
    """
    better, worse = _pairs(model)
    user, item = model.train.user, model.train.item
    with one_blas_thread():
        ahead, behind = (model.probabilities(user[rows], item[rows]) for rows in (better, worse))
        weights = _logistic((ahead - behind)[:, 1:], np.arange(1.0, len(model.levels)))
    return replace(model, weights=np.concatenate([[0.0], weights]))


def _pairs(model: OrdinalFactors) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the training data that belong to one user, the first with the higher rating."""
    train, value, rng = model.train, ratings(model.recipe, model.train), np.random.default_rng(0)
    order = np.lexsort((rng.random(len(train)), train.user))
    first, second = order[:-1], order[1:]
    kept = np.flatnonzero((train.user[first] == train.user[second]) & (value[first] != value[second]))
    kept = np.sort(rng.permutation(kept)[:PAIRS])
    first, second = first[kept], second[kept]
    above = value[first] > value[second]
    return np.where(above, first, second), np.where(above, second, first)


def _logistic(rows: Doubles, prior: Doubles) -> Doubles:
    """The w with the least  sum of log(1 + exp(-rows w)) + RIDGE/2 |w - prior|^2, by Newton's method."""
    from scipy.special import expit

    w = prior.copy()
    for _ in range(STEPS):
        wrong = expit(-rows @ w)
        slope = -rows.T @ wrong + RIDGE * (w - prior)
        curve = (rows.T * (wrong * (1 - wrong))) @ rows + RIDGE * np.eye(len(w))
        step = np.linalg.solve(curve, slope)
        step /= max(1.0, float(np.abs(rows @ step).max(initial=0.0)) / 2)
        w -= step
        if np.abs(step).max() < 1e-10:
            break
    return w
