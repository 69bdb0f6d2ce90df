"""Toward average discounted gain, and toward the area under the curve (S3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.descent import Epoch, check_descent, check_relevant, descended, positives
from fullrank.models.model import Factors, Floats
from fullrank.models.pairwise import Pairs, begin, epochs, folded, with_bias
from fullrank.models.samplers import Sampler, check_sampler
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training


def costs(items: int, gamma: float) -> Floats:
    """The weight of a step whose violator was draw n: C(floor((|I|-1) / n)), C(k) = 1 - 1/log2(k+2) (S3 Eq. 4).

    n counts from 1 and includes the successful draw; there are (|I|-1) / gamma draws, at least one.

    >>> costs(301, gamma=100)
    array([0.8786173 , 0.86202955, 0.8501295 ], dtype=float32)
    """
    n = np.arange(1, max(1, int((items - 1) / gamma)) + 1)
    return (1 - 1 / np.log2((items - 1) // n + 2)).astype(np.float32)


@dataclass(frozen=True)
class MFADG:
    """Average discounted gain of a factorisation with item biases, by steps on violators (S3 Algorithm 1, OPT-ADG).

        C(floor((|I|-1) / n)) (f(j) - f(i) + 1) + reg/2 (|p_u|^2 + |q_i|^2 + |q_j|^2),   f(u, i) = <p_u, q_i> + b_i

    i is any relevant item of a user, everybody as often; j is drawn until f(i) - f(j) < 1, the n-th time, at most
    (|I|-1) / gamma times. j may be relevant too, as printed; `unseen` leaves those out. An epoch has as many steps as
    there are relevant items.
    """

    factors: int = 50
    reg: float = 0.1
    rate: float = 0.1
    decay: float = 0.9
    epochs: int = 30
    gamma: float = 100.0
    unseen: bool = False
    relevant: float | None = None
    sampler: Sampler = "uniform"

    bias = True  # always, and no parameter

    def __post_init__(self) -> None:
        _check(self)
        check("gamma", self.gamma, is_number(self.gamma) and 1 <= self.gamma < np.inf, "a number >= 1")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal vectors, the same as those of `MFAUC`."""
        return begin(train, self.factors, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Steps of everybody."""
        return epochs(positives(self, train), self.pairs(train), seed)

    def pairs(self, train: Interactions) -> Pairs:
        """Draws until there is a violator."""
        return _pairs(self, train, costs(train.n_items, self.gamma))

    def model(self, state: State, train: Interactions) -> Factors:
        """What a state predicts."""
        return with_bias(state.parameters, train, self)

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """Rows for these pairs (CSR) by the same steps, users against "items" or items against "users"."""
        return folded(self, fixed, against, pairs, self.pairs(fixed.train))


@dataclass(frozen=True)
class MFAUC:
    """The same model toward every user's area under the curve, by the hinge of any pair (S3 section 6).

        1/(|O+| |O-|) sum over i in O+, j in O- of [f(j) - f(i) + 1]_+ ,   and reg as there

    An epoch has as many steps as there are relevant items; most draws are no violators after a while.
    """

    factors: int = 50
    reg: float = 0.1
    rate: float = 0.1
    decay: float = 0.95
    epochs: int = 60
    unseen: bool = True
    relevant: float | None = None
    sampler: Sampler = "uniform"

    bias = True

    def __post_init__(self) -> None:
        _check(self)

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal vectors, the same as those of `MFADG`."""
        return begin(train, self.factors, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Steps of everybody."""
        return epochs(positives(self, train), self.pairs(train), seed)

    def pairs(self, train: Interactions) -> Pairs:
        """One draw, and a step where it is a violator."""
        return _pairs(self, train, np.ones(1, dtype=np.float32))

    def model(self, state: State, train: Interactions) -> Factors:
        """What a state predicts."""
        return with_bias(state.parameters, train, self)

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """Rows for these pairs (CSR) by the same steps, users against "items" or items against "users"."""
        return folded(self, fixed, against, pairs, self.pairs(fixed.train))


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
