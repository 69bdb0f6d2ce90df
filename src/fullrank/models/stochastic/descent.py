"""Stochastic gradient descent, epoch after epoch: what all such recipes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from fullrank.arrays import Floats
from fullrank.data.feedback import Feedback
from fullrank.errors import check, check_integer, is_number
from fullrank.models.kinds.model import Model
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.training.state import Length, Parameters, Rounds

Data = TypeVar("Data", bound=Feedback, contravariant=True)
Made = TypeVar("Made", bound=Model, covariant=True)
Epoch: TypeAlias = Callable[[Parameters, int, float], float]  # (parameters, number, rate): the mean loss


@runtime_checkable
class Descent(IterativeRecipe[Data, Made], Protocol[Data, Made]):
    """A recipe of so many epochs at a rate that decays."""

    factors: int
    reg: float
    rate: float
    decay: float
    epochs: int

    @property
    def length(self) -> Length:
        """So many epochs."""
        return Length("epochs", self.epochs)

    def rate_in(self, number: int) -> float:
        """The rate in epoch `number`, counted from 0: rate decay^number."""
        return float(self.rate * self.decay**number)

    def rounds(self, start: Callable[[], Parameters], epoch: Epoch) -> Rounds:
        """Epochs at the rates they have."""
        return Rounds(start, lambda parameters, number: epoch(parameters, number, self.rate_in(number)))


def check_descent(recipe: Descent[Data, Made], *others: str) -> None:
    """The parameters that all such recipes have; `others` are numbers >= 0 too."""
    check_integer("factors", recipe.factors, 1, 4096)
    check_integer("epochs", recipe.epochs, 1)
    check("rate", recipe.rate, is_number(recipe.rate) and 0 < recipe.rate < np.inf, "a number > 0")
    check("decay", recipe.decay, is_number(recipe.decay) and 0 < recipe.decay <= 1, "a number in (0, 1]")
    for name in ("reg", *others):
        number = getattr(recipe, name)
        check(name, number, is_number(number) and 0 <= number < np.inf, "a number >= 0")


def normal(rows: int, columns: int, scale: float, seed: int, stream: int) -> Floats:
    """Normal numbers with this standard deviation, to start from."""
    rng = np.random.default_rng([seed, stream])
    return rng.standard_normal((rows, columns), dtype=np.float32) * np.float32(scale)
