"""Implicit feedback, all pairs counting: IALS in several parametrisations, and AllRank's binary form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.arrays import Csr
from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.least_squares.als import Side, Terms, side
from fullrank.models.least_squares.alternation import LeastSquares, Problem, SolverName, check_alternation
from fullrank.models.positives import Relevant, check_relevant, positives


@dataclass(frozen=True)
class IALS(LeastSquares):
    """Implicit alternating least squares, as Krichene and Rendle's X (2020; Bayer et al.) or as Hu and Koren.

        sum over observed  g (<p_u, q_i> - 1)^2  +  missing_weight sum over all  <p_u, q_i>^2
          +  sum_u reg s_u |p_u|^2  +  sum_i reg s_i |q_i|^2

    g is 1 or the value of the pair, s of a row with n of N pairs observed is (n + missing_weight N)^frequency. With
    `confidence` it is Hu and Koren's objective instead: every pair has the target 1 or 0 and weighs 1 if missing,
    1 + confidence value if observed.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 64
    #: Weight of a missing pair, >= 0: a larger one keeps scores of unknown pairs nearer to 0.
    missing_weight: float = 0.01
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 0.5
    #: The exponent of s, from 0 (`reg` is the same for all) to 2: with 1 it grows with how much a row has, and the
    #: best `reg` with the number of items.
    frequency: float = 0.4
    #: Whether an observed pair weighs its value instead of 1.
    weighted: bool = False
    #: Of Hu and Koren's objective, > 0: what a unit of value adds to the weight; None: the objective above.
    confidence: float | None = None
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None
    #: Rounds over all items and users, from 1: more come nearer to the optimum; `tolerance` may stop them.
    sweeps: int = 10
    #: Rows by "exact" solves or by some steps of conjugate gradients, "cg": as good, and faster; "auto" is "cg".
    solver: SolverName = "auto"

    def __post_init__(self) -> None:
        check_alternation(self)
        check("frequency", self.frequency, is_number(self.frequency) and 0 <= self.frequency <= 2, "from 0 to 2")
        given = self.confidence is None or (is_number(self.confidence) and 0 < self.confidence < np.inf)
        check("confidence", self.confidence, given, "None or a number > 0")
        check_relevant(self)

    def ones(self, train: Interactions) -> Interactions:
        """What counts as 1."""
        return positives(self, train)

    def problem(self, train: Interactions) -> Problem:
        """The pairs by user and by item, and the constant part of the objective: the sum of c."""
        rows = positives(self, train)
        users = rows.by_user()
        total = self.terms.c0 * users.nnz + self.terms.c1 * float(users.data.sum(dtype=np.float64))
        return Problem(self.side(users), self.side(rows.by_item()), self.terms, total)

    @property
    def terms(self) -> Terms:
        """d = c = g. Hu and Koren: d = confidence value, c = 1 + d, and missing pairs weigh 1."""
        if self.confidence is not None:
            return Terms(1.0, d2=self.confidence, c0=1.0, c1=self.confidence)
        if self.weighted:
            return Terms(self.missing_weight, d2=1.0, c1=1.0)
        return Terms(self.missing_weight, d1=1.0, c0=1.0)

    def side(self, matrix: Csr) -> Side:
        """Rows with their ridge, reg s."""
        scale = (np.diff(matrix.indptr) + self.terms.missing * matrix.shape[1]) ** float(self.frequency)
        return side(matrix, self.reg * scale)
