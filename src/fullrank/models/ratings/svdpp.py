"""SVD++: ratings from a user's own vector and from which items they rated (Koren 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fullrank.data.interactions import Interactions
from fullrank.models.kinds.history_factors import HistoryFactors
from fullrank.models.ratings.epochs import FeatureRecipe, check_predictor, make_epoch, mean_of, start
from fullrank.models.training.state import Parameters, Rounds


@dataclass(frozen=True)
class SVDpp(FeatureRecipe[HistoryFactors]):
    """Regularised squared error of ratings r^ by vectors, biases and histories, all features at once.

        r^ = mu + b_u + b_i + <q_i, p_u + n^-1/2 sum over u's n items j of y_j>
        loss = (r - r^)^2 + reg (b_u^2 + b_i^2 + |q_i|^2 + |p_u|^2 + sum over u's items j of |y_j|^2) for every rating

    All y_j of a user are pulled alike, so a pass through their ratings moves the sum and is told to every y_j once: an
    epoch is linear in the ratings, and the same steps as if each rating had changed every y_j.
    `by_feature` is how Ackerman 2012 ran it, without biases; y starts at 0 there. `SVDpp.as_funk()` has the published
    numbers. Users are taken in batches, as in `RSVD`.

    Somebody new is the sum of what they rated, without a vector or bias of their own; the values do not count.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 20
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 30
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.007
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 1.0
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.06
    #: Standard deviation of the first vectors, not 0: smaller starts are slower. By feature their value.
    init: float = 0.1
    #: Whether one feature is learned after the other, `epochs` passes each: slower, to repeat published numbers.
    by_feature: bool = False

    def __post_init__(self) -> None:
        check_predictor(self)

    @classmethod
    def as_funk(cls, factors: int = 25, epochs: int = 15, rate: float = 0.001, reg: float = 0.02) -> SVDpp:
        """One feature at a time without biases: the numbers of Ackerman 2012, section 6."""
        return cls(factors=factors, epochs=epochs, rate=rate, reg=reg, by_feature=True)

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Passes over all ratings, from small vectors and no biases."""
        return self.rounds(partial(start, self, train, seed, history=True), make_epoch(self, train, seed, history=True))

    def model(self, parameters: Parameters, train: Interactions) -> HistoryFactors:
        """What a state of training predicts."""
        users, items, history = (parameters[name] for name in ("users", "items", "history"))
        if self.by_feature:
            return HistoryFactors(items, history, train, self, users)
        bias = {"bias": items[:, -1], "user_bias": parameters["user_bias"]}
        return HistoryFactors(items[:, :-1], history, train, self, users, **bias, offset=mean_of(self, train))
