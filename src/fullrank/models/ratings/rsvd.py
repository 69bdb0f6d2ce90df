"""Ratings as inner products, by stochastic gradient descent: Funk's regularised SVD, and with biases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from fullrank.arrays import Csr, Floats
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.factors import Factors, FoldParts, SideName
from fullrank.models.ratings.epochs import FeatureRecipe, check_predictor, make_epoch, mean_of, start
from fullrank.models.ratings.ridge import ridge_parts, ridge_rows
from fullrank.models.training.state import Parameters, Rounds


@dataclass(frozen=True)
class RSVD(FeatureRecipe[Factors]):
    """Regularised SVD of the observed ratings (Funk; Ackerman 2012, Eq. 2.1), all features at once and with biases.

        sum over ratings of  (r - r^)^2 + reg (b_u^2 + b_i^2 + |p_u|^2 + |q_i|^2),   r^ = mu + b_u + b_i + <p_u, q_i>

    `by_feature` is Funk's own way, as Ackerman 2012 ran it: r^ = <p_u, q_i>, with the later features still at `init`.
    `RSVD.as_funk()` has the published numbers.

    Users are taken in batches of a size that depends on data and rate; within a batch they see the same items.
    Somebody new gets the ridge regression of their ratings, and so does a new item.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 100
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 40
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.01
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 1.0
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.08
    #: Standard deviation of the first vectors, not 0: smaller starts are slower. By feature their value.
    init: float = 0.1
    #: Whether one feature is learned after the other, `epochs` passes each: slower, to repeat published numbers.
    by_feature: bool = False

    def __post_init__(self) -> None:
        check_predictor(self)

    @classmethod
    def as_funk(cls, factors: int = 25, epochs: int = 15, rate: float = 0.001, reg: float = 0.02) -> RSVD:
        """One feature at a time without biases: the numbers of Ackerman 2012, section 6, from 0.1 everywhere."""
        return cls(factors=factors, epochs=epochs, rate=rate, reg=reg, by_feature=True)

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Passes over all ratings, from small vectors and no biases."""
        return self.rounds(partial(start, self, train, seed), make_epoch(self, train, seed))

    def model(self, parameters: Parameters, train: Interactions) -> Factors:
        """<[p_u, b_u, 1], [q_i, 1, b_i]> + mu: biases are columns, so that `update` finds them too."""
        users, items = parameters["users"], parameters["items"]
        if self.by_feature:
            return Factors(users, items, train, self)
        ones = np.ones((max(len(users), len(items)), 1), dtype=np.float32)
        left = np.hstack([users, parameters["user_bias"][:, None], ones[: len(users)]])
        right = np.hstack([items[:, :-1], ones[: len(items)], items[:, -1:]])
        return Factors(left, right, train, self, offset=mean_of(self, train))

    def bias_columns(self) -> int:
        """1 and b_i of an item."""
        return 0 if self.by_feature else 2

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """The best rows for these pairs, users against "items" or items against "users"."""
        if self.by_feature:
            return ridge_rows(fixed.side(against), pairs, self.reg)
        bias = {"items": -1, "users": -2}[against]  # what the other side brings along; the other one is sought
        return ridge_rows(fixed.side(against), pairs, self.reg, bias, fixed.offset)

    def fold_parts(self, fixed: Factors, item: int, pairs: Csr) -> FoldParts:
        """What each of the pairs of somebody (one row) adds to the score of an item; and the item's bias."""
        if self.by_feature:
            return FoldParts(ridge_parts(fixed.items, pairs, self.reg, item))
        return FoldParts(
            ridge_parts(fixed.items, pairs, self.reg, item, -1, fixed.offset), float(fixed.items[item, -1])
        )
