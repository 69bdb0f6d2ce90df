"""Items valued against what else is offered (S2): the model of opportunity cost, global and in context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import frozen, repeats, sort_rows
from fullrank.data.graded import Graded
from fullrank.data.ids import Codes, Ids, Name
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError, shown
from fullrank.kernels.threads import one_blas_thread
from fullrank.models.linear import ItemVectors, People, pair_scores
from fullrank.models.model import Floats, check_finite, described, in_new_array, scores_of_newcomer


class Valued(NamedTuple):
    """The items of an offer set, best first, and why: value = benefit + cost of what is given up for them."""

    items: list[Name]
    value: list[float]
    benefit: list[float]
    cost: list[float]


@dataclass(frozen=True, eq=False, repr=False)
class CostFactors:
    """value(u, i | offer) = b_ui + alpha_u mean over the other offered j of b_uj,   b_ui = <p_u, q_i>  (S2).

    In a pair this is r_ui|j, and its order is that of (1 - alpha_u) b_ui. In an offer set of n items it is that of
    (1 - alpha_u / (n-1)) b_ui; an item offered alone has no cost. The score for the whole catalogue is the first of
    these where pairs were learned from; where sessions were (`recipe.in_context`), an item without a context is worth
    its benefit, and the offers of a session their values in it.
    """

    users: Floats  # (users, factors)
    items: Floats  # (items, factors)
    alpha: Floats  # (users,)
    train: Interactions
    recipe: Any

    def __post_init__(self) -> None:
        for name in ("users", "items", "alpha"):
            object.__setattr__(self, name, frozen(np.ascontiguousarray(getattr(self, name), dtype=np.float32)))
            check_finite(self.recipe, name, getattr(self, name))

    @cached_property
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""
        return ItemVectors(self.items)

    def people(self, users: Codes) -> People:
        """Known users (codes), by what items are worth to them: all of it in context, else less what pairs cost."""
        vectors = self.users[users]
        return People(vectors if self._in_context else vectors * (1 - self.alpha[users])[:, None], np.zeros(len(users)))

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        return self.fold_in(one_case(items, values, self.train.items)).people(np.zeros(1, dtype=np.int32))

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self.item_vectors.multiply(self.people(users), out)

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    @property
    def _in_context(self) -> bool:
        return getattr(self.recipe, "in_context", False)

    def offer_scores(self, offers: Graded) -> NDArray[np.float64]:
        """The values of all offers among those of their session; outside of sessions their scores."""
        case = offers.case
        user = self.train.users.codes(offers.users.names)[offers.user[case]]
        item = self.train.items.codes(offers.items.names)[offers.item]
        benefit = pair_scores(self.users, user, self.items, item)
        if not self._in_context:
            return np.asarray(benefit * (1 - self.alpha[user]))
        size = np.diff(offers.start)[case]
        others = np.bincount(case, benefit, minlength=len(offers))[case] - benefit
        return np.asarray(benefit + self.alpha[user] * others / np.maximum(size - 1, 1))

    def __repr__(self) -> str:
        return described(self)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return scores_of_newcomer(self, items, values)

    def fold_in(self, feedback: Any) -> CostFactors:
        """Somebody new, or several, from ratings, sessions or preferences over the same items: a model of them."""
        if feedback.items != self.train.items:
            raise DataError("the new feedback has other items than the model; give it the same catalogue.")
        with one_blas_thread():
            users, alpha = self.recipe.folded(self.items, feedback)
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
        found = [items[place] for place in order]
        return Valued(found, *([float(part[place]) for place in order] for part in (value, benefit, cost)))


def one_case(items: Codes, values: Floats, catalogue: Ids) -> Graded:
    """A history as a case of somebody called 0."""
    if len(items) != len(values):
        raise DataError(f"a history of {len(items)} items has {len(values)} values; give one for each.")
    return Graded(np.array([0, len(items)]), items, values, np.zeros(1, dtype=np.int32), Ids([0]), catalogue)


def seen(feedback: Any) -> Interactions:
    """Who met what: the items a model leaves out for a user, and its ids."""
    if isinstance(feedback, Interactions):
        return feedback
    if isinstance(feedback, Preferences):
        user, item = np.tile(feedback.user, 2), np.concatenate([feedback.better, feedback.worse])
    else:
        cases: Graded = feedback
        user, item = cases.user[cases.case], cases.item
    _, (user, item) = sort_rows((user, len(feedback.users)), (item, len(feedback.items)))
    once = ~repeats(user, item)
    return Interactions(user[once], item[once], None, None, feedback.users, feedback.items)
