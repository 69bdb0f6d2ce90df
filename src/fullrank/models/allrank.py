"""AllRank: training on all pairs, observed or missing (S0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.models.als import Floats, Side, Terms, side, solved
from fullrank.models.fitting import Problem, SolverName, check_common, fitted
from fullrank.models.model import Factors
from fullrank.models.state import State
from fullrank.models.training import Training


@dataclass(frozen=True)
class AllRank:
    """Weighted least squares over all pairs, observed or missing (S0 Eq. 13); prediction r_m + <p_u, q_i>.

        sum over all pairs of  W (R - r_m - <p_u, q_i>)^2  +  reg W (|p_u|^2 + |q_i|^2)

    A missing rating is taken for r_m = `missing_value` with weight `missing_weight`; an observed one weighs
    `weight`, a number or a table from rating to weight. `missing_weight=0` is the classic objective on observed
    ratings only, `missing_weight=1` a dense regularised SVD. `reg` acts on a row in proportion to tr(W) of its
    pairs. Good weights are near the share of observed pairs, good values below the observed mean.
    """

    factors: int = 50
    missing_weight: float = 0.05  # w_m
    missing_value: float = 2.0  # r_m
    reg: float = 0.05
    weight: float | Mapping[float, float] = 1.0
    sweeps: int = 10
    solver: SolverName = "auto"

    def __post_init__(self) -> None:
        check_common(self)
        check("missing_value", self.missing_value, is_number(self.missing_value) and abs(self.missing_value) < 1e9, "a finite number")  # fmt: skip # noqa: E501
        weights = self.weight.values() if isinstance(self.weight, Mapping) else [self.weight]
        check("weight", self.weight, all(is_number(w) and 0 <= w < np.inf for w in weights), "numbers >= 0")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Items and users in turn (S0 Eq. 15, 16); `Training` tells what else can be said."""
        if train.value is None:
            raise DataError("AllRank needs ratings, and the data has no values; use AllRankBinary or IALS.")
        return self.model(fitted(self.problem(train), self, train, seed, Training(**training)), train)

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """The best rows for these pairs (CSR), users against "items" or items against "users"."""
        return solved(self.side(pairs), self.terms, fixed.frame(against))

    def model(self, state: State, train: Interactions) -> Factors:
        """What a state of the alternation predicts."""
        return Factors(**state.parameters, train=train, recipe=self, offset=self.missing_value)

    def problem(self, train: Interactions) -> Problem:
        """The pairs by user and by item, and the constant part of the objective."""
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

    def _weights(self, values: Floats) -> Any:
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
        return np.array([self.weight[key] for key in sorted(self.weight)], dtype=np.float32)[place]

    def side(self, matrix: Any) -> Side:
        """Rows with their ridge, reg tr(W): tr(W) = w_m others + sum of w - w_m."""
        weight = self._weights(matrix.data)
        more = np.diff(matrix.indptr) * (weight - self.missing_weight) if isinstance(weight, float) else None
        if more is None:
            row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
            more = np.bincount(row, weight - self.missing_weight, minlength=matrix.shape[0])
        ridge: NDArray[Any] = self.reg * (self.missing_weight * matrix.shape[1] + more)
        return side(matrix, ridge, None if isinstance(weight, float) else weight)
