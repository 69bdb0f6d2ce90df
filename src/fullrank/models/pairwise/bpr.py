"""Bayesian personalised ranking: a relevant item above any other, by the logistic likelihood of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import check
from fullrank.models.pairwise.blocks import PairRecipe, Pairs
from fullrank.models.positives import Relevant, check_relevant
from fullrank.models.stochastic.descent import check_descent
from fullrank.models.stochastic.samplers import Sampler, check_sampler


@dataclass(frozen=True)
class BPR(PairRecipe):
    """A relevant item i of a user above an item j that is none of theirs (Rendle et al.).

        - log sigma(f(i) - f(j)) + reg/2 (|p_u|^2 + |q_i|^2 + |q_j|^2),   f(u, i) = <p_u, q_i> + b_i

    An epoch visits every relevant item once, each with one j.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 64
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.01
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.2
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 0.95
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 40
    #: Whether items have a bias b_i, which learns how popular they are.
    bias: bool = True
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: How items that stand for all others are drawn: "uniform", by "popularity" (harder to beat), or by a tuple of
    #: weights >= 0, one for each item.
    sampler: Sampler = "uniform"

    def __post_init__(self) -> None:
        check_descent(self)
        check_relevant(self)
        check_sampler("sampler", self.sampler)
        check("bias", self.bias, isinstance(self.bias, bool), "True or False")

    def pairs(self, train: Interactions) -> Pairs:
        """sigma(-x) as the weight of a step, items of the user's own left out."""
        return Pairs(0.0, True, np.zeros(0, dtype=np.float32), self.reg, self.bias, self.sampler)
