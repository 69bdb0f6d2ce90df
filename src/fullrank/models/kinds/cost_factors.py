"""Items valued against what else is offered (Ackerman 2012): the model of opportunity cost, global and in context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Floats
from fullrank.data.feedback import Feedback, seen
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids, Name
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, shown
from fullrank.models.kinds.linear import ItemVectors, LinearModel, People, pair_scores
from fullrank.models.kinds.model import checked_history, keep_floats
from fullrank.models.kinds.reasons import Person, Reasons, besides
from fullrank.runtime.threads import one_blas_thread


class Valued(NamedTuple):
    """The items of an offer set, best first, and why: value = benefit + cost of what is given up for them."""

    items: list[Name]
    value: list[float]
    benefit: list[float]
    cost: list[float]


class CostRecipe(Protocol):
    """What the model asks of its recipe."""

    @property
    def in_context(self) -> bool:
        """Whether it learned from sessions: an item without a context is then worth its benefit."""

    def fold(self, items: Floats, feedback: Feedback) -> tuple[Floats, Floats]:
        """The vectors and alphas of new users against fixed items."""


@dataclass(frozen=True, eq=False, repr=False)
class CostFactors(LinearModel):
    """value(u, i | offer) = b_ui + alpha_u mean over the other offered j of b_uj,   b_ui = <p_u, q_i>  (Ackerman 2012).

    In a pair this is r_ui|j, and its order is that of (1 - alpha_u) b_ui. In an offer set of n items it is that of
    (1 - alpha_u / (n-1)) b_ui; an item offered alone has no cost. The score for the whole catalogue is the first of
    these where pairs were learned from; where sessions were (`recipe.in_context`), an item without a context is worth
    its benefit, and the offers of a session their values in it.
    """

    users: Floats  # (users, factors)
    items: Floats  # (items, factors)
    alpha: Floats  # (users,)
    train: Interactions
    recipe: CostRecipe

    def __post_init__(self) -> None:
        keep_floats(self, "users", "items", "alpha")

    @cached_property
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""
        return ItemVectors(self.items)

    def people(self, users: Codes) -> People:
        """Known users (codes), by what items are worth to them: all of it in context, else less what pairs cost."""
        vectors = self.users[users]
        return People(
            vectors if self.recipe.in_context else vectors * (1 - self.alpha[users])[:, None], np.zeros(len(users))
        )

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        return self._somebody(*checked_history(self, items, values)).people(np.zeros(1, dtype=np.int32))

    def _somebody(self, codes: Codes, values: Floats) -> CostFactors:
        """The model of somebody new alone."""
        nobody = np.zeros(1, dtype=np.int32)
        return self.fold_in(Graded(np.array([0, len(codes)]), codes, values, nobody, Ids([0]), self.train.items))

    def reasons(self, item: int, person: Person) -> Reasons:
        """Its benefit, and where pairs were learned from what is given up for it: -alpha times the benefit."""
        model = self if person.user is not None else self._somebody(person.items, person.values)
        user, target = (np.array([code], dtype=np.int32) for code in (person.user or 0, item))
        benefit = float(pair_scores(model.users, user, model.items, target)[0])
        if self.recipe.in_context:
            return besides(benefit=benefit)
        return besides(benefit=benefit, opportunity_cost=-benefit * float(model.alpha[user[0]]))

    def offer_scores(self, offers: Graded) -> NDArray[np.float64]:
        """The values of all offers among those of their session; outside of sessions their scores."""
        case = offers.case
        user = self.train.users.codes(offers.users.names)[offers.user[case]]
        item = self.train.items.codes(offers.items.names)[offers.item]
        benefit = pair_scores(self.users, user, self.items, item)
        if not self.recipe.in_context:
            return np.asarray(benefit * (1 - self.alpha[user]))
        size = np.diff(offers.start)[case]
        others = np.bincount(case, benefit, minlength=len(offers))[case] - benefit
        return np.asarray(benefit + self.alpha[user] * others / np.maximum(size - 1, 1))

    def fold_in(self, feedback: Feedback) -> CostFactors:
        """Somebody new, or several, from ratings, sessions or preferences over the same items: a model of them."""
        if feedback.items != self.train.items:
            raise DataError("the new feedback has other items than the model; give it the same catalogue.")
        with one_blas_thread():
            users, alpha = self.recipe.fold(self.items, feedback)
        return replace(self, users=users, alpha=alpha, train=seen(feedback))

    def rank_offers(self, user: Name, items: Sequence[Name]) -> Valued:
        """What these items are worth to a known user beside each other, best first; of equal ones the first named."""
        codes = self.train.items.codes(list(items))
        if not len(codes) or len(np.unique(codes)) != len(codes):
            raise DataError(f"an offer has each item once, at least one; got {shown(list(items))}.")
        code = self.train.users.code(user)
        benefit = pair_scores(self.users, np.full(len(codes), code, dtype=np.int32), self.items, codes)
        others = (benefit.sum() - benefit) / max(len(codes) - 1, 1)
        cost = self.alpha[code] * (others if len(codes) > 1 else 0 * benefit)
        order = np.argsort(-(benefit + cost), kind="stable")
        value = benefit + cost
        named = [items[place] for place in order]
        return Valued(named, *([float(part[place]) for place in order] for part in (value, benefit, cost)))
