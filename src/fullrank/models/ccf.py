"""Collaborative competitive filtering: the chosen item against all that was offered beside it (Yang et al.; S2 2.8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fullrank.errors import DataError
from fullrank.models.bundles import bundles
from fullrank.models.cost_model import CostFactors, seen
from fullrank.models.descent import check_descent
from fullrank.models.model import Floats
from fullrank.models.session_fold import chosen_vectors
from fullrank.models.session_rows import SessionCounts, Sessions, as_sessions, count_sessions
from fullrank.models.session_walks import Walks, begun, check_walk, walked
from fullrank.models.state import State
from fullrank.models.training import Training, supervised


@dataclass(frozen=True)
class CCF:
    """A multinomial logit over every offer set O (S2 Eq. 2.3), one step for every session.

        log sum over i in O of exp(b_ui) - b_ui*  + reg/2 (|p_u|^2 + sum over O of |q_i|^2),   b_ui = <p_u, q_i>

    The chosen i* is the item of the best class. Where that class has several, the loss is the mean over them, a
    generalisation of ours. Sessions of one class have no choice in them and are left out: `counts` tells how many.
    A rating history is a session in which the best rated was chosen. The model has no costs (alpha is 0): the softmax
    of the values of an offer set is the chance of each item to be chosen.

    `by_feature` is S2's procedure: one feature after the other, each for `epochs` passes over the sessions, the later
    ones at 0.1, and a rate that falls to 0.9 of itself with every feature.
    """

    factors: int = 20
    epochs: int = 30
    rate: float = 0.1
    decay: float = 1.0  # of the rate, after every pass
    reg: float = 0.05
    by_feature: bool = False

    decays_by_feature: ClassVar[bool] = True  # as S2 has it for CCF
    in_context: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_descent(self)
        check_walk(self)

    @classmethod
    def as_s2(cls, factors: int = 25, epochs: int = 15, rate: float = 0.01, reg: float = 0.001) -> CCF:
        """One feature at a time, with the numbers of S2 section 6."""
        return cls(factors=factors, epochs=epochs, rate=rate, reg=reg, by_feature=True)

    @property
    def rounds(self) -> int | None:
        """Passes in all, by feature; otherwise they are the epochs."""
        return self.factors * self.epochs if self.by_feature else None

    def counts(self, train: Sessions) -> SessionCounts:
        """How many sessions have a choice in them, and how many have not."""
        return count_sessions(train)

    def fit(self, train: Sessions, seed: int = 0, **training: Any) -> CostFactors:
        """Passes over all sessions; `Training` tells what else can be said."""
        from fullrank.kernels.sessions import choice_walk

        cases, known = as_sessions("CCF", train), seen(train)
        counts = count_sessions(cases)
        if len(known) and not counts.ordered:
            raise DataError(f"CCF: none of {len(cases):,} sessions has a choice in it; give classes that differ.")
        parts = bundles(cases)
        walks = Walks(self, parts, seed, steps=counts.ordered, force=(1.0 + self.reg, 0.0), kernel=choice_walk)
        begin = partial(begun, self, parts, seed)
        return self.model(
            supervised(self, known, seed, Training(**training), begin, partial(walked, self, walks), train), known
        )

    def model(self, state: State, train: Any) -> CostFactors:
        """What a state predicts."""
        alpha = np.zeros(len(state.parameters["users"]), dtype=np.float32)
        return CostFactors(**state.parameters, alpha=alpha, train=train, recipe=self)

    def folded(self, items: Floats, feedback: Sessions) -> tuple[Floats, Floats]:
        """The vectors of new users against fixed items: the best ones for the choices in their sessions, else 0."""
        users = chosen_vectors(items, bundles(as_sessions("CCF", feedback)), self.reg)
        return users, np.zeros(len(users), dtype=np.float32)
