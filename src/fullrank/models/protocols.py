"""What a recipe is and what it makes: the two types that everything else speaks about.

A recipe is a frozen set of hyper-parameters whose `fit` makes a `Model`. Most are trained in rounds: such a recipe says
how long (`length`), what is trained and how (`prepare`), and what the trained parameters predict (`model`); its `fit`,
with progress, early stopping and checkpoints, is written here, once.
"""

from __future__ import annotations

from typing import Protocol, TypeVar, Unpack, runtime_checkable

from fullrank.data.feedback import Feedback, seen
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check_integer
from fullrank.models.kinds.model import Model
from fullrank.models.training import loop
from fullrank.models.training.state import Length, Parameters, Rounds, Training, TrainingOptions

__all__ = ["IterativeRecipe", "Length", "Model", "Parameters", "Recipe", "Rounds", "need_feedback"]

Data = TypeVar("Data", bound=Feedback, contravariant=True)
Made = TypeVar("Made", bound=Model, covariant=True)


@runtime_checkable
class Recipe(Protocol[Data, Made]):
    """A frozen set of hyper-parameters that makes models."""

    def fit(self, train: Data, seed: int = 0) -> Made:
        """Train on all of `train`; the same data and seed give the same bytes on one type of processor."""


@runtime_checkable
class IterativeRecipe(Protocol[Data, Made]):
    """A recipe that is trained in rounds, with a state between them that predicts something.

    Whoever wants to know whether one is, asks this: a number of sweeps alone makes none, as PureSVD shows.
    """

    @property
    def length(self) -> Length:
        """How long it trains: `Length("sweeps", 10)`."""

    def prepare(self, train: Data, seed: int) -> Rounds:
        """What is trained, and how; data that cannot be trained on is refused here."""

    def model(self, parameters: Parameters, train: Interactions) -> Made:
        """What parameters predict; `train` is who met what."""

    def rate_in(self, number: int) -> float | None:
        """The rate in round `number`, counted from 0, where there is such a thing."""
        return None

    def fit(self, train: Data, seed: int = 0, **training: Unpack[TrainingOptions]) -> Made:
        """Train on all of `train`; the same data and seed give the same bytes on one type of processor.

        `training` is what `fullrank.models.training.state.Training` has: `progress`, `tolerance`, `judge`, `patience`
        and `checkpoint`.
        """
        check_integer("seed", seed, 0, 2**63 - 1)
        known = seen(train)
        need_feedback(self, known)
        return loop.train(self, train, known, seed, Training(**training))


def need_feedback(recipe: object, train: Interactions) -> None:
    """Refuse data without rows."""
    if not len(train):
        raise DataError(f"{type(recipe).__name__}: there is no feedback to train on; give some.")
