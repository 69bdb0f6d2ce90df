"""OrdRec: ratings as levels of an ordinal scale, which every user stretches in their own way (Koren and Sill 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.models.descent import Epoch, check_descent, descended
from fullrank.models.model import Floats
from fullrank.models.rating_epochs import first_vectors, summed
from fullrank.models.rating_ordinal import Doubles, OrdinalFactors
from fullrank.models.rating_walks import Parts, Walks, batch_size, ratings
from fullrank.models.rating_weights import learned_weights
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training

MOST_LEVELS = 100


@dataclass(frozen=True)
class OrdRec:
    """The likelihood of levels 1 .. S, which are the distinct ratings in their order; no distance between them counts.

        P(r_ui <= s) = sigma(t_us - y_ui),   y_ui = b_i + <p_u, q_i>,   t_u,s+1 = t_us + exp(beta_us)
        loss = -log P(r_ui) + reg/2 (|p_u|^2 + |q_i|^2 + b_i^2 + |t_u1 - t_1|^2 + |beta_u - beta|^2) for every rating

    t_1 and beta are where everybody starts: the thresholds that give all ratings together their shares. `implicit` adds
    to p_u what SVD++ does, n^-1/2 times the sum of y_j over the user's items.

    Items are ranked by the expected value ("mean"), or by a sum of the probabilities with "weights" learned from pairs
    of a user's items in the training data: the least  sum of log(1 + exp(-w (P_i - P_j)))  over i rated above j.
    Users are taken in batches, as in `RSVD`.
    """

    factors: int = 20
    epochs: int = 30
    rate: float = 0.02
    decay: float = 1.0  # of the rate, after every epoch
    reg: float = 0.05
    init: float = 0.1  # standard deviation of the first vectors
    implicit: bool = False
    rank_by: Literal["mean", "weights"] = "mean"

    def __post_init__(self) -> None:
        check_descent(self)
        check("init", self.init, is_number(self.init) and 0 < abs(self.init) < np.inf, "a number other than 0")
        check("implicit", self.implicit, isinstance(self.implicit, bool), "True or False")
        check("rank_by", self.rank_by, self.rank_by in ("mean", "weights"), "'mean' or 'weights'")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> OrdinalFactors:
        """Epoch after epoch; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small vectors, no biases, everybody with the common thresholds as t_1, beta_1, beta_2, .."""
        thresholds = np.tile(self._common(train)[1], (train.n_users, 1))
        return first_vectors(self, train, seed, self.implicit) | {"thresholds": thresholds}

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """A pass over all ratings."""
        levels, common = self._common(train)
        level = np.searchsorted(levels, ratings(self, train))
        walks = Walks.of(train, level, seed, batch_size(train, self.rate, 1.0, history=self.implicit))
        return lambda parameters, number, rate: walks.once(Parts.of(parameters), number, rate, self.reg, common)

    def model(self, state: State, train: Interactions) -> OrdinalFactors:
        """What a state of training predicts."""
        found, (levels, common) = state.parameters, self._common(train)
        users, items, history = found["users"], found["items"], found.get("history")
        made = OrdinalFactors(
            users if history is None else users + summed(train, history), items[:, :-1], items[:, -1],
            rising(found["thresholds"]), rising(common), levels, levels, train, self, history,
        )  # fmt: skip
        return made if self.rank_by == "mean" else learned_weights(made)

    def _common(self, train: Interactions) -> tuple[Floats, Floats]:
        """The levels, and the t_1 and betas whose distribution is that of all ratings."""
        levels, counts = np.unique(ratings(self, train), return_counts=True)
        if not 2 <= len(levels) <= MOST_LEVELS:
            found = f"there are {len(levels):,} different ones; give 2 to {MOST_LEVELS}"
            raise DataError(f"OrdRec needs ratings on a scale of levels: {found}.")
        share = np.cumsum(counts)[:-1] / counts.sum()
        thresholds: Doubles = np.log(share) - np.log1p(-share)
        return levels, np.append(thresholds[:1], np.log(np.diff(thresholds))).astype(np.float32)


def rising(steps: Floats) -> Floats:
    """Thresholds from t_1 and the logarithms of their distances."""
    moves = np.exp(steps.astype(np.float64))
    moves[..., 0] = steps[..., 0]
    return np.cumsum(moves, axis=-1).astype(np.float32)
