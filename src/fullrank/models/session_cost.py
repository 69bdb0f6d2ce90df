"""What an item is worth beside what else is offered: opportunity cost in context (S2 chapter 4, SPW)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from fullrank.data.graded import Graded
from fullrank.errors import DataError, check
from fullrank.models.bundles import Bundles, bundles
from fullrank.models.cost_model import CostFactors, seen
from fullrank.models.descent import check_descent
from fullrank.models.model import Floats
from fullrank.models.session_fold import valued_vectors
from fullrank.models.session_rows import (
    Gaps,
    SessionCounts,
    Sessions,
    as_sessions,
    class_gaps,
    count_sessions,
    in_bundles,
    item_gaps,
    silent_sessions,
)
from fullrank.models.session_walks import Walks, begun, check_walk, walked
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training, supervised


@dataclass(frozen=True)
class SessionCost:
    """The value of an item among those offered with it, by a step for every item of a session (SPW; S2 Table 4.2).

        r_ui|s = b_ui + alpha_u / (|O| - 1) sum over j in O, j != i, of b_uj,   b_ui = <p_u, q_i>
        sum over i in O of  (t_i - r_ui|s)^2 / 2 + reg/2 (|p_u|^2 + alpha_u^2 + sum over O of |q|^2)

    The targets t lie on [0, 1], 1 for the best class of a session and 0 for the worst, with gaps between them that are
    learned for every user, start equal and stay positive: exp(g), where g is drawn to 0 by `reg` and moves after the
    items of a session. `targets="classes"` has a gap from each class to the next (SPW-OPT1; Eq. 4.10 with the sum
    ending a class earlier, else the best class is not at 1); "items" one between any two items of adjacent classes,
    with the means of Eq. 4.14 (SPW-OPT2). "heaviside" (SPW-HVS) has no targets: an item's error is the number of lower
    ones ranked at or above it less that of higher ones at or below it. It may grow beyond bounds: an error then.

    Sessions of one class have no order and are left out; with `silent="negative"` those in which nothing was done, all
    items having the lowest grade of the scale or of the data, have the target 0 throughout. An item offered alone has
    no cost. `counts` tells how many there are. `by_feature` is S2's procedure: one feature after the other, each for
    `epochs` passes, the later ones at 0.1. Somebody new has equal gaps, and the least squares of `folded`.
    """

    factors: int = 20
    epochs: int = 30
    rate: float = 0.1
    decay: float = 0.95  # of the rate, after every pass
    reg: float = 0.01
    targets: Literal["classes", "items", "heaviside"] = "classes"
    silent: Literal["ignore", "negative"] = "ignore"
    by_feature: bool = False

    decays_by_feature: ClassVar[bool] = False
    in_context: ClassVar[bool] = True  # without one, an item is worth its benefit

    def __post_init__(self) -> None:
        check_descent(self)
        check_walk(self)
        known = ("classes", "items", "heaviside")
        check("targets", self.targets, self.targets in known, "'classes', 'items' or 'heaviside'")
        check("silent", self.silent, self.silent in ("ignore", "negative"), "'ignore' or 'negative'")
        told = self.silent == "ignore" or self.targets != "heaviside"
        check("silent", self.silent, told, "'ignore' where targets='heaviside': without targets there is no 0")

    @classmethod
    def as_s2(cls, factors: int = 25, epochs: int = 15, rate: float = 0.009, reg: float = 0.007) -> SessionCost:
        """One feature at a time, with the numbers of S2 section 6 for SPW-OPT1."""
        return cls(factors=factors, epochs=epochs, rate=rate, decay=1.0, reg=reg, by_feature=True)

    @property
    def rounds(self) -> int | None:
        """Passes in all, by feature; otherwise they are the epochs."""
        return self.factors * self.epochs if self.by_feature else None

    def counts(self, train: Sessions) -> SessionCounts:
        """How many sessions have an order, how many have none, and in how many nothing was done."""
        return count_sessions(train)

    def fit(self, train: Sessions, seed: int = 0, **training: Any) -> CostFactors:
        """Passes over all sessions; `Training` tells what else can be said."""
        from fullrank.kernels.sessions import value_walk

        cases, known = as_sessions("SessionCost", train), seen(train)
        parts, used = bundles(cases), self._used(cases)
        if len(known) and not used.any():
            raise DataError(f"SessionCost: none of {len(cases):,} sessions has an order; give classes that differ.")
        gaps = self._gaps(parts)
        counting = self.targets == "heaviside"
        fixed = in_bundles(cases, used), gaps.place, gaps.pair, counting, self.targets == "items"
        walks = Walks(
            self, parts, seed, kernel=value_walk,
            steps=parts.pairs if counting else int(np.diff(cases.start)[used].sum()),
            force=(0.0, 1.0 + self.reg) if counting else (1.0, self.reg),
            extra=lambda parameters: (*fixed, parameters["alpha"], parameters["gaps"]),
        )  # fmt: skip
        begin, run = partial(self._begun, parts, gaps, seed), partial(walked, self, walks)
        return self.model(supervised(self, known, seed, Training(**training), begin, run, train), known)

    def model(self, state: State, train: Any) -> CostFactors:
        """What a state predicts."""
        users, items, alpha = (state.parameters[name] for name in ("users", "items", "alpha"))
        return CostFactors(users, items, alpha, train, self)

    def folded(self, items: Floats, feedback: Sessions) -> tuple[Floats, Floats]:
        """The vectors and alphas of new users against fixed items: least squares towards targets with equal gaps."""
        cases = as_sessions("SessionCost", feedback)
        used = self._used(cases, new=True)
        return valued_vectors(items, bundles(cases), in_bundles(cases, used), self.reg)

    def _used(self, cases: Graded, *, new: bool = False) -> Any:
        """Which sessions count; of somebody new without a scale, one class may as well be liked as not."""
        ordered = cases.count_pairs() > 0
        if self.silent == "ignore" or (new and cases.scale is None):
            return ordered
        return ordered | silent_sessions(cases)

    def _gaps(self, parts: Bundles) -> Gaps:
        return item_gaps(parts) if self.targets == "items" else class_gaps(parts)

    def _begun(self, parts: Bundles, gaps: Gaps, seed: int) -> Parameters:
        """Benefits of 1/2 and no costs, all gaps equal; by feature S2's own."""
        sizes = {"alpha": len(parts.by_user.start) - 1, "gaps": gaps.many}
        more = {name: np.zeros(size, dtype=np.float32) for name, size in sizes.items()}
        return begun(self, parts, seed) | more
