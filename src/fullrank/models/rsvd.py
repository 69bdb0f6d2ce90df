"""Ratings as inner products, by stochastic gradient descent: Funk's regularised SVD, and with biases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.models.als import Floats
from fullrank.models.descent import Epoch, descended
from fullrank.models.model import Factors
from fullrank.models.rating_epochs import check_predictor, epoch_of, mean_of, started
from fullrank.models.rating_rows import ridge_rows
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training


@dataclass(frozen=True)
class RSVD:
    """Regularised SVD of the observed ratings (Funk; S2 Eq. 2.1), all features at once and with biases.

        sum over ratings of  (r - r^)^2 + reg (b_u^2 + b_i^2 + |p_u|^2 + |q_i|^2),   r^ = mu + b_u + b_i + <p_u, q_i>

    `by_feature` is Funk's own way, as S2 ran it: r^ = <p_u, q_i>, one feature after the other, each for `epochs` passes
    over the ratings, with the later ones still at `init`. It is `RSVD.as_funk()` with the published numbers.

    Users are taken in batches of a size that depends on data and rate; within a batch they see the same items.
    Somebody new gets the ridge regression of their ratings, and so does a new item.
    """

    factors: int = 100
    epochs: int = 40
    rate: float = 0.01
    decay: float = 1.0  # of the rate, after every pass
    reg: float = 0.08
    init: float = 0.1  # standard deviation of the first vectors; by feature their value
    by_feature: bool = False

    def __post_init__(self) -> None:
        check_predictor(self)

    @classmethod
    def as_funk(cls, factors: int = 25, epochs: int = 15, rate: float = 0.001, reg: float = 0.02) -> RSVD:
        """One feature at a time without biases: the numbers of S2 section 6, and Funk's start of 0.1 everywhere."""
        return cls(factors=factors, epochs=epochs, rate=rate, reg=reg, by_feature=True)

    @property
    def rounds(self) -> int | None:
        """Passes in all, by feature; otherwise they are the epochs, and a longer fit can go on from a checkpoint."""
        return self.factors * self.epochs if self.by_feature else None

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Epoch after epoch; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small vectors, no biases."""
        return started(self, train, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """A pass over all ratings."""
        return epoch_of(self, train, seed)

    def model(self, state: State, train: Interactions) -> Factors:
        """<[p_u, b_u, 1], [q_i, 1, b_i]> + mu: biases are columns, so that `update` finds them too."""
        users, items = state.parameters["users"], state.parameters["items"]
        if self.by_feature:
            return Factors(users, items, train, self)
        ones = np.ones((max(len(users), len(items)), 1), dtype=np.float32)
        left = np.hstack([users, state.parameters["user_bias"][:, None], ones[: len(users)]])
        right = np.hstack([items[:, :-1], ones[: len(items)], items[:, -1:]])
        return Factors(left, right, train, self, offset=mean_of(self, train))

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """The best rows for these pairs (CSR), users against "items" or items against "users"."""
        if self.by_feature:
            return ridge_rows(getattr(fixed, against), pairs, self.reg)
        bias = {"items": -1, "users": -2}[against]  # what the other side brings along; the other one is sought
        return ridge_rows(getattr(fixed, against), pairs, self.reg, bias, fixed.offset)
