"""Gaussian ranking: toward any loss that is a smooth function of ranks, pointwise or listwise (Steck 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullrank.errors import check
from fullrank.models.asymmetric.activations import ACTIVATIONS
from fullrank.models.asymmetric.amf import Goal, HistoryRecipe, check_history
from fullrank.models.asymmetric.rank_loss import LOSSES, RankLoss, rank_table, score_table
from fullrank.models.positives import Relevant
from fullrank.models.stochastic.samplers import Sampler


@dataclass(frozen=True)
class GaussianRank(HistoryRecipe):
    """Relevant items up the list, as ranks follow from scores that are about normally distributed (Steck 2015, Eq. 18).

        sum_u n_u^-balance { sum over positives i  [ L(r_ui) + reg/2 (|p_i|^2 + sum over positives j |q_j|^2) ]
                             + prior/2 sum over sampled negatives j  [s_uj]_+^2 },     s_ui = <p_i, v_u>,
        v_u = sum over positives j  q_j / sqrt(n_u),     r_ui = N (1 - a(s_ui / width))

    With `listwise` the ranks are those among the user's positives and sampled negatives, scaled to the full list,
    rho = 1 - r/N, and the slope of the logistic curve is 4 rho (1 - rho) / (sqrt(2 pi) std) with the standard
    deviation of the negatives' scores. A slope does not vanish at rank 1 while the score grows ("ndcg"), so it
    is that of the curve at the score, (s - mean) / (width sqrt(2 pi) std), where that is smaller.
    """

    #: Length of the vectors, 1 to 4096: more can tell more apart, take longer and need more `reg`.
    factors: int = 50
    #: L: linear in the rank ("auc"), -DCG ("ndcg", for the top of the list), or a `RankLoss` of your own.
    loss: Literal["auc", "ndcg"] | RankLoss = "auc"
    #: a, of rankSE's width: "probit", the "logistic" curve, which is nearly the same, "quad" or "rankSE".
    activation: Literal["probit", "logistic", "quad", "rankSE"] = "logistic"
    #: What scores are divided by, > 0: well above 1, the ranking is head-heavy.
    width: float = 1.0
    #: Whether ranks are those among a user's positives and sampled negatives; needs the "logistic" curve.
    listwise: bool = False
    #: Strength with which scores of negatives above 0 are drawn to 0, >= 0: a large one makes the ranking head-heavy.
    prior: float = 0.3
    #: Ranks better than this, >= 1, have no larger slope than those from it to the middle: else nobody learns of the
    #: others.
    level: float = 25.0
    #: Strength of regularisation, >= 0: raise it where held-out results are worse than those in training.
    reg: float = 1e-5
    #: Share of a history that is left out of v_u, anew in every epoch, in [0, 1): more keeps it from learning by heart.
    dropout: float = 0.6
    #: Negatives drawn for every positive, > 0: more tell more of the list and take longer.
    negatives: float = 5.0
    #: How items that stand for all others are drawn: "uniform", by "popularity" (harder to beat), or by a tuple of
    #: weights >= 0, one for each item.
    sampler: Sampler = "uniform"
    #: Users count n_u^-balance, from 0 (every positive counts the same) to 1 (every user does).
    balance: float = 0.5
    #: Size of a step, > 0: lower it where training diverges, raise it where it is slow.
    rate: float = 0.02
    #: What the rate is multiplied by after every epoch, in (0, 1]: below 1, the last epochs settle.
    decay: float = 0.95
    #: Passes over the training data, from 1: raise it while held-out results improve; `judge` may stop them.
    epochs: int = 40
    #: What counts as positive: values at or above a number, above a share of all ("30%") or the person's "own mean";
    #: None: all that was observed, whatever its value.
    relevant: Relevant = None

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

    def goal(self, n_items: int) -> Goal:
        """The table of this loss for a list so long."""
        from fullrank.kernels.sgd_history import RANKS, SCORES

        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        if self.listwise:
            return Goal(RANKS, rank_table(loss, n_items, self.level), self.prior, self.prior, self.width)
        table = score_table(loss, ACTIVATIONS[self.activation], n_items, self.level)
        return Goal(SCORES, table, self.prior, self.prior, self.width)
