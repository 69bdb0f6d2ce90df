"""How a factorisation is fitted: where it starts, when it stops, what it tells on the way, how it resumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, check_integer, is_number
from fullrank.models.als import Side, Solver, State, Terms, Watch, alternate, seeded

SVD_SWEEPS = 2  # more come no nearer to the optimum

SolverName: TypeAlias = Literal["auto", "exact", "cg"]


class Problem(NamedTuple):
    """Weighted least squares over all pairs: see `als`."""

    by_user: Side
    by_item: Side
    terms: Terms
    constant: float  # of the objective: sum of w t^2 over observed pairs


@dataclass(frozen=True)
class Training:
    """What can be said beside data and seed when a factorisation is fitted.

    `progress(sweep, of, objective)` is called after every sweep. `tolerance` stops when the objective falls by
    less than this share of itself in a sweep. `judge(model)` gives a validation metric, higher is better: training
    stops once it has not risen for `patience` sweeps, and the model with the best one is returned. `checkpoint`
    names a file that is written after every sweep; where it is there already, training goes on from it and
    ends with the same bytes as without interruption.
    """

    progress: Callable[[int, int, float], None] | None = None
    tolerance: float = 0.0
    judge: Callable[[Any], float] | None = None
    patience: int = 2
    checkpoint: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        check("tolerance", self.tolerance, is_number(self.tolerance) and 0 <= self.tolerance < 1, "a number in [0, 1)")
        check_integer("patience", self.patience, 1)


def check_common(recipe: Any) -> None:
    """The parameters that all alternating recipes have."""
    check_integer("factors", recipe.factors, 1, 4096)
    check_integer("sweeps", recipe.sweeps, 1)
    for name in ("missing_weight", "reg"):
        number = getattr(recipe, name)
        check(name, number, is_number(number) and 0 <= number < np.inf, "a number >= 0")
    check("solver", recipe.solver, recipe.solver in ("auto", "exact", "cg"), "'auto', 'exact' or 'cg'")


Run: TypeAlias = Callable[[State, Watch], State]


def fitted(problem: Problem, recipe: Any, train: Interactions, seed: int, training: Training) -> State:
    """The state after the recipe's sweeps, or where training stopped, or the best of them by `judge`."""
    solver = solver_of(recipe)
    given = (problem.by_user, problem.by_item, problem.terms)
    return supervised(
        recipe, train, seed, training,
        lambda begin, watch: alternate(*given, begin, recipe.sweeps, solver, problem.constant, watch),
    )  # fmt: skip


def supervised(recipe: Any, train: Interactions, seed: int, training: Training, run: Run) -> State:
    """Run from small random vectors, or from the checkpoint, watched between sweeps."""
    check_integer("seed", seed, 0, 2**63 - 1)
    if not len(train):
        raise DataError(f"{type(recipe).__name__}: there is no feedback to train on; give some.")
    begin = _start(recipe, train, seed)
    course = Course(recipe, train, training)
    if training.checkpoint is None:
        final = run(begin, course.watch)
    else:
        from fullrank.models.checkpoint import Keeper

        course.keeper = Keeper(training.checkpoint, recipe, train, seed)
        with course.keeper.locked():
            begin = course.keeper.found() or begin
            course.objective = begin.objective
            final = run(begin, course.watch)
    return course.best or final


def _start(recipe: Any, train: Interactions, seed: int) -> State:
    """Small random vectors; or where the recipe has pairs of 1 among zeros, nearly their singular vectors.

    On MovieLens 1M these are worth four to six sweeps of IALS and cost one; to AllRank they are worth what they cost.
    """
    f, ones = recipe.factors, recipe.ones(train) if hasattr(recipe, "ones") else None
    if ones is None or not f <= min(train.n_users, train.n_items):
        return State(seeded(train.n_users, f, seed, 0), seeded(train.n_items, f, seed, 1), 0, np.inf)
    from fullrank.models.puresvd import singular_vectors

    users, items = singular_vectors(ones, f, SVD_SWEEPS, seed, binary=True)
    size = np.sqrt(np.linalg.norm(users.astype(np.float64), axis=0))  # shared by both sides
    size = np.where(size > 0, size, 1).astype(np.float32)
    return State(users / size, items * size, 0, np.inf)


def solver_of(recipe: Any) -> Solver:
    """Three preconditioned steps reach what exact solves do in as many sweeps, in a fraction of the time."""
    return "exact" if recipe.solver == "exact" else "cg"


class Course:
    """What happens between the sweeps of one fit."""

    def __init__(self, recipe: Any, train: Interactions, training: Training) -> None:
        self.recipe, self.train, self.training = recipe, train, training
        self.objective = np.inf
        self.score, self.waited = -np.inf, 0
        self.best: State | None = None
        self.keeper: Any = None

    def watch(self, state: State) -> bool:
        """Check, tell, keep; True where training is to stop."""
        if not np.isfinite(state.objective):
            raise DataError(
                f"{type(self.recipe).__name__}: the objective became {state.objective} in sweep {state.sweeps}; use "
                "more regularisation, or look at the scale of the values."
            )
        if self.training.progress is not None:
            self.training.progress(state.sweeps, self.recipe.sweeps, state.objective)
        if self.keeper is not None:
            self.keeper.keep(state)
        fallen = self.objective - state.objective
        settled = np.isfinite(self.objective) and fallen <= self.training.tolerance * abs(self.objective)
        self.objective = state.objective
        return (self.training.tolerance > 0 and bool(settled)) or self._judged(state)

    def _judged(self, state: State) -> bool:
        if self.training.judge is None:
            return False
        kept = state._replace(users=state.users.copy(), items=state.items.copy())
        score = float(self.training.judge(self.recipe.model(kept, self.train)))
        if score > self.score:
            self.score, self.waited, self.best = score, 0, kept
        else:
            self.waited += 1
        return self.waited >= self.training.patience
