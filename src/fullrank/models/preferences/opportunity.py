"""What an item is worth when another is given up: opportunity cost, globally (Ackerman 2012, chapter 3, GPW)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from fullrank.arrays import Floats, row_blocks
from fullrank.data.feedback import Feedback
from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError, check, check_integer, is_number
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.comparisons import Comparisons, comparisons
from fullrank.models.preferences.features import make_pass
from fullrank.models.preferences.features import start as first
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.training.state import Length, Parameters, Rounds
from fullrank.runtime.threads import in_parallel, one_blas_thread, team

CHUNK = 64  # items whose matrices are kept at a time
AT_ONCE = 8  # of them in a part of the work
USERS = 64  # in a part of the work
FOLD = 20  # turns of vector and alpha of somebody new


@dataclass(frozen=True)
class OpportunityCost(IterativeRecipe[Feedback, CostFactors]):
    """The value of item i when j is given up, by least squares over all pairs that a user has ordered (GPW-OPT).

        r_ui|j = b_ui + alpha_u b_uj,   b_ui = <p_u, q_i>
        sum over i > j of  (1 - r_ui|j)^2 + (0 - r_uj|i)^2  + 2 reg (|p_u|^2 + alpha_u^2 + |q_i|^2 + |q_j|^2)

    i is predicted before j where r_ui|j > r_uj|i, that is (1 - alpha_u)(b_ui - b_uj) > 0: never a cycle, and the order
    of (1 - alpha_u) b_ui, which is the score. Ratings, sessions and preferences of any shape can be fitted. Each sweep
    finds the best item after item, then the best vector and alpha of every user, in time linear in the ratings.

    `solver="sgd"` is the procedure of Ackerman 2012, two steps for every preference; `solver="heaviside"` is GPW-HVS,
    one step of size 1 where a preference is violated, which has nothing to converge to and may grow beyond bounds: it
    then stops with an error.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: Strength of regularisation, > 0: raise it where held-out results are worse than those in training.
    reg: float = 0.04
    #: Rounds over all items and users, from 1: more come nearer to the optimum; `tolerance` may stop them.
    #: Of steps, passes over all preferences for every feature.
    sweeps: int = 15
    #: "exact" least squares, or one feature after the other by steps as published: "sgd", or "heaviside" (GPW-HVS).
    solver: Literal["exact", "sgd", "heaviside"] = "exact"
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow. Of "sgd" and "heaviside".
    rate: float = 0.002

    takes: ClassVar[tuple[type, ...]] = (Interactions, Graded, Preferences)
    in_context: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_integer("factors", self.factors, 1, 4096)
        check_integer("sweeps", self.sweeps, 1)
        for name in ("reg", "rate"):
            number = getattr(self, name)
            check(name, number, is_number(number) and 0 < number < np.inf, "a number > 0")
        check("solver", self.solver, self.solver in ("exact", "sgd", "heaviside"), "'exact', 'sgd' or 'heaviside'")

    @property
    def length(self) -> Length:
        """The sweeps; feature by feature all passes over all of them."""
        if self.solver == "exact":
            return Length("sweeps", self.sweeps)
        return Length("sweeps", self.factors * self.sweeps, open_end=False)

    def rate_in(self, number: int) -> float | None:
        """Exact steps have no rate."""
        return None if self.solver == "exact" else self.rate

    def prepare(self, train: Feedback, seed: int) -> Rounds:
        """Sweeps of exact steps, or passes over all preferences."""
        parts = comparisons(train)
        if not parts.pairs:
            raise DataError("OpportunityCost: no user prefers anything to anything; give grades that differ.")
        start = partial(self.start, len(train.users), len(train.items), seed)
        if self.solver != "exact":
            return Rounds(start, make_pass(self, parts, seed))
        return Rounds(start, lambda parameters, number: sweep(parts, parameters, self.reg))

    def start(self, users: int, items: int, seed: int) -> Parameters:
        """Vectors around one that gives everything the middle value, 1/2, and no cost; by feature Ackerman's own."""
        if self.solver != "exact":
            return first(users, items, self.factors)
        middle = np.float32(np.sqrt(0.5 / self.factors))
        rng = np.random.default_rng([seed, 0])
        drawn = (rng.standard_normal((n, self.factors), dtype=np.float32) for n in (users, items))
        p, q = (middle * (1 + np.float32(0.2) * one) for one in drawn)
        return {"users": p, "items": q, "alpha": np.zeros(users, dtype=np.float32)}

    def model(self, parameters: Parameters, train: Interactions) -> CostFactors:
        """What a state of the alternation predicts."""
        return CostFactors(parameters["users"], parameters["items"], parameters["alpha"], train, self)

    def fold(self, items: Floats, feedback: Feedback) -> tuple[Floats, Floats]:
        """The vectors and alphas of new users against fixed items, by turns of exact steps."""
        from fullrank.kernels.als_preferences import cost_users

        parts, n = comparisons(feedback), len(feedback.users)
        p, alpha, loss = np.zeros((n, items.shape[1]), dtype=np.float32), np.zeros(n, dtype=np.float32), np.zeros(n)
        own, q = np.float32(self.reg), items.copy()
        with one_blas_thread():
            for _ in range(FOLD):
                cost_users(*parts.by_user, *parts.nest, q, own, True, p, alpha, loss, 0, n)
        return p, alpha


def sweep(parts: Comparisons, parameters: Parameters, reg: float) -> float:
    """A sweep in place: all items, then all users; the objective reached, which is never above the one before."""
    from fullrank.kernels.als_preferences import cost_users

    p, q, alpha = (parameters[name] for name in ("users", "items", "alpha"))
    loss, own = np.zeros(len(p)), q.dtype.type(reg)
    with one_blas_thread():
        _items(parts, p, q, alpha, own)

        def work(some: slice) -> None:
            cost_users(*parts.by_user, *parts.nest, q, own, True, p, alpha, loss, some.start, some.stop)

        in_parallel(work, row_blocks(len(p), USERS))
    often = np.add.reduceat(np.append(parts.by_item.compared, 0), parts.by_item.start[:-1], dtype=np.float64)
    often = np.where(np.diff(parts.by_item.start) > 0, often, 0)
    return float(loss.sum() + 2 * reg * (often @ np.square(q, dtype=np.float64).sum(axis=1)))


def _items(parts: Comparisons, p: Floats, q: Floats, alpha: Floats, reg: np.float32) -> None:
    """Every item in turn, for fixed users; what can be done without the others is done before, in parallel."""
    from fullrank.kernels.als_preferences import cost_items, cost_matrices, run_sums

    start, user, compared, below = parts.by_item
    by_run, by_case = np.zeros(len(parts.nest.run_row) - 1), np.zeros(len(parts.nest.case_run) - 1)

    def add(some: slice) -> None:
        run_sums(*parts.by_user[:2], *parts.nest, p, q, by_run, by_case, some.start, some.stop)

    in_parallel(add, row_blocks(len(p), USERS))
    matrices = np.empty((CHUNK * p.shape[1], p.shape[1]), dtype=p.dtype)
    with team() as turn:
        for chunk in row_blocks(len(q), CHUNK):

            def prepare(some: slice, first: int = chunk.start) -> None:
                low, high = first + some.start, first + some.stop
                cost_matrices(start, user, compared, p, alpha, reg, matrices, first, low, high)

            turn(prepare, row_blocks(chunk.stop - chunk.start, AT_ONCE))
            cost_items(
                start, user, compared, below, *parts.places, p, alpha, matrices, by_run, by_case, q,
                chunk.start, chunk.stop,
            )  # fmt: skip
