"""SVD++: ratings from a user's own vector and from which items they rated (Koren 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fullrank.data.interactions import Interactions
from fullrank.models.descent import Epoch, descended
from fullrank.models.model import HistoryFactors
from fullrank.models.rating_epochs import check_predictor, epoch_of, mean_of, started
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training


@dataclass(frozen=True)
class SVDpp:
    """Regularised squared error of ratings r^ by vectors, biases and histories, all features at once.

        r^ = mu + b_u + b_i + <q_i, p_u + n^-1/2 sum over u's n items j of y_j>
        loss = (r - r^)^2 + reg (b_u^2 + b_i^2 + |q_i|^2 + |p_u|^2 + sum over u's items j of |y_j|^2) for every rating

    All y_j of a user are pulled alike, so a walk through their ratings moves the sum and is told to every y_j once: an
    epoch is linear in the ratings, and the same steps as if each rating had changed every y_j.
    `by_feature` is how S2 ran it: no biases, one feature after the other, `epochs` passes each; y starts at 0 there.
    `SVDpp.as_funk()` has S2's numbers. Users are taken in batches, as in `RSVD`.

    Somebody new is the sum of what they rated, without a vector or bias of their own; the values do not count.
    """

    factors: int = 20
    epochs: int = 30
    rate: float = 0.007
    decay: float = 1.0  # of the rate, after every pass
    reg: float = 0.06
    init: float = 0.1  # standard deviation of the first vectors; by feature their value
    by_feature: bool = False

    def __post_init__(self) -> None:
        check_predictor(self)

    @classmethod
    def as_funk(cls, factors: int = 25, epochs: int = 15, rate: float = 0.001, reg: float = 0.02) -> SVDpp:
        """One feature at a time without biases: the numbers of S2 section 6."""
        return cls(factors=factors, epochs=epochs, rate=rate, reg=reg, by_feature=True)

    @property
    def rounds(self) -> int | None:
        """Passes in all, by feature; otherwise they are the epochs, and a longer fit can go on from a checkpoint."""
        return self.factors * self.epochs if self.by_feature else None

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> HistoryFactors:
        """Epoch after epoch; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small vectors, no biases."""
        return started(self, train, seed, history=True)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """A pass over all ratings."""
        return epoch_of(self, train, seed, history=True)

    def model(self, state: State, train: Interactions) -> HistoryFactors:
        """What a state of training predicts."""
        users, items, history = (state.parameters[name] for name in ("users", "items", "history"))
        if self.by_feature:
            return HistoryFactors(items, history, train, self, users)
        bias = {"bias": items[:, -1], "user_bias": state.parameters["user_bias"]}
        return HistoryFactors(items[:, :-1], history, train, self, users, **bias, offset=mean_of(self, train))
