"""Other losses over sampled negatives, on the same model as Gaussian ranking: what S4 compares it with.

    s_ui = <p_i, v_u>,   v_u = sum over positives j of q_j / sqrt(n_u)

Negatives are drawn per positive; `dropout`, `balance` and regularisation are those of `GaussianRank`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.models import history
from fullrank.models.descent import Epoch, descended
from fullrank.models.history import Goal, check_history
from fullrank.models.model import HistoryFactors
from fullrank.models.samplers import Sampler
from fullrank.models.state import Parameters, State
from fullrank.models.training import Training

NOTHING = np.zeros((2, 2), dtype=np.float32)  # no table


@dataclass(frozen=True)
class SquaredNegatives:
    """Squared error with sampled negatives, which tell more the more of them there are.

    1/2 (s_ui - 1)^2  of positives,   1/2 s_uj^2  of negatives
    """

    factors: int = 50
    reg: float = 1e-5
    dropout: float = 0.6
    negatives: float = 5.0
    sampler: Sampler = "uniform"
    balance: float = 0.5
    rate: float = 0.01
    decay: float = 0.95
    epochs: int = 40
    relevant: float | None = None

    def __post_init__(self) -> None:
        check_history(self)

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> HistoryFactors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal numbers."""
        return history.start(self, train, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Everybody's positives, with negatives, once."""
        from fullrank.kernels.history import SQUARED

        return history.epochs(self, train, seed, Goal(SQUARED, NOTHING, 1.0))

    def model(self, state: State, train: Interactions) -> HistoryFactors:
        """What a state predicts."""
        return history.model(self, state, train)


@dataclass(frozen=True)
class SoftmaxNegatives:
    """Cross entropy of each positive and its own sampled negatives, which stand for all N - n_u.

    - log( exp s_ui / (exp s_ui + (N - n_u)/m sum over its m negatives j of exp s_uj) )
    """

    factors: int = 50
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
        check_history(self)

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> HistoryFactors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal numbers."""
        return history.start(self, train, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Everybody's positives, with negatives, once."""
        from fullrank.kernels.history import SOFTMAX

        return history.epochs(self, train, seed, Goal(SOFTMAX, NOTHING, 0.25))

    def model(self, state: State, train: Interactions) -> HistoryFactors:
        """What a state predicts."""
        return history.model(self, state, train)


@dataclass(frozen=True)
class HistoryBPR:
    """BPR where a person is what they did: positives above sampled negatives, pair by pair.

    - log sigma(s_ui - s_uj)
    """

    factors: int = 50
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
        check_history(self)

    def fit(self, train: Interactions, seed: int = 0, **training: Any) -> HistoryFactors:
        """Epochs of steps; `Training` tells what else can be said."""
        return self.model(descended(self, train, seed, Training(**training)), train)

    def start(self, train: Interactions, seed: int) -> Parameters:
        """Small normal numbers."""
        return history.start(self, train, seed)

    def epoch(self, train: Interactions, seed: int) -> Epoch:
        """Everybody's positives, with negatives, once."""
        from fullrank.kernels.history import PAIRS

        return history.epochs(self, train, seed, Goal(PAIRS, NOTHING, 0.25))

    def model(self, state: State, train: Interactions) -> HistoryFactors:
        """What a state predicts."""
        return history.model(self, state, train)
