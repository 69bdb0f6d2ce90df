"""OrdRec: ratings as levels of an ordinal scale, which every user stretches in their own way (Koren and Sill 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fullrank.arrays import Doubles, Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.ratings.epochs import RatingRecipe, first_vectors, summed
from fullrank.models.ratings.level_weights import learned_weights
from fullrank.models.ratings.passes import Parts, RatingPass, batch_size, ratings
from fullrank.models.stochastic.descent import check_descent
from fullrank.models.training.state import Parameters, Rounds

MOST_LEVELS = 100


@dataclass(frozen=True)
class OrdRec(RatingRecipe[OrdinalFactors]):
    """The likelihood of levels 1 .. S, which are the distinct ratings in their order; no distance between them counts.

        P(r_ui <= s) = sigma(t_us - y_ui),   y_ui = b_i + <p_u, q_i>,   t_u,s+1 = t_us + exp(beta_us)
        loss = -log P(r_ui) + reg/2 (|p_u|^2 + |q_i|^2 + b_i^2 + |t_u1 - t_1|^2 + |beta_u - beta|^2) for every rating

    t_1 and beta are where everybody starts: the thresholds that give all ratings together their shares. Weights to rank
    by are learned from pairs of a user's items in training: the least  sum of log(1 + exp(-w (P_i - P_j)))  over i
    rated above j.
    Users are taken in batches, as in `RSVD`.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 20
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 30
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.02
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 1.0
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.05
    #: Standard deviation of the first vectors, not 0: smaller starts are slower.
    init: float = 0.1
    #: Whether which items somebody rated adds to p_u, as in SVD++: n^-1/2 times the sum of y_j over them.
    implicit: bool = False
    #: What items are ranked by: the expected value ("mean"), or a sum of probabilities with learned "weights".
    rank_by: Literal["mean", "weights"] = "mean"

    def __post_init__(self) -> None:
        check_descent(self)
        check("init", self.init, is_number(self.init) and 0 < abs(self.init) < np.inf, "a number other than 0")
        check("implicit", self.implicit, isinstance(self.implicit, bool), "True or False")
        check("rank_by", self.rank_by, self.rank_by in ("mean", "weights"), "'mean' or 'weights'")

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Passes over all ratings; small vectors, no biases, everybody with the common thresholds as t_1, beta_1, .."""
        levels, common = self._common(train)
        level = np.searchsorted(levels, ratings(self, train))
        passes = RatingPass.of(train, level, seed, batch_size(train, self.rate, 1.0, history=self.implicit))

        def start() -> Parameters:
            thresholds = np.tile(common, (train.n_users, 1))
            return first_vectors(self, train, seed, self.implicit) | {"thresholds": thresholds}

        return self.rounds(
            start, lambda parameters, number, rate: passes.run(Parts.of(parameters), number, rate, self.reg, common)
        )

    def model(self, parameters: Parameters, train: Interactions) -> OrdinalFactors:
        """What a state of training predicts."""
        levels, common = self._common(train)
        users, items, history = parameters["users"], parameters["items"], parameters.get("history")
        made = OrdinalFactors(
            users if history is None else users + summed(train, history), items[:, :-1], items[:, -1],
            rising(parameters["thresholds"]), rising(common), levels, levels, train, self, history,
        )  # fmt: skip
        return made if self.rank_by == "mean" else learned_weights(made)

    def _common(self, train: Interactions) -> tuple[Floats, Floats]:
        """The levels, and the t_1 and betas whose distribution is that of all ratings."""
        levels, counts = np.unique(ratings(self, train), return_counts=True)
        if not 2 <= len(levels) <= MOST_LEVELS:
            raise DataError(
                f"OrdRec needs ratings on a scale of levels: there are {len(levels):,} different ones; give 2 to "
                f"{MOST_LEVELS}."
            )
        share = np.cumsum(counts)[:-1] / counts.sum()
        thresholds: Doubles = np.log(share) - np.log1p(-share)
        return levels, np.append(thresholds[:1], np.log(np.diff(thresholds))).astype(np.float32)


def rising(steps: Floats) -> Floats:
    """Thresholds from t_1 and the logarithms of their distances."""
    moves = np.exp(steps.astype(np.float64))
    moves[..., 0] = steps[..., 0]
    return np.cumsum(moves, axis=-1).astype(np.float32)
