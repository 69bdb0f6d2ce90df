"""Metrics of sampled ranks, corrected towards those of the full ranking (Krichene and Rendle 2020, section 5).

Equation numbers are those of that paper.

A correction replaces the metric M by a table of m+1 values, one for each sampled rank s, chosen so that

    sum_r p(r) ( (E[table | r] - M(r))^2 + gamma Var[table | r] )                              (Eq. 24)

is small for a prior p of the exact ranks r: little bias for gamma 0, a small mean squared error for gamma 1. With

    A[r, s] = sqrt(p(r)) p(s|r),   b[r] = sqrt(p(r)) M(r),   c[s] = sum_r p(r) p(s|r)          (Eq. 23, corrected)

the best table is ((1-gamma) A'A + gamma diag(c))^-1 A'b (Eq. 25).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from fullrank.arrays import Doubles, Ints
from fullrank.errors import ParameterError, check, is_number, shown
from fullrank.evaluation.sampling import Channel, Prior

EXACT = 1e-13  # how well A is known, measured
TRUSTED = 1e-6  # rounding may move the values of a table by this much, relative to the metric's largest
SETTLED = 1e-10  # the weight of variance that decides between tables of the same bias


@dataclass(frozen=True)
class RankEstimate:
    """The metric at the unbiased estimate of the rank, 1 + (n-1)(s-1)/m (Eq. 20), rounded down.

    `interpolate` takes a mean of the metric at the two ranks around the estimate instead.
    """

    interpolate: bool = False

    def __str__(self) -> str:
        return "rank estimate"


@dataclass(frozen=True)
class LeastSquares:
    """The table of least bias (Eq. 21). Its variance grows beyond all use with m; see `BiasVariance`."""

    prior: Any = None  # p(r): None for uniform; an array of weights for ranks 1, 2, ...; a function of (ranks, n)
    close: ClassVar[float] = 1e-6  # how well tables are interpolated between sizes, relative to their largest value

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _prior(self.prior))

    def __str__(self) -> str:
        return "ls"

    def solve(self, given: Channel, target: Doubles, size: float, best: float, worst: float) -> Doubles:
        return _balanced(given, target, size, 0.0)


@dataclass(frozen=True)
class Constrained:
    """The table of least bias among those that never reward a worse sampled rank (their CLS).

    Nor has it a value below 0 where the metric cannot have one: the paper does not say so, but its published numbers
    come out only then. Such tables have kinks as n grows, hence `close`; their expectations are right to 1e-5.
    """

    prior: Any = None
    nonnegative: bool = True  # False for monotone only
    close: ClassVar[float] = 1e-3

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _prior(self.prior))

    def __str__(self) -> str:
        return "cls"

    def solve(self, given: Channel, target: Doubles, size: float, best: float, worst: float) -> Doubles:
        return _monotone(given, target, falling=best >= worst, bounded=self.nonnegative and min(best, worst) >= 0)


@dataclass(frozen=True)
class BiasVariance:
    """The table of least bias^2 + gamma variance (Eq. 25).

    gamma="auto" is 1/sqrt(cases). The variance of a mean falls as 1/cases. Were all cases at one rank, its mean
    squared error were bias^2 + variance/cases: gamma 1/cases. Were their ranks drawn from the prior, biases would
    cancel as the noise does: gamma 1. Real ranks are in between, how far differs from model to model, and models
    must share one gamma to be compared: we take the geometric middle. At the paper's 6040 cases it is .013, and among
    the gammas of its Table 3 .01 has the least mean squared error for all its models and metrics.
    """

    gamma: float | Literal["auto"] = "auto"
    prior: Any = None
    close: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        inside = is_number(self.gamma) and 0 <= float(self.gamma) <= 1
        check("gamma", self.gamma, inside or self.gamma == "auto", "a number from 0 to 1, or 'auto'")
        object.__setattr__(self, "prior", _prior(self.prior))

    def __str__(self) -> str:
        return f"bv {self.gamma if isinstance(self.gamma, str) else format(self.gamma, 'g')}"

    def resolved(self, cases: int) -> BiasVariance:
        """With a number for gamma."""
        return replace(self, gamma=1 / np.sqrt(max(cases, 1))) if self.gamma == "auto" else self

    def solve(self, given: Channel, target: Doubles, size: float, best: float, worst: float) -> Doubles:
        return _balanced(given, target, size, float(self.gamma))


Tabled: TypeAlias = LeastSquares | Constrained | BiasVariance
Method: TypeAlias = RankEstimate | Tabled
rank_estimate, least_squares, constrained, bias_variance = RankEstimate, LeastSquares, Constrained, BiasVariance


KINDS: dict[Any, str] = {
    RankEstimate: "rank_estimate()", LeastSquares: "least_squares()", Constrained: "constrained()",
    BiasVariance: "bias_variance(0.1)",
}  # fmt: skip


def checked_method(method: Any) -> Method:
    """The method itself, or an error that says how to write it."""
    if isinstance(method, tuple(KINDS)):
        return method  # type: ignore[return-value]
    got = f"the class {method.__name__}" if isinstance(method, type) else shown(method)
    write = KINDS.get(method) if isinstance(method, type) else None
    raise ParameterError(
        f"The 'method' of a correction must be one of {', '.join(KINDS.values())}. Got {got} instead"
        + (f"; write {write}." if write else ".")
    )


@dataclass(frozen=True, eq=False)
class Weights:
    """A prior given as an array: the weight of rank r is weights[r-1]."""

    weights: Doubles

    def __call__(self, ranks: Ints, n: int) -> Doubles:
        """The weights of these ranks."""
        if n > len(self.weights):
            raise ParameterError(f"The 'prior' has weights for {len(self.weights)} ranks, and a case has {n}.")
        return self.weights[ranks - 1]


def _prior(given: Any) -> Prior | None:
    if given is None or callable(given):
        return given  # type: ignore[no-any-return]
    return Weights(np.array(given, dtype=np.float64).reshape(-1))


def _balanced(given: Channel, target: Doubles, size: float, gamma: float) -> Doubles:
    """The table that minimises (1-gamma) |A t - b|^2 + gamma sum_s c[s] (t[s] - posterior mean)^2.

    This is Eq. 24 plus a constant. In x = sqrt(c) (t - posterior mean), by singular values s of A c^-1/2 (at most 1):
    x = V (1-gamma) s / ((1-gamma) s^2 + gamma) U'(b - A posterior mean). To first order, an error e of A moves x
    by e (|x|/sqrt(d) + |residual|/d), with d the least of these denominators: beyond TRUSTED it is refused.
    """
    root = np.sqrt(given.reach[given.known])[:, None]
    rows = given.rows[:, given.known]
    mean = rows.T @ target / root**2
    u, s, v = given.svd
    divisor = (1 - gamma) * s**2 + gamma
    if not divisor.min() > 0:
        raise _unreliable(given, np.inf)
    gap = target - rows @ mean
    x = v.T @ (((1 - gamma) * s / divisor)[:, None] * (u.T @ gap))
    table = mean + x / root
    rest = np.linalg.norm(target - rows @ table, axis=0)
    error = (1 - gamma) * EXACT * (np.linalg.norm(x, axis=0) / np.sqrt(divisor.min()) + rest / divisor.min())
    if error.max(initial=0.0) > TRUSTED * size:
        raise _unreliable(given, float(error.max()) / size)
    return _spread_out(given, table)


def _unreliable(given: Channel, error: float) -> ParameterError:
    return ParameterError(
        f"the table for {given.m} of {given.n - 1:,} candidates is lost in rounding (up to {error:.0e} of the metric); "
        f"use bias_variance with gamma >= {EXACT / TRUSTED:.0e}, constrained(), or fewer samples."
    )


def _monotone(given: Channel, target: Doubles, *, falling: bool, bounded: bool) -> Doubles:
    """The table t that minimises |A t - b|^2 with t[1] >= t[2] >= ... (or <=, where better metrics are lower).

    t is a constant plus steps d >= 0, each adding to all places up to its own. Where it is `bounded` the constant is
    >= 0 too, and this is a non-negative least squares problem, solved exactly on the triangle of A. Else the constant
    is free, and what is left after projecting it out is one.
    Among tables that rounding cannot tell apart, the one of least variance is meant (SETTLED).
    """
    from scipy.optimize import nnls

    turn = slice(None, None, 1 if falling else -1)
    known, root = given.rows[:, given.known][:, turn], np.sqrt(given.reach[given.known])[turn, None]
    settled = np.sqrt(SETTLED) * np.column_stack([np.diag(root[:, 0]), known.T @ target / root])
    rows = np.asarray(np.linalg.qr(np.vstack([np.column_stack([known, target]), settled]), mode="r"))
    steps, goals = np.cumsum(rows[:, : len(root)], axis=1), rows[:, len(root) :]  # A times each step
    one = steps[:, -1:]  # A times the constant
    free = np.zeros_like(one) if bounded else one / np.linalg.norm(one)
    apart = steps if bounded else steps[:, :-1] - free * (free.T @ steps[:, :-1])
    tables = []
    for goal in goals.T:
        away = goal - free[:, 0] * (free[:, 0] @ goal)
        down = nnls(apart, away, maxiter=30 * (given.m + 1))[0] if apart.shape[1] else np.zeros(0)
        if not bounded:
            down = np.append(down, free[:, 0] @ (goal - steps[:, :-1] @ down) / np.linalg.norm(one))
        tables.append(np.cumsum(down[::-1])[::-1][turn])
    return _spread_out(given, np.column_stack(tables))


def _spread_out(given: Channel, table: Doubles) -> Doubles:
    """Tables as rows over all sampled ranks, NaN where the prior gives no chance."""
    spread = np.full((table.shape[1], given.m + 1), np.nan)
    spread[:, given.known] = table.T
    return spread
