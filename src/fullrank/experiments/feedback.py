"""Any recipe on any feedback: sessions and preferences as ratings for those that know nothing else."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.models.ccf import CCF
from fullrank.models.opportunity import OpportunityCost
from fullrank.models.session_cost import SessionCost

Feedback: TypeAlias = Interactions | Graded | Preferences

MOST_GRADES = 25
TAKES: dict[type, tuple[type, ...]] = {
    OpportunityCost: (Graded, Preferences),
    SessionCost: (Graded,),
    CCF: (Graded,),
}  # beside interactions, which all take


def kind_of(data: Feedback) -> str:
    """What people gave: "ratings" (two to 25 different values), "events" (no values, one, or counts), "sessions", or
    "preferences".
    """
    if not isinstance(data, Interactions):
        return "sessions" if isinstance(data, Graded) else "preferences"
    different = 0 if data.value is None else len(np.unique(data.value))
    return "ratings" if 1 < different <= MOST_GRADES else "events"


def taken(recipe: Any, train: Feedback) -> Feedback:
    """The feedback as this recipe takes it: as it is, or as ratings."""
    if isinstance(train, Interactions):
        return train
    return train if isinstance(train, TAKES.get(type(recipe), ())) else train.interactions()


def fit(recipe: Any, train: Feedback, seed: int = 0, **training: Any) -> Any:
    """The recipe's model of this feedback."""
    return recipe.fit(taken(recipe, train), seed=seed, **training)
