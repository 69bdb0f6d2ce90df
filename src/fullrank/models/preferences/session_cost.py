"""What an item is worth beside what else is offered: opportunity cost in context (Ackerman 2012, chapter 4, SPW)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from fullrank.arrays import Bools, Floats
from fullrank.data.feedback import Feedback
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.comparisons import Comparisons, comparisons
from fullrank.models.preferences.session_fold import valued_vectors
from fullrank.models.preferences.session_passes import SessionPass, SessionRecipe, check_sessions, make_epoch, start
from fullrank.models.preferences.sessions import (
    Gaps,
    Sessions,
    as_sessions,
    class_gaps,
    in_comparisons,
    item_gaps,
    silent_sessions,
)
from fullrank.models.training.state import Parameters, Rounds


@dataclass(frozen=True)
class SessionCost(SessionRecipe):
    """The value of an item among those offered with it, by a step for every item of it (SPW; Ackerman 2012, Table 4.2).

        r_ui|s = b_ui + alpha_u / (|O| - 1) sum over j in O, j != i, of b_uj,   b_ui = <p_u, q_i>
        sum over i in O of  (t_i - r_ui|s)^2 / 2 + reg/2 (|p_u|^2 + alpha_u^2 + sum over O of |q|^2)

    The targets t lie on [0, 1], 1 for the best class of a session and 0 for the worst, with gaps between them that are
    learned for every user, start equal and stay positive: exp(g), where g is drawn to 0 by `reg` and moves after the
    items of a session. Those between classes are Eq. 4.10 with the sum ending a class earlier, else the best class is
    not at 1; those between items have the means of Eq. 4.14. Without targets ("heaviside") an item's error is the
    number of lower ones ranked at or above it less that of higher ones at or below it. It may grow beyond bounds: an
    error then.

    Sessions of one class have no order and are left out, but for those in which nothing was done, where `silent` says
    so: all their items have the lowest grade of the scale or of the data. An item offered alone has no cost. `counts`
    tells how many there are. `by_feature` is the procedure of Ackerman 2012, with later features at 0.1. Somebody new
    has equal gaps, and the least squares of `session_fold`.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 20
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 30
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.1
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 0.95
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    #: Below 1 / rate.
    reg: float = 0.01
    #: What values are drawn to: a gap from each class to the next ("classes", SPW-OPT1), one between any two items of
    #: adjacent classes ("items", SPW-OPT2), or no targets ("heaviside", SPW-HVS).
    targets: Literal["classes", "items", "heaviside"] = "classes"
    #: Whether sessions in which nothing was done are left out ("ignore"), or all of their items have the target 0
    #: ("negative").
    silent: Literal["ignore", "negative"] = "ignore"
    #: Whether one feature is learned after the other, `epochs` passes each: slower, to repeat published numbers.
    by_feature: bool = False

    def __post_init__(self) -> None:
        check_sessions(self)
        known = ("classes", "items", "heaviside")
        check("targets", self.targets, self.targets in known, "'classes', 'items' or 'heaviside'")
        check("silent", self.silent, self.silent in ("ignore", "negative"), "'ignore' or 'negative'")
        fits = self.silent == "ignore" or self.targets != "heaviside"
        check("silent", self.silent, fits, "'ignore' where targets='heaviside': without targets there is no 0")

    @classmethod
    def as_ackerman(cls, factors: int = 25, epochs: int = 15, rate: float = 0.009, reg: float = 0.007) -> SessionCost:
        """One feature at a time, with the numbers of Ackerman 2012, section 6 for SPW-OPT1."""
        return cls(factors=factors, epochs=epochs, rate=rate, decay=1.0, reg=reg, by_feature=True)

    def prepare(self, train: Sessions, seed: int) -> Rounds:
        """Passes over all sessions."""
        from fullrank.kernels.sgd_sessions import descend_values

        cases = as_sessions("SessionCost", train)
        parts, used = comparisons(cases), self._used(cases)
        if not used.any():
            raise DataError(f"SessionCost: none of {len(cases):,} sessions has an order; give classes that differ.")
        gaps = self._gaps(parts)
        counting = self.targets == "heaviside"
        fixed = in_comparisons(cases, used), gaps.place, gaps.pair, counting, self.targets == "items"
        sessions = SessionPass(
            self, parts, seed, kernel=descend_values,
            steps=parts.pairs if counting else int(np.diff(cases.start)[used].sum()),
            force=(0.0, 1.0 + self.reg) if counting else (1.0, self.reg),
            extra=lambda parameters: (*fixed, parameters["alpha"], parameters["gaps"]),
        )  # fmt: skip
        return self.rounds(partial(self._start, parts, gaps, seed), make_epoch(self, sessions))

    def model(self, parameters: Parameters, train: Interactions) -> CostFactors:
        """What a state predicts."""
        return CostFactors(parameters["users"], parameters["items"], parameters["alpha"], train, self)

    def fold(self, items: Floats, feedback: Feedback) -> tuple[Floats, Floats]:
        """The vectors and alphas of new users against fixed items: least squares towards targets with equal gaps."""
        cases = as_sessions("SessionCost", feedback)
        used = self._used(cases, new=True)
        return valued_vectors(items, comparisons(cases), in_comparisons(cases, used), self.reg)

    def _used(self, cases: Graded, *, new: bool = False) -> Bools:
        """Which sessions count; of somebody new without a scale, one class may as well be liked as not."""
        ordered = cases.count_pairs() > 0
        if self.silent == "ignore" or (new and cases.scale is None):
            return ordered
        return ordered | silent_sessions(cases)

    def _gaps(self, parts: Comparisons) -> Gaps:
        return item_gaps(parts) if self.targets == "items" else class_gaps(parts)

    def _start(self, parts: Comparisons, gaps: Gaps, seed: int) -> Parameters:
        """Benefits of 1/2 and no costs, all gaps equal; by feature Ackerman's own."""
        sizes = {"alpha": len(parts.by_user.start) - 1, "gaps": gaps.many}
        more = {name: np.zeros(size, dtype=np.float32) for name, size in sizes.items()}
        return start(self, parts, seed) | more
