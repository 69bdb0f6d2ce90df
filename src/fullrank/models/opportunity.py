"""What an item is worth when another is given up: opportunity cost, globally (S2 chapter 3, GPW)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from fullrank.data.canonical import row_blocks
from fullrank.errors import DataError, check, check_integer, is_number
from fullrank.kernels.threads import in_parallel, one_blas_thread, team
from fullrank.models.bundles import Bundles, Feedback, bundles
from fullrank.models.cost_model import CostFactors, seen
from fullrank.models.preferring import start as first
from fullrank.models.preferring import walked
from fullrank.models.state import Parameters, State, Watch
from fullrank.models.training import Training, supervised

CHUNK = 64  # items whose matrices are kept at a time
AT_ONCE = 8  # of them in a part of the work
USERS = 64  # in a part of the work
FOLD = 20  # turns of vector and alpha of somebody new


@dataclass(frozen=True)
class OpportunityCost:
    """The value of item i when j is given up, by least squares over all pairs that a user has ordered (GPW-OPT).

        r_ui|j = b_ui + alpha_u b_uj,   b_ui = <p_u, q_i>
        sum over i > j of  (1 - r_ui|j)^2 + (0 - r_uj|i)^2  + 2 reg (|p_u|^2 + alpha_u^2 + |q_i|^2 + |q_j|^2)

    i is predicted before j where r_ui|j > r_uj|i, that is (1 - alpha_u)(b_ui - b_uj) > 0: never a cycle, and the order
    of (1 - alpha_u) b_ui, which is the score. Ratings, sessions and preferences of any shape can be fitted. Each sweep
    finds the best item after item, then the best vector and alpha of every user, in time linear in the ratings.

    `solver="sgd"` is S2's own procedure: one feature after the other, `sweeps` passes over all preferences for each,
    two steps for every preference; `solver="heaviside"` is GPW-HVS, one step of size 1 where a preference is violated,
    which has nothing to converge to and may grow beyond bounds: it then stops with an error.
    """

    factors: int = 50
    reg: float = 0.04
    sweeps: int = 15
    solver: Literal["exact", "sgd", "heaviside"] = "exact"
    rate: float = 0.002  # of "sgd" and "heaviside"

    def __post_init__(self) -> None:
        check_integer("factors", self.factors, 1, 4096)
        check_integer("sweeps", self.sweeps, 1)
        for name in ("reg", "rate"):
            number = getattr(self, name)
            check(name, number, is_number(number) and 0 < number < np.inf, "a number > 0")
        check("solver", self.solver, self.solver in ("exact", "sgd", "heaviside"), "'exact', 'sgd' or 'heaviside'")

    @property
    def rounds(self) -> int | None:
        """Passes in all, feature by feature; otherwise they are the sweeps."""
        return None if self.solver == "exact" else self.factors * self.sweeps

    def fit(self, train: Feedback, seed: int = 0, **training: Any) -> CostFactors:
        """Sweeps of exact steps; `Training` tells what else can be said."""
        parts = bundles(train)
        if not parts.pairs:
            raise DataError("OpportunityCost: no user prefers anything to anything; give grades that differ.")
        known = seen(train)
        state = supervised(
            self, known, seed, Training(**training),
            lambda: self.start(len(train.users), len(train.items), seed),
            partial(self._alternate, parts) if self.solver == "exact" else partial(walked, self, parts, seed),
            train,
        )  # fmt: skip
        return self.model(state, known)

    def start(self, users: int, items: int, seed: int) -> Parameters:
        """Vectors around one that gives everything the middle value, 1/2, and no cost; by feature S2's own."""
        if self.solver != "exact":
            return first(users, items, self.factors)
        middle = np.float32(np.sqrt(0.5 / self.factors))
        rng = np.random.default_rng([seed, 0])
        drawn = (rng.standard_normal((n, self.factors), dtype=np.float32) for n in (users, items))
        p, q = (middle * (1 + np.float32(0.2) * one) for one in drawn)
        return {"users": p, "items": q, "alpha": np.zeros(users, dtype=np.float32)}

    def model(self, state: State, train: Any) -> CostFactors:
        """What a state of the alternation predicts."""
        return CostFactors(**state.parameters, train=train, recipe=self)

    def folded(self, items: Any, feedback: Feedback) -> tuple[Any, Any]:
        """The vectors and alphas of new users against fixed items, by turns of exact steps."""
        from fullrank.kernels.opportunity import cost_users

        parts, n = bundles(feedback), len(feedback.users)
        p, alpha, loss = np.zeros((n, items.shape[1]), dtype=np.float32), np.zeros(n, dtype=np.float32), np.zeros(n)
        own, q = np.float32(self.reg), items.copy()
        with one_blas_thread():
            for _ in range(FOLD):
                cost_users(*parts.by_user, *parts.nest, q, own, True, p, alpha, loss, 0, n)
        return p, alpha

    def _alternate(self, parts: Bundles, begin: State, watch: Watch) -> State:
        state = begin
        for sweep in range(begin.done, self.sweeps):
            objective = alternated(parts, state.parameters, self.reg)
            state = State(state.parameters, sweep + 1, objective)
            if watch(state):
                break
        return state


def alternated(parts: Bundles, parameters: Parameters, reg: float) -> float:
    """A sweep in place: all items, then all users; the objective reached, which is never above the one before."""
    from fullrank.kernels.opportunity import cost_users

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


def _items(parts: Bundles, p: Any, q: Any, alpha: Any, reg: Any) -> None:
    """Every item in turn, for fixed users; what can be done without the others is done before, in parallel."""
    from fullrank.kernels.opportunity import cost_items, cost_matrices, run_sums

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
