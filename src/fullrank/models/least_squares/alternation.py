"""Alternating least squares, as recipes use it: where it starts, by which solver, how long, and what it makes."""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from fullrank.arrays import Array, Csr, Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import check, check_integer, is_number
from fullrank.models.kinds.factors import Factors, FoldParts, SideName
from fullrank.models.least_squares.als import Side, Solver, Terms, solve, sweep
from fullrank.models.least_squares.fold_parts import solved_parts
from fullrank.models.least_squares.puresvd import singular_vectors
from fullrank.models.least_squares.rotation import rotate
from fullrank.models.positives import positive_pairs
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.training.state import Length, Parameters, Rounds

SVD_SWEEPS = 2  # more come no nearer to the optimum

SolverName: TypeAlias = Literal["auto", "exact", "cg"]


class Problem(NamedTuple):
    """Weighted least squares over all pairs: see `als`."""

    by_user: Side
    by_item: Side
    terms: Terms
    constant: float  # of the objective: sum of w t^2 over observed pairs


class LeastSquares(IterativeRecipe[Interactions, Factors], Protocol):
    """A recipe that is weighted least squares over all pairs; it says which (`problem`) and what a row is (`side`)."""

    factors: int
    missing_weight: float
    reg: float
    sweeps: int
    solver: SolverName

    @property
    def terms(self) -> Terms:
        """What an observed pair adds to the normal equations, and what a missing one weighs."""

    def side(self, matrix: Csr) -> Side:
        """The observed pairs by row, with the ridge of every row."""

    def problem(self, train: Interactions) -> Problem:
        """The pairs by user and by item, and the constant part of the objective."""

    def ones(self, train: Interactions) -> Interactions | None:
        """What counts as 1 among zeros, where that is what is fitted: then there is a better start than chance."""
        return None

    @property
    def length(self) -> Length:
        """So many sweeps over items and users."""
        return Length("sweeps", self.sweeps)

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Items and users in turn (Steck 2010, Eq. 15, 16)."""
        by_user, by_item, terms, constant = self.problem(train)
        solver = choose_solver(self.solver)

        def run(parameters: Parameters, number: int) -> float:
            return sweep(by_user, by_item, terms, parameters["users"], parameters["items"], solver, constant)

        return Rounds(partial(start, self, train, seed), run)

    def model(self, parameters: Parameters, train: Interactions) -> Factors:
        """What a state of the alternation predicts."""
        return Factors(parameters["users"], parameters["items"], train, self)

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """The best rows for these pairs, users against "items" or items against "users"."""
        return solve(self.side(self.counted(fixed, against, pairs)), self.terms, fixed.once(against, rotate))

    def fold_parts(self, fixed: Factors, item: int, pairs: Csr) -> FoldParts:
        """What each of the pairs of somebody (one row, those that count) adds to the score of an item."""
        rotated = fixed.once("items", rotate)
        return FoldParts(solved_parts(self.side(pairs), self.terms, rotated, rotated.vectors[item]))

    def counted(self, fixed: Factors, against: SideName, pairs: Csr) -> Csr:
        """These of the pairs that count, where the recipe knows one class only."""
        by = "user" if against == "items" else "item"
        return positive_pairs(getattr(self, "relevant", None), fixed.train, pairs, by=by)


def check_alternation(recipe: LeastSquares) -> None:
    """The parameters that all such recipes have."""
    check_integer("factors", recipe.factors, 1, 4096)
    check_integer("sweeps", recipe.sweeps, 1)
    for name in ("missing_weight", "reg"):
        number = getattr(recipe, name)
        check(name, number, is_number(number) and 0 <= number < np.inf, "a number >= 0")
    check("solver", recipe.solver, recipe.solver in ("auto", "exact", "cg"), "'auto', 'exact' or 'cg'")


def start(recipe: LeastSquares, train: Interactions, seed: int) -> Parameters:
    """Small random vectors; or where the recipe has pairs of 1 among zeros, nearly their singular vectors.

    On MovieLens 1M these are worth four to six sweeps of IALS and cost one; to AllRank they are worth what they cost.
    """
    f, ones = recipe.factors, recipe.ones(train)
    if ones is None or not f <= min(train.n_users, train.n_items):
        return {"users": small_normal(train.n_users, f, seed, 0), "items": small_normal(train.n_items, f, seed, 1)}
    users, items = singular_vectors(ones, f, SVD_SWEEPS, seed, binary=True)
    size = np.sqrt(np.linalg.norm(users.astype(np.float64), axis=0))  # shared by both sides
    size = np.where(size > 0, size, 1).astype(np.float32)
    return {"users": users / size, "items": items * size}


def choose_solver(name: SolverName) -> Solver:
    """Three preconditioned steps reach what exact solves do in as many sweeps, in a fraction of the time."""
    return "exact" if name == "exact" else "cg"


def small_normal(rows: int, factors: int, seed: int, stream: int, dtype: DTypeLike = np.float32) -> Array:
    """Small normal numbers to start from."""
    rng = np.random.default_rng([seed, stream])
    return (rng.standard_normal((rows, factors), dtype=np.float32) * np.float32(0.1 / np.sqrt(factors))).astype(dtype)
