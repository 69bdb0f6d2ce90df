"""Other losses over sampled negatives, on the same model as Gaussian ranking: what Steck 2015 compares it with.

    s_ui = <p_i, v_u>,   v_u = sum over positives j of q_j / sqrt(n_u)

Users are weighted and regularised as in `GaussianRank`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fullrank.models.asymmetric.amf import Goal, HistoryRecipe, check_history
from fullrank.models.positives import Relevant
from fullrank.models.stochastic.samplers import Sampler

NOTHING = np.zeros((2, 2), dtype=np.float32)  # no table


@dataclass(frozen=True)
class SampledNegatives(HistoryRecipe):
    """What these recipes have in common: all but the loss, and how stiff it is against a change of scores."""

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 1e-5
    #: Share of a history that is left out of v_u, anew in every epoch, in [0, 1): more keeps it from learning by heart.
    dropout: float = 0.6
    #: Negatives drawn for every positive, > 0: more tell more of the list and take longer.
    negatives: float = 5.0
    #: How items that stand for the others are drawn: "uniform", by "popularity" (harder to beat), or by a tuple of
    #: weights >= 0, one for each item.
    sampler: Sampler = "uniform"
    #: Users count n_u^-balance, from 0 (every positive counts the same) to 1 (every user does).
    balance: float = 0.5
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.02
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 0.95
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 40
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None

    loss: ClassVar[str]
    stiff: ClassVar[float]

    def __post_init__(self) -> None:
        check_history(self)

    def goal(self, n_items: int) -> Goal:
        """The loss of every positive and its negatives."""
        from fullrank.kernels import sgd_history

        return Goal(getattr(sgd_history, self.loss), NOTHING, self.stiff)


@dataclass(frozen=True)
class SquaredNegatives(SampledNegatives):
    """Squared error with sampled negatives, which tell more the more of them there are.

    1/2 (s_ui - 1)^2  of positives,   1/2 s_uj^2  of negatives
    """

    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.01

    loss: ClassVar[str] = "SQUARED"
    stiff: ClassVar[float] = 1.0


@dataclass(frozen=True)
class SoftmaxNegatives(SampledNegatives):
    """Cross entropy of each positive and its own sampled negatives, which stand for all N - n_u.

    - log( exp s_ui / (exp s_ui + (N - n_u)/m sum over its m negatives j of exp s_uj) )
    """

    loss: ClassVar[str] = "SOFTMAX"
    stiff: ClassVar[float] = 0.25


@dataclass(frozen=True)
class HistoryBPR(SampledNegatives):
    """BPR where a person is what they did: positives above sampled negatives, pair by pair.

    - log sigma(s_ui - s_uj)
    """

    loss: ClassVar[str] = "PAIRS"
    stiff: ClassVar[float] = 0.25
