"""The personal frequency list: what people took most often, then what is popular."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.errors import check, is_number
from fullrank.models.kinds.own_items import OwnItems
from fullrank.models.protocols import Recipe, need_feedback


@dataclass(frozen=True)
class PersonalFrequency(Recipe[Interactions, OwnItems]):
    """For people who take the same things again (baskets, plays): how often they did, and how popular a thing is.

        score(u, i) = n_ui + popularity n_i / (1 + max_j n_j)

    n_ui is the value, a count (1 where there are no values), n_i how many people took item i. Somebody without a
    history gets the bestseller list. So does everybody where seen items are left out, as `rank` and `recommend` do
    by default: this recipe is for `exclude=None`, and `recommend(..., repeat=True)`.
    """

    #: How often somebody must have taken a thing to have it level with the most popular one, >= 0: below 1, what they
    #: took is always before what they did not.
    popularity: float = 2.0

    def __post_init__(self) -> None:
        fits = is_number(self.popularity) and 0 <= self.popularity < np.inf
        check("popularity", self.popularity, fits, "a number >= 0")

    def fit(self, train: Interactions, seed: int = 0) -> OwnItems:
        """Count; there is no chance in it: `seed` changes nothing."""
        need_feedback(self, train)
        popular = train.popularity * (self.popularity / (1 + int(train.popularity.max())))
        return OwnItems(popular.astype(np.float32), train, self)
