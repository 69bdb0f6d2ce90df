"""New feedback taken into a model that is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from fullrank.data.feedback import Feedback
from fullrank.errors import DataError
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.history_factors import HistoryFactors
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.item_sequences import ItemSequences, moments
from fullrank.models.kinds.model import Model
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.kinds.own_items import OwnItems
from fullrank.models.preferences.filters import Contextual, Filtered
from fullrank.recommending.merging import merge, merge_rows, move_rows, need_interactions
from fullrank.recommending.update_costs import add_users
from fullrank.runtime.threads import one_blas_thread

Updated = TypeVar("Updated", bound=Model)


def update(model: Updated, more: Feedback) -> Updated:
    """The model with new feedback in it: new users, new items, changed values. A known pair takes its new value.

    - `Factors`: items of the batch are solved against the users known so far, then its users against all items, each
      by the recipe's own row equation (Steck 2010, section 4.3); everybody else keeps their vector. An item that only
      new users have met has the vector 0.
    - `HistoryFactors`: users follow from what they did, and nothing else changes; a new item has the vectors and the
      bias 0 until the model is fitted again.
    - `ItemItem`, `DualItemItem`, `ItemScores` and `OwnItems` (EASE, ItemCF, Bestseller, PersonalFrequency): what the
      recipe makes of old and new feedback together.
    - `ItemSequences` (RecentItemCF): the same; new rows are later than all that the model knows, in the order of their
      times.
    - `CostFactors` (OpportunityCost, SessionCost, CCF): users of the batch as `fold_in` finds them; items stay as they
      are and new ones are refused. Of sessions and preferences, which a model does not keep, users have to be new too.

    Whatever cannot be taken in, as by a model of OrdRec, is refused with a sentence that says why and what to do.

    >>> from fullrank.data.interactions import Interactions
    >>> from fullrank.models.neighbours.bestseller import Bestseller
    >>> model = Bestseller(by="count").fit(Interactions.of([1, 2], ["tea", "tea"]))
    >>> update(model, Interactions.of([1, 3], ["jam", "tea"])).items
    array([1., 3.], dtype=float32)
    """
    how = HOW.get(type(model))
    if how is None:
        why = WHY_NOT.get(type(model), "nothing is known of how its parts are found")
        raise DataError(
            f"{type(getattr(model, 'recipe', model)).__name__}: {why}, so a fitted model takes in no new feedback; fit "
            "again with all of it, or use recommend(history=...) for somebody new."
        )
    with one_blas_thread():
        updated: Updated = how(model, more)
    return updated


def _solve(model: Factors, more: Feedback) -> Factors:
    """The rows of the batch by the recipe's own equation: items as `fold_in_item` has them, then users."""
    new = need_interactions(model, more)
    train = merge(model.train, new)
    users = move_rows(model.users, model.train.users, train.users)
    items = move_rows(model.items, model.train.items, train.items)
    bias = None if model.bias is None else move_rows(model.bias, model.train.items, train.items)
    touched = train.items.codes(new.items.names[np.unique(new.item)])
    known = train.users.codes(model.train.users.names)  # users of the batch have no vector, and no place in a ridge
    items[touched] = model.recipe.vectors(model, "users", train.by_item()[touched][:, known])
    between = replace(model, users=users.copy(), items=items, train=train, bias=bias)
    touched = train.users.codes(new.users.names[np.unique(new.user)])
    users[touched] = model.recipe.vectors(between, "items", train.by_user()[touched])
    return replace(between, users=users)


def _keep_vectors(model: HistoryFactors, more: Feedback) -> HistoryFactors:
    """The same vectors and biases over the ids of both."""
    train = merge(model.train, need_interactions(model, more))
    sides = {"items": "items", "history": "items", "bias": "items", "users": "users", "user_bias": "users"}
    arrays = {name: getattr(model, name) for name in sides}
    moved: dict[str, Any] = {
        name: move_rows(array, getattr(model.train, sides[name]), getattr(train, sides[name]))
        for name, array in arrays.items()
        if array is not None
    }
    return replace(model, train=train, **moved)


def _refit(model: ItemItem | DualItemItem | ItemScores | OwnItems, more: Feedback) -> Any:
    """Sums over all feedback, which cost no more than their update; there is no chance in them."""
    return model.recipe.fit(merge(model.train, need_interactions(model, more)))


def _refit_in_order(model: ItemSequences, more: Feedback) -> ItemSequences:
    """The same where there is an order: a model keeps no times, so what is new comes after all it knows."""
    new = need_interactions(model, more)
    if new.time is None:
        raise DataError(f"{type(model.recipe).__name__}: the new feedback has no times to order it by; give them.")
    train, rows = merge_rows(model.train, new)
    later = moments(new.user, new.time.view(np.int64)) + 1 + model.moment.max(initial=0)
    return model.recipe.fit_in_order(train, moments(train.user, np.concatenate([later, model.moment])[rows]))


HOW: dict[type, Callable[[Any, Feedback], Any]] = {
    Factors: _solve,
    HistoryFactors: _keep_vectors,
    ItemItem: _refit,
    DualItemItem: _refit,
    ItemScores: _refit,
    OwnItems: _refit,
    ItemSequences: _refit_in_order,
    CostFactors: add_users,
}
WHY_NOT = {
    OrdinalFactors: "the thresholds of users are learned together with all vectors",
    Contextual: "which feedback was given in which context is not kept",
    Filtered: "which feedback was given in which context is not kept",
}
