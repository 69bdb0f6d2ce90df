"""Collaborative competitive filtering: the chosen item against all others offered (Yang et al.; Ackerman 2012, 2.8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from fullrank.arrays import Floats
from fullrank.data.feedback import Feedback
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.comparisons import comparisons
from fullrank.models.preferences.session_fold import chosen_vectors
from fullrank.models.preferences.session_passes import SessionPass, SessionRecipe, check_sessions, make_epoch, start
from fullrank.models.preferences.sessions import Sessions, as_sessions, count_sessions
from fullrank.models.training.state import Parameters, Rounds


@dataclass(frozen=True)
class CCF(SessionRecipe):
    """A multinomial logit over every offer set O (Ackerman 2012, Eq. 2.3), one step for every session.

        log sum over i in O of exp(b_ui) - b_ui*  + reg/2 (|p_u|^2 + sum over O of |q_i|^2),   b_ui = <p_u, q_i>

    The chosen i* is the item of the best class. Where that class has several, the loss is the mean over them, a
    generalisation of ours. Sessions of one class have no choice in them and are left out: `counts` tells how many.
    A rating history is a session in which the best rated was chosen. The model has no costs (alpha is 0): the softmax
    of the values of an offer set is the chance of each item to be chosen.

    `by_feature` is the procedure of Ackerman 2012: later features at 0.1, and a rate that falls to 0.9 of itself with
    every feature.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 20
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 30
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.1
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 1.0
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    #: Below 1 / rate.
    reg: float = 0.05
    #: Whether one feature is learned after the other, `epochs` passes each: slower, to repeat published numbers.
    by_feature: bool = False

    decays_by_feature: ClassVar[bool] = True  # as Ackerman 2012 has it for CCF

    def __post_init__(self) -> None:
        check_sessions(self)

    @classmethod
    def as_ackerman(cls, factors: int = 25, epochs: int = 15, rate: float = 0.01, reg: float = 0.001) -> CCF:
        """One feature at a time, with the numbers of Ackerman 2012, section 6."""
        return cls(factors=factors, epochs=epochs, rate=rate, reg=reg, by_feature=True)

    def prepare(self, train: Sessions, seed: int) -> Rounds:
        """Passes over all sessions."""
        from fullrank.kernels.sgd_sessions import descend_choices

        cases = as_sessions("CCF", train)
        ordered = count_sessions(cases).ordered
        if not ordered:
            raise DataError(f"CCF: none of {len(cases):,} sessions has a choice in it; give classes that differ.")
        parts = comparisons(cases)
        sessions = SessionPass(self, parts, seed, steps=ordered, force=(1.0 + self.reg, 0.0), kernel=descend_choices)
        return self.rounds(partial(start, self, parts, seed), make_epoch(self, sessions))

    def model(self, parameters: Parameters, train: Interactions) -> CostFactors:
        """What a state predicts."""
        alpha = np.zeros(len(parameters["users"]), dtype=np.float32)
        return CostFactors(parameters["users"], parameters["items"], alpha, train, self)

    def fold(self, items: Floats, feedback: Feedback) -> tuple[Floats, Floats]:
        """The vectors of new users against fixed items: the best ones for the choices in their sessions, else 0."""
        users = chosen_vectors(items, comparisons(as_sessions("CCF", feedback)), self.reg)
        return users, np.zeros(len(users), dtype=np.float32)
