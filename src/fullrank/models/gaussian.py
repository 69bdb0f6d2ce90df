"""Gaussian ranking: toward any loss that is a smooth function of ranks, pointwise or listwise (S4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fullrank.data.interactions import Interactions
from fullrank.errors import check
from fullrank.models import history
from fullrank.models.activations import ACTIVATIONS
from fullrank.models.descent import Epoch, descended
from fullrank.models.history import Goal, check_history
from fullrank.models.model import HistoryFactors
from fullrank.models.rank_loss import LOSSES, RankLoss, rank_table, score_table
from fullrank.models.samplers import Sampler
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training


@dataclass(frozen=True)
class GaussianRank:
    """Relevant items up the list, by how ranks follow from scores that are about normally distributed (S4 Eq. 18).

        sum_u n_u^-balance { sum over positives i  [ L(r_ui) + reg/2 (|p_i|^2 + sum over positives j |q_j|^2) ]
                             + prior/2 sum over sampled negatives j  [s_uj]_+^2 },     s_ui = <p_i, v_u>,
        v_u = sum over positives j  q_j / sqrt(n_u),     r_ui = N (1 - a(s_ui / width))

    L is linear in the rank ("auc"), -DCG ("ndcg") or a `RankLoss`, a an activation of rankSE's width: "probit",
    "logistic", "quad" or "rankSE". A `width` well above 1, or a large `prior`, makes the ranking head-heavy.

    With `listwise` the ranks are those among the user's positives and sampled negatives, scaled to the full list,
    rho = 1 - r/N, and the slope of the logistic curve is 4 rho (1 - rho) / (sqrt(2 pi) std) with the standard
    deviation of the negatives' scores. A slope does not vanish at rank 1 while the score grows ("ndcg"), so it
    is that of the curve at the score, (s - mean) / (width sqrt(2 pi) std), where that is smaller. Ranks better than
    `level` have no larger slope than those from it to the middle of the list: else nobody learns of the others.

    `dropout` leaves out this share of a history in v_u, anew in every epoch; `negatives` are drawn per positive.
    """

    factors: int = 50
    loss: Literal["auc", "ndcg"] | RankLoss = "auc"
    activation: Literal["probit", "logistic", "quad", "rankSE"] = "logistic"
    width: float = 1.0
    listwise: bool = False
    prior: float = 0.3
    level: float = 25.0
    reg: float = 1e-5
    dropout: float = 0.6
    negatives: float = 5.0
    sampler: Sampler = "uniform"
    balance: float = 0.5
    rate: float = 0.02
    decay: float = 0.95
    epochs: int = 40
    relevant: float | None = None

    def __post_init__(self) -> None:
        check_history(self, "prior", "width", "level")
        known = isinstance(self.loss, RankLoss) or self.loss in list(LOSSES)
        check("loss", self.loss, known, "'auc', 'ndcg' or a RankLoss")
        check("activation", self.activation, self.activation in list(ACTIVATIONS), f"one of {', '.join(ACTIVATIONS)}")
        check("listwise", self.listwise, isinstance(self.listwise, bool), "True or False")
        fits = not self.listwise or self.activation == "logistic"
        check("activation", self.activation, fits, "'logistic' where listwise=True")
        check("width", self.width, self.width > 0, "a number > 0")
        check("level", self.level, self.level >= 1, "a number >= 1")

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> HistoryFactors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal numbers."""
        return history.start(self, train, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Everybody's positives, with negatives, once."""
        return history.epochs(self, train, seed, self.goal(train.n_items))

    def model(self, state: State, train: Interactions) -> HistoryFactors:
        """What a state predicts."""
        return history.model(self, state, train)

    def goal(self, n_items: int) -> Goal:
        """The table of this loss for a list so long."""
        from fullrank.kernels.history import RANKS, SCORES

        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        if self.listwise:
            return Goal(RANKS, rank_table(loss, n_items, self.level), self.prior, self.prior, self.width)
        table = score_table(loss, ACTIVATIONS[self.activation], n_items, self.level)
        return Goal(SCORES, table, self.prior, self.prior, self.width)
