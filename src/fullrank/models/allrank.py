"""AllRank: training on all pairs, observed or missing (S0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Codes
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, check_integer, is_number
from fullrank.models.als import Floats, Side, State, Terms, side
from fullrank.models.fitting import Problem, Training, fitted, solved
from fullrank.models.model import Factors


@dataclass(frozen=True)
class AllRank:
    """Weighted least squares over all pairs, observed or missing (S0 Eq. 13); prediction r_m + <p_i, q_u>.

        sum over all pairs of  W (R - r_m - <p, q>)^2  +  reg W (|p|^2 + |q|^2)

    A missing rating is taken for r_m = `missing_value`, with weight `missing_weight`; an observed one weighs
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
    solver: Literal["auto", "exact", "cg"] = "auto"

    def __post_init__(self) -> None:
        check_integer("factors", self.factors, 1, 4096)
        check_integer("sweeps", self.sweeps, 1)
        for name in ("missing_weight", "reg"):
            number = getattr(self, name)
            check(name, number, is_number(number) and 0 <= number < np.inf, "a number >= 0")
        check("missing_value", self.missing_value, is_number(self.missing_value) and bool(np.isfinite(self.missing_value)), "a finite number")  # fmt: skip # noqa: E501
        check("solver", self.solver, self.solver in ("auto", "exact", "cg"), "'auto', 'exact' or 'cg'")
        weights = self.weight.values() if isinstance(self.weight, Mapping) else [self.weight]
        check("weight", self.weight, all(is_number(w) and 0 <= w < np.inf for w in weights), "numbers >= 0")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Alternate exact or approximate row solves; see `Training` for what else can be said."""
        if train.value is None:
            raise DataError("AllRank needs ratings, and the data has no values; use AllRankBinary or IALS.")
        state = fitted(self._problem(train), self, train, seed, Training(**training))
        return self._model(state, train)

    def user_vector(self, model: Factors, items: Codes, values: Floats) -> Floats:
        """The best vector for these ratings, the items fixed (S0 Eq. 16)."""
        return self._row(model.items, items, values)

    def item_vector(self, model: Factors, users: Codes, values: Floats) -> Floats:
        """The best vector for the ratings of a new item, the users fixed (S0 Eq. 15)."""
        return self._row(model.users, users, values)

    def _model(self, state: State, train: Interactions) -> Factors:
        return Factors(state.users, state.items, train, self, offset=self.missing_value)

    def _problem(self, train: Interactions) -> Problem:
        users, items = train.by_user(), train.by_item()
        sides = tuple(self._side(matrix, matrix.shape[1]) for matrix in (users, items))
        weight = self._weights(users.data)
        constant = float((weight * np.square(users.data - self.missing_value, dtype=np.float64)).sum())
        return Problem(*sides, self._terms, constant)

    @property
    def _terms(self) -> Terms:
        weight = 1.0 if isinstance(self.weight, Mapping) else float(self.weight)
        return Terms(weight, t0=-self.missing_value, t1=1.0, missing=self.missing_weight)

    def _weights(self, values: Floats) -> Any:
        """w(r) of every pair, or the one number for all."""
        if not isinstance(self.weight, Mapping):
            return float(self.weight)
        known = np.array(sorted(self.weight), dtype=np.float32)
        place = np.searchsorted(known, values).clip(max=len(known) - 1)
        if not (known[place] == values).all():
            missing = float(values[known[place] != values][0])
            raise DataError(f"AllRank: the table of weights has no rating {missing:g}; it has {list(self.weight)}.")
        return np.array([self.weight[key] for key in sorted(self.weight)], dtype=np.float32)[place]

    def _side(self, matrix: Any, others: int) -> Side:
        weight = self._weights(matrix.data)
        counts = np.diff(matrix.indptr)
        if isinstance(weight, float):
            return side(matrix, self._ridge(others, counts * (weight - self.missing_weight)))
        total = np.add.reduceat(np.append(weight - self.missing_weight, 0), matrix.indptr[:-1]) * (counts > 0)
        return side(matrix, self._ridge(others, total), weight)

    def _ridge(self, others: int, more: NDArray[Any]) -> NDArray[Any]:
        """reg tr(W) of rows."""
        return np.asarray(self.reg * (self.missing_weight * others + more))

    def _row(self, other: Floats, codes: Codes, values: Floats) -> Floats:
        from scipy.sparse import csr_array

        row = csr_array((values, codes, [0, len(codes)]), shape=(1, len(other)))
        return solved(self._side(row, len(other)), self._terms, other)[0]
