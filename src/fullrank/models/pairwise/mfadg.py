"""Toward average discounted gain, and toward the area under the curve (Lim et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.arrays import Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.pairwise.blocks import PairRecipe, Pairs
from fullrank.models.positives import Relevant, check_relevant, positives
from fullrank.models.stochastic.descent import check_descent
from fullrank.models.stochastic.samplers import Sampler, check_sampler


def costs(items: int, gamma: float) -> Floats:
    """The weight of a step whose violator was draw n: C(floor((|I|-1) / n)), C(k) = 1 - 1/log2(k+2) (Eq. 4).

    n counts from 1 and includes the successful draw; there are (|I|-1) / gamma draws, at least one.

    >>> costs(301, gamma=100)
    array([0.8786173 , 0.86202955, 0.8501295 ], dtype=float32)
    """
    n = np.arange(1, max(1, int((items - 1) / gamma)) + 1)
    return (1 - 1 / np.log2((items - 1) // n + 2)).astype(np.float32)


@dataclass(frozen=True)
class MFADG(PairRecipe):
    """Average discounted gain of factors and item biases, by steps on violators (Lim et al. 2015, Algorithm 1).

        C(floor((|I|-1) / n)) (f(j) - f(i) + 1) + reg/2 (|p_u|^2 + |q_i|^2 + |q_j|^2),   f(u, i) = <p_u, q_i> + b_i

    i is any relevant item of a user, everybody as often; j is drawn until f(i) - f(j) < 1, the n-th time, at most
    (|I|-1) / gamma times. j may be relevant too, as printed. An epoch has as many steps as
    there are relevant items.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.1
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.1
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 0.9
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 30
    #: At most (|I|-1) / gamma items are drawn for a step, >= 1: a smaller one looks longer for violators.
    gamma: float = 100.0
    #: Whether the other item j is never one of the user's own relevant ones.
    unseen: bool = False
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: How items that stand for all others are drawn: "uniform", by "popularity" (harder to beat), or by a tuple of
    #: weights >= 0, one for each item.
    sampler: Sampler = "uniform"

    bias = True  # always, and no parameter

    def __post_init__(self) -> None:
        _check(self)
        check("gamma", self.gamma, is_number(self.gamma) and 1 <= self.gamma < np.inf, "a number >= 1")

    def pairs(self, train: Interactions) -> Pairs:
        """Draws until there is a violator."""
        return _pairs(self, train, costs(train.n_items, self.gamma))


@dataclass(frozen=True)
class MFAUC(PairRecipe):
    """The same model toward every user's area under the curve, by the hinge of any pair (Lim et al. 2015, section 6).

        1/(|O+| |O-|) sum over i in O+, j in O- of [f(j) - f(i) + 1]_+ ,   and reg as there

    An epoch has as many steps as there are relevant items; most draws are no violators after a while.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.1
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.1
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 0.95
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 60
    #: Whether the other item j is never one of the user's own relevant ones.
    unseen: bool = True
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: How items that stand for all others are drawn: "uniform", by "popularity" (harder to beat), or by a tuple of
    #: weights >= 0, one for each item.
    sampler: Sampler = "uniform"

    bias = True

    def __post_init__(self) -> None:
        _check(self)

    def pairs(self, train: Interactions) -> Pairs:
        """One draw, and a step where it is a violator."""
        return _pairs(self, train, np.ones(1, dtype=np.float32))


def _check(recipe: MFADG | MFAUC) -> None:
    check_descent(recipe)
    check_relevant(recipe)
    check_sampler("sampler", recipe.sampler)
    check("unseen", recipe.unseen, isinstance(recipe.unseen, bool), "True or False")


def _pairs(recipe: MFADG | MFAUC, train: Interactions, cost: Floats) -> Pairs:
    """As many steps in an epoch as there are relevant items, the same number for everybody who has some."""
    rows = positives(recipe, train)
    each = len(rows) / max(int((np.diff(rows.starts) > 0).sum()), 1)
    return Pairs(each, recipe.unseen, cost, recipe.reg, True, recipe.sampler)
