"""AllRank on relevance: an observed relevant item is 1, everything else, rated low or missing, is 0 (Steck 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from fullrank.arrays import Array, Csr, Floats, row_blocks
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check
from fullrank.models.kinds.factors import Factors, FoldParts, SideName
from fullrank.models.least_squares.als import Side, Terms, side
from fullrank.models.least_squares.alternation import LeastSquares, Problem, SolverName, check_alternation, start
from fullrank.models.positives import Relevant, check_relevant, positives
from fullrank.models.training.state import Parameters, Rounds
from fullrank.runtime.threads import in_parallel, one_blas_thread

ROWS = 64  # a part of the work
NEWTON = 8  # steps of a fold-in


@dataclass(frozen=True)
class AllRankBinary(LeastSquares):
    """Relevance of all pairs, observed or missing, by squares or by a logistic likelihood (Steck 2010, Eq. 10).

        squared:    sum over all pairs of  W (Y - s)^2 + reg W (|p_u|^2 + |q_i|^2),   s = <p_u, q_i>
        logistic:   sum over all pairs of  W (log(1 + exp s) - Y s) + reg/2 W (|p_u|^2 + |q_i|^2)

    Y is 1 for what is relevant, with W = 1; else 0, with W = `missing_weight`. Eq. 10 is printed with a penalty without
    reg; half of it brings the published parameters to the published result. Logistic scores are logits, not
    probabilities; each sweep is a Newton step for every row against all columns, users x items x factors^2 operations.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: Weight of all that is not relevant, rated low or missing, >= 0: best near the share of observed pairs.
    missing_weight: float = 0.005
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.02
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: "squared" error, or the "logistic" likelihood of Steck 2010, which takes much longer.
    loss: Literal["squared", "logistic"] = "squared"
    #: Rounds over all items and users, from 1: more come nearer to the optimum; `tolerance` may stop them.
    sweeps: int = 10
    #: Rows by "exact" solves or by some steps of conjugate gradients, "cg": as good, and faster; "auto" is "cg".
    #: Of squares only.
    solver: SolverName = "auto"

    def __post_init__(self) -> None:
        check_alternation(self)
        check("loss", self.loss, self.loss in ("squared", "logistic"), "'squared' or 'logistic'")
        check_relevant(self)

    def prepare(self, train: Interactions, seed: int) -> Rounds:
        """Items and users in turn: least squares, or Newton steps."""
        if self.loss == "squared":
            return super().prepare(train, seed)
        by_user, by_item, _, _ = self.problem(train)
        return Rounds(partial(start, self, train, seed), partial(self._sweep, by_user, by_item))

    def ones(self, train: Interactions) -> Interactions | None:
        """What counts as 1, where squares are fitted to it."""
        return positives(self, train) if self.loss == "squared" else None

    def problem(self, train: Interactions) -> Problem:
        """The relevant pairs by user and by item; the constant part of the objective is their number."""
        rows = positives(self, train)
        return Problem(self.side(rows.by_user()), self.side(rows.by_item()), self.terms, float(len(rows)))

    @property
    def terms(self) -> Terms:
        """d = 1 - w_m, c = 1."""
        return Terms(self.missing_weight, d1=1 - self.missing_weight, c0=1.0)

    def side(self, matrix: Csr) -> Side:
        """The relevant pairs, with ridge reg tr(W) or half of it, tr(W) = w_m others + (1 - w_m) n."""
        trace = self.missing_weight * matrix.shape[1] + (1 - self.missing_weight) * np.diff(matrix.indptr)
        return side(matrix, self.reg * trace * (1.0 if self.loss == "squared" else 0.5))

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """The best rows for these pairs, users against "items" or items against "users"."""
        if self.loss == "squared":
            return super().vectors(fixed, against, pairs)
        rows, other = self.side(self.counted(fixed, against, pairs)), fixed.side(against).copy()
        out = np.zeros((pairs.shape[0], other.shape[1]), dtype=np.float32)
        for _ in range(NEWTON):
            self._newton(rows, other, out)
        return out

    def fold_parts(self, fixed: Factors, item: int, pairs: Csr) -> FoldParts:
        """What each of the pairs of somebody (one row, those that count) adds to the score of an item: of squares."""
        if self.loss == "squared":
            return super().fold_parts(fixed, item, pairs)
        raise DataError(
            "AllRankBinary: with loss='logistic' a vector is no sum over what somebody did, so its scores have no "
            "parts; explain a model with loss='squared'."
        )

    def _sweep(self, users: Side, items: Side, parameters: Parameters, number: int) -> float:
        p, q = parameters["users"], parameters["items"]
        self._newton(items, p, q)
        loss = self._newton(users, q, p)
        return loss + float(items.ridge @ np.square(q, dtype=np.float64).sum(axis=1))

    def _newton(self, rows: Side, other: Array, out: Array) -> float:
        from fullrank.kernels.newton_logistic import newton_rows

        loss = np.empty(len(out))

        def work(some: slice) -> None:
            weight: Any = np.float32(self.missing_weight)
            newton_rows(rows.start, rows.column, weight, rows.ridge, other, out, loss, some.start, some.stop)

        with one_blas_thread():
            in_parallel(work, row_blocks(len(out), ROWS))
        return float(loss.sum())
