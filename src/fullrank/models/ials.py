"""Implicit feedback, all pairs counting: IALS in several parametrisations, and AllRank's binary form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.als import Floats, Side, Terms, side, solved
from fullrank.models.fitting import Problem, SolverName, check_common, fitted
from fullrank.models.model import Factors
from fullrank.models.state import State
from fullrank.models.training import Training


@dataclass(frozen=True)
class IALS:
    """Implicit alternating least squares, as S1's recommender X (Bayer et al.) or as Hu and Koren.

        sum over observed  g (<p_u, q_i> - 1)^2  +  missing_weight sum over all  <p_u, q_i>^2
          +  sum_u reg s_u |p_u|^2  +  sum_i reg s_i |q_i|^2

    g is 1, or the value of the pair (`weighted`). s is 1, or for a row with n of N pairs observed
    (n + missing_weight N)^frequency. With `confidence` it is Hu and Koren's objective instead: every pair has the
    target 1 or 0 and weighs 1 if missing, 1 + confidence value if observed.
    """

    factors: int = 64
    missing_weight: float = 0.1
    reg: float = 0.003
    frequency: float = 1.0
    weighted: bool = False
    confidence: float | None = None
    sweeps: int = 10
    solver: SolverName = "auto"

    def __post_init__(self) -> None:
        check_common(self)
        check("frequency", self.frequency, is_number(self.frequency) and 0 <= self.frequency <= 2, "from 0 to 2")
        given = self.confidence is None or (is_number(self.confidence) and 0 < self.confidence < np.inf)
        check("confidence", self.confidence, given, "None or a number > 0")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> Factors:
        """Items and users in turn; `Training` tells what else can be said."""
        return self.model(fitted(self.problem(train), self, train, seed, Training(**training)), train)

    def vectors(self, fixed: Factors, against: str, pairs: Any) -> Floats:
        """The best rows for these pairs (CSR), users against "items" or items against "users"."""
        return solved(self.side(pairs), self.terms, fixed.frame(against))

    def model(self, state: State, train: Interactions) -> Factors:
        """What a state of the alternation predicts."""
        return Factors(**state.parameters, train=train, recipe=self)

    def ones(self, train: Interactions) -> Interactions:
        """What counts as 1."""
        return train

    def problem(self, train: Interactions) -> Problem:
        """The pairs by user and by item, and the constant part of the objective: the sum of c."""
        users = train.by_user()
        total = self.terms.c0 * users.nnz + self.terms.c1 * float(users.data.sum(dtype=np.float64))
        return Problem(self.side(users), self.side(train.by_item()), self.terms, total)

    @property
    def terms(self) -> Terms:
        """S1: d = c = g. Hu and Koren: d = confidence value, c = 1 + d, and missing pairs weigh 1."""
        if self.confidence is not None:
            return Terms(1.0, d2=self.confidence, c0=1.0, c1=self.confidence)
        if self.weighted:
            return Terms(self.missing_weight, d2=1.0, c1=1.0)
        return Terms(self.missing_weight, d1=1.0, c0=1.0)

    def side(self, matrix: Any) -> Side:
        """Rows with their ridge, reg s."""
        scale = (np.diff(matrix.indptr) + self.terms.missing * matrix.shape[1]) ** float(self.frequency)
        return side(matrix, self.reg * scale)
