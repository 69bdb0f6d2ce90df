"""Any recipe on any feedback: sessions and preferences as ratings for those that know nothing else."""

from __future__ import annotations

from typing import TypeVar

from fullrank.data.events import Events
from fullrank.data.feedback import Feedback, as_interactions
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.model import Model
from fullrank.models.protocols import IterativeRecipe, Recipe
from fullrank.models.training.state import TrainingOptions

Made = TypeVar("Made", bound=Model)


def takes(recipe: Recipe[Feedback, Made]) -> tuple[type, ...]:
    """The kinds of feedback that a recipe learns from: what it says itself, or interactions."""
    kinds: tuple[type, ...] = getattr(recipe, "takes", (Interactions,))
    return kinds


def adapt(recipe: Recipe[Feedback, Made], train: Feedback | Events) -> Feedback:
    """The feedback as this recipe takes it: as it is, or as ratings; events are added up."""
    if isinstance(train, Events):
        train = train.merged()
    return train if isinstance(train, takes(recipe)) else as_interactions(train)


def fit(
    recipe: Recipe[Feedback, Made], train: Feedback | Events, seed: int = 0, training: TrainingOptions | None = None
) -> Made:
    """The recipe's model of this feedback; recipes that are not trained in rounds hear nothing of `training`."""
    if isinstance(recipe, IterativeRecipe):
        made: Made = recipe.fit(adapt(recipe, train), seed=seed, **(training or {}))
        return made
    return recipe.fit(adapt(recipe, train), seed=seed)
