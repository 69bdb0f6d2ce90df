"""How alternating least squares is fitted: where it starts, by which solver, how long."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import check, check_integer, is_number
from fullrank.models.als import Side, Solver, Terms, alternate, seeded
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training, supervised

SVD_SWEEPS = 2  # more come no nearer to the optimum

SolverName: TypeAlias = Literal["auto", "exact", "cg"]


class Problem(NamedTuple):
    """Weighted least squares over all pairs: see `als`."""

    by_user: Side
    by_item: Side
    terms: Terms
    constant: float  # of the objective: sum of w t^2 over observed pairs


def check_common(recipe: Any) -> None:
    """The parameters that all alternating recipes have."""
    check_integer("factors", recipe.factors, 1, 4096)
    check_integer("sweeps", recipe.sweeps, 1)
    for name in ("missing_weight", "reg"):
        number = getattr(recipe, name)
        check(name, number, is_number(number) and 0 <= number < np.inf, "a number >= 0")
    check("solver", recipe.solver, recipe.solver in ("auto", "exact", "cg"), "'auto', 'exact' or 'cg'")


def fitted(problem: Problem, recipe: Any, train: Interactions, seed: int, training: Training) -> State:
    """The state after the recipe's sweeps, or where training stopped, or the best of them by `judge`."""
    solver = solver_of(recipe)
    given = (problem.by_user, problem.by_item, problem.terms)
    return supervised(
        recipe, train, seed, training,
        lambda: start(recipe, train, seed),
        lambda begin, watch: alternate(*given, begin, recipe.sweeps, solver, problem.constant, watch),
    )  # fmt: skip


def start(recipe: Any, train: Interactions, seed: int) -> Parameters:
    """Small random vectors; or where the recipe has pairs of 1 among zeros, nearly their singular vectors.

    On MovieLens 1M these are worth four to six sweeps of IALS and cost one; to AllRank they are worth what they cost.
    """
    f, ones = recipe.factors, recipe.ones(train) if hasattr(recipe, "ones") else None
    if ones is None or not f <= min(train.n_users, train.n_items):
        return {"users": seeded(train.n_users, f, seed, 0), "items": seeded(train.n_items, f, seed, 1)}
    from fullrank.models.puresvd import singular_vectors

    users, items = singular_vectors(ones, f, SVD_SWEEPS, seed, binary=True)
    size = np.sqrt(np.linalg.norm(users.astype(np.float64), axis=0))  # shared by both sides
    size = np.where(size > 0, size, 1).astype(np.float32)
    return {"users": users / size, "items": items * size}


def solver_of(recipe: Any) -> Solver:
    """Three preconditioned steps reach what exact solves do in as many sweeps, in a fraction of the time."""
    return "exact" if recipe.solver == "exact" else "cg"
