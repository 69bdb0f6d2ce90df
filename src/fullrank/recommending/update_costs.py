"""New users in a model of opportunity cost or of choices, against items that stay as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.feedback import Feedback, seen
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError, shown
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.recommending.merging import merge, move_rows, need_interactions


def add_users(model: CostFactors, more: Feedback) -> CostFactors:
    """The users of the batch folded in, from all that they gave: ratings are kept with the model, nothing else is."""
    rated = model.train.value is not None
    new = need_interactions(model, more) if rated else replace(seen(more), value=None, time=None)
    train = merge(model.train, new)
    _check_items(model, new)
    if not rated:
        _check_users(model, new)
    touched = np.unique(train.users.codes(new.users.names[np.unique(new.user)]))
    users = move_rows(model.users, model.train.users, train.users)
    items = move_rows(model.items, model.train.items, train.items)
    alpha = move_rows(model.alpha, model.train.users, train.users)
    if len(touched):
        feedback = _select_users(train, touched) if rated else _recode_items(more, train.items)
        vectors, costs = model.recipe.fold(items, feedback)
        own = feedback.users.codes(train.users.names[touched])
        users[touched], alpha[touched] = vectors[own], costs[own]
    return replace(model, users=users, items=items, alpha=alpha, train=train)


def _check_items(model: CostFactors, new: Interactions) -> None:
    """Refuse items that have no vector."""
    names = new.items.names[np.unique(new.item)]
    unknown = model.train.items.codes(names, missing=-1) < 0
    if unknown.any():
        raise DataError(
            f"{type(model.recipe).__name__}: the new feedback has {int(unknown.sum()):,} new items, the first is "
            f"{shown(names[unknown].tolist()[0])}, and items are learned by comparing them with one another; fit again "
            "with all feedback."
        )


def _check_users(model: CostFactors, new: Interactions) -> None:
    """Refuse users of whom a part is not given: the model knows what they met, but not what they made of it."""
    names = new.users.names[np.unique(new.user)]
    codes = model.train.users.codes(names, missing=-1)
    known = (codes >= 0) & (np.append(np.diff(model.train.starts), 0)[codes] > 0)
    if known.any():
        raise DataError(
            f"{type(model.recipe).__name__}: the new feedback has {int(known.sum()):,} known users, the first is "
            f"{shown(names[known].tolist()[0])}, and a model does not keep what sessions or preferences they gave; fit "
            "again with all feedback."
        )


def _select_users(train: Interactions, users: NDArray[Any]) -> Interactions:
    """All that these users (sorted codes) gave, and nobody else."""
    rows = train.where(np.isin(train.user, users))
    return replace(rows, user=np.searchsorted(users, rows.user).astype(np.int32), users=Ids(train.users.names[users]))


def _recode_items(more: Feedback, items: Ids) -> Feedback:
    """The same feedback over items among which are all of its own."""
    if isinstance(more, Interactions):
        return more.catalogue(items=items.names)
    codes = items.codes(more.items.names)
    if isinstance(more, Preferences):
        better, worse = codes[more.better], codes[more.worse]
        order = np.lexsort((worse, better, more.user))
        return replace(more, user=more.user[order], better=better[order], worse=worse[order], items=items)
    item = codes[more.item]
    order = np.lexsort((item, more.case))
    return replace(more, item=item[order], grade=more.grade[order], items=items)
