"""Bayesian personalised ranking: a relevant item above any other, by the logistic likelihood of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import check
from fullrank.models.descent import Epoch, check_descent, check_relevant, descended, positives
from fullrank.models.model import Factors, Floats
from fullrank.models.pairwise import Pairs, begin, epochs, folded, with_bias
from fullrank.models.samplers import Sampler, check_sampler
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training


@dataclass(frozen=True)
class BPR:
    """A relevant item i of a user above an item j that is none of theirs (Rendle et al.).

        - log sigma(f(i) - f(j)) + reg/2 (|p_u|^2 + |q_i|^2 + |q_j|^2),   f(u, i) = <p_u, q_i> + b_i

    An epoch visits every relevant item once, each with one j: drawn uniformly, by "popularity", or by given weights.
    """

    factors: int = 64
    reg: float = 0.01
    rate: float = 0.2
    decay: float = 0.95
    epochs: int = 40
    bias: bool = True
    relevant: float | None = None
    sampler: Sampler = "uniform"

    def __post_init__(self) -> None:
        check_descent(self)
        check_relevant(self)
        check_sampler("sampler", self.sampler)
        check("bias", self.bias, isinstance(self.bias, bool), "True or False")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal vectors."""
        return begin(train, self.factors, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Every relevant item of everybody once."""
        return epochs(positives(self, train), self.pairs(), seed)

    def pairs(self) -> Pairs:
        """sigma(-x) as the weight of a step, items of the user's own left out."""
        return Pairs(0.0, True, np.zeros(0, dtype=np.float32), self.reg, self.bias, self.sampler)

    def model(self, state: State, train: Interactions) -> Factors:
        """What a state predicts."""
        return with_bias(state.parameters, train, self)

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """Rows for these pairs (CSR) by the same steps, users against "items" or items against "users"."""
        return folded(self, fixed, against, pairs, self.pairs())
