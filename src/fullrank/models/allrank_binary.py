"""AllRank on relevance: an observed relevant item is 1, everything else, rated low or missing, is 0 (S0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import row_blocks
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number
from fullrank.kernels.threads import in_parallel, one_blas_thread
from fullrank.models.als import Floats, Side, Terms, side, solved
from fullrank.models.fitting import Problem, SolverName, check_common, fitted, start
from fullrank.models.model import Factors, stored
from fullrank.models.state import State, Watch
from fullrank.models.training import Training, supervised

ROWS = 64  # a part of the work
NEWTON = 8  # steps of a fold-in


@dataclass(frozen=True)
class AllRankBinary:
    """Relevance of all pairs, observed or missing, by squares or by a logistic likelihood (S0 Eq. 10).

        squared:    sum over all pairs of  W (Y - s)^2 + reg W (|p_u|^2 + |q_i|^2),   s = <p_u, q_i>
        logistic:   sum over all pairs of  W (log(1 + exp s) - Y s) + reg/2 W (|p_u|^2 + |q_i|^2)

    Y is 1 for an observed value at or above `relevant` (None: for whatever was observed), with W = 1; else 0,
    with W = `missing_weight`. S0 Eq. 10 prints the penalty without reg; half of it brings its published parameters
    to its published result. Logistic scores are logits, not probabilities; each sweep is a Newton step for every
    row against all columns, users x items x factors^2 operations: much slower than squares.
    """

    factors: int = 50
    missing_weight: float = 0.02
    reg: float = 0.02
    relevant: float | None = 5.0
    loss: Literal["squared", "logistic"] = "squared"
    sweeps: int = 10
    solver: SolverName = "auto"  # of squares

    def __post_init__(self) -> None:
        check_common(self)
        check("loss", self.loss, self.loss in ("squared", "logistic"), "'squared' or 'logistic'")
        check("relevant", self.relevant, self.relevant is None or is_number(self.relevant), "None or a number")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Items and users in turn; `Training` tells what else can be said."""
        if train.value is None and self.relevant is not None:
            raise DataError("AllRankBinary: the data has no values to be relevant at; use relevant=None.")
        if not len(train.relevant(self.relevant)):
            raise DataError(f"AllRankBinary: no value is at or above {self.relevant}; lower `relevant`.")
        said = Training(**training)
        if self.loss == "squared":
            return self.model(fitted(self.problem(train), self, train, seed, said), train)
        sides = self.side(train.by_user()), self.side(train.by_item())
        run = lambda begin, watch: self._alternate(*sides, begin, watch)  # noqa: E731
        return self.model(supervised(self, train, seed, said, lambda: start(self, train, seed), run), train)

    def model(self, state: State, train: Interactions) -> Factors:
        """What a state of the alternation predicts."""
        return Factors(**state.parameters, train=train, recipe=self)

    def ones(self, train: Interactions) -> Interactions | None:
        """What counts as 1, where squares are fitted to it."""
        return train.relevant(self.relevant) if self.loss == "squared" else None

    def problem(self, train: Interactions) -> Problem:
        """The relevant pairs by user and by item; the constant part of the objective is their number."""
        users, items = self.side(train.by_user()), self.side(train.by_item())
        return Problem(users, items, self.terms, float(len(users.column)))

    @property
    def terms(self) -> Terms:
        """d = 1 - w_m, c = 1."""
        return Terms(self.missing_weight, d1=1 - self.missing_weight, c0=1.0)

    def side(self, matrix: Any) -> Side:
        """The relevant pairs, with ridge reg tr(W) or half of it, tr(W) = w_m others + (1 - w_m) n."""
        if self.relevant is not None:
            matrix = stored(matrix, matrix.data >= np.float32(self.relevant))
        trace = self.missing_weight * matrix.shape[1] + (1 - self.missing_weight) * np.diff(matrix.indptr)
        return side(matrix, self.reg * trace * (1.0 if self.loss == "squared" else 0.5))

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """The best rows for these pairs (CSR), users against "items" or items against "users"."""
        rows = self.side(pairs)
        if self.loss == "squared":
            return solved(rows, self.terms, fixed.frame(against))
        other = getattr(fixed, against).copy()
        out = np.zeros((pairs.shape[0], other.shape[1]), dtype=np.float32)
        for _ in range(NEWTON):
            self._newton(rows, other, out)
        return out

    def _alternate(self, users: Side, items: Side, begin: State, watch: Watch) -> State:
        state = begin
        p, q = state.parameters["users"], state.parameters["items"]
        for sweep in range(begin.done, self.sweeps):
            self._newton(items, p, q)
            loss = self._newton(users, q, p)
            shrunk = float(items.ridge @ np.square(q, dtype=np.float64).sum(axis=1))
            state = state._replace(done=sweep + 1, objective=loss + shrunk)
            if watch(state):
                break
        return state

    def _newton(self, rows: Side, other: NDArray[Any], out: NDArray[Any]) -> float:
        from fullrank.kernels.logistic import newton_rows

        loss = np.empty(len(out))

        def work(some: slice) -> None:
            weight: Any = np.float32(self.missing_weight)
            newton_rows(rows.start, rows.column, weight, rows.ridge, other, out, loss, some.start, some.stop)

        with one_blas_thread():
            in_parallel(work, row_blocks(len(out), ROWS))
        return float(loss.sum())
