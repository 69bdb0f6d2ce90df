"""AllRank: training on all pairs, observed or missing (Steck 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fullrank.arrays import Array, Csr, Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.models.kinds.factors import Factors
from fullrank.models.least_squares.als import Side, Terms, side
from fullrank.models.least_squares.alternation import LeastSquares, Problem, SolverName, check_alternation
from fullrank.models.training.state import Parameters


@dataclass(frozen=True)
class AllRank(LeastSquares):
    """Weighted least squares over all pairs, observed or missing (Steck 2010, Eq. 13); prediction r_m + <p_u, q_i>.

        sum over all pairs of  W (R - r_m - <p_u, q_i>)^2  +  reg W (|p_u|^2 + |q_i|^2)

    W is `weight` of an observed rating, `missing_weight` of a missing one, for which R is r_m = `missing_value`: 0 is
    the classic objective on observed ratings only, 1 a dense regularised SVD.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: w_m, the weight of a missing rating, >= 0: best near the share of observed pairs.
    missing_weight: float = 0.1
    #: r_m, what a missing rating is taken for, any number: best at or below the lowest observed one.
    missing_value: float = 0.5
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.06
    #: Weight of an observed rating, >= 0: one number, or a table from rating to weight.
    weight: float | Mapping[float, float] = 1.0
    #: Rounds over all items and users, from 1: more come nearer to the optimum; `tolerance` may stop them.
    sweeps: int = 10
    #: Rows by "exact" solves or by some steps of conjugate gradients, "cg": as good, and faster; "auto" is "cg".
    solver: SolverName = "auto"

    def __post_init__(self) -> None:
        check_alternation(self)
        check("missing_value", self.missing_value, is_number(self.missing_value) and abs(self.missing_value) < 1e9, "a finite number")  # fmt: skip # noqa: E501
        weights = self.weight.values() if isinstance(self.weight, Mapping) else [self.weight]
        check("weight", self.weight, all(is_number(w) and 0 <= w < np.inf for w in weights), "numbers >= 0")

    def model(self, parameters: Parameters, train: Interactions) -> Factors:
        """What a state of the alternation predicts."""
        return Factors(parameters["users"], parameters["items"], train, self, offset=self.missing_value)

    def problem(self, train: Interactions) -> Problem:
        """The pairs by user and by item, and the constant part of the objective."""
        if train.value is None:
            raise DataError("AllRank needs ratings, and the data has no values; use AllRankBinary or IALS.")
        users, items = train.by_user(), train.by_item()
        off = users.data.astype(np.float64) - self.missing_value
        constant = float((self._weights(users.data) * off * off).sum())
        return Problem(self.side(users), self.side(items), self.terms, constant)

    @property
    def terms(self) -> Terms:
        """d = w - w_m, c = w (r - r_m)."""
        weight = 1.0 if isinstance(self.weight, Mapping) else float(self.weight)
        return Terms(
            self.missing_weight, d0=-self.missing_weight, d1=weight, c0=-weight * self.missing_value, c1=weight
        )

    def _weights(self, values: Array) -> float | Floats:
        """w(r) of every pair, or the one number for all."""
        if not isinstance(self.weight, Mapping):
            return float(self.weight)
        known = np.array(sorted(self.weight), dtype=np.float32)
        place = np.searchsorted(known, values).clip(max=len(known) - 1)
        strange = known[place] != values
        if strange.any():
            raise DataError(
                f"AllRank: the table of weights lacks rating {values[strange][0]:g}; it has {list(self.weight)}."
            )
        weights: Floats = np.array([self.weight[key] for key in sorted(self.weight)], dtype=np.float32)
        return np.asarray(weights[place])

    def side(self, matrix: Csr) -> Side:
        """Rows with their ridge, reg tr(W): tr(W) = w_m others + sum of w - w_m."""
        observed, weight, (rows, others) = np.diff(matrix.indptr), self._weights(matrix.data), matrix.shape
        if isinstance(weight, float):
            trace = self.missing_weight * others + observed * (weight - self.missing_weight)
            return side(matrix, self.reg * trace)
        more = np.bincount(np.repeat(np.arange(rows), observed), weight - self.missing_weight, minlength=rows)
        return side(matrix, self.reg * (self.missing_weight * others + more), weight)
