"""New feedback folded into a model, without fitting it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.kernels.threads import one_blas_thread
from fullrank.models.model import Factors, Floats, HistoryFactors, stored

Updated = TypeVar("Updated", Factors, HistoryFactors)


def update(model: Updated, more: Interactions) -> Updated:
    """The model with new feedback in it: new users, new items, changed values (S0 section 4.3).

    Items of the batch are solved against the users known so far, then its users against all items, each by the
    recipe's own row equation; everybody else keeps their vector. A pair that was known takes its new value.
    Of a `HistoryFactors` users follow from what they did, and nothing else changes: a new item has the vectors and
    the bias 0 until the model is fitted again.
    """
    if isinstance(model, HistoryFactors):
        return _of_history(model, more)
    with one_blas_thread():
        return _solved(model, more)


def _of_history(model: HistoryFactors, more: Interactions) -> HistoryFactors:
    """The same vectors and biases over the ids of both."""
    train = merged(model.train, more)
    sides = {"items": "items", "history": "items", "bias": "items", "users": "users", "user_bias": "users"}
    found: dict[str, Any] = {}
    for name, side in sides.items():
        array = getattr(model, name)
        if array is not None:
            rows = _moved(array.reshape(len(array), -1), getattr(model.train, side), getattr(train, side))
            found[name] = rows.reshape(-1, *array.shape[1:])
    return replace(model, train=train, **found)


def _solved(model: Factors, more: Interactions) -> Factors:
    """The rows of the batch by the recipe's own equation."""
    train = merged(model.train, more)
    users = _moved(model.users, model.train.users, train.users)
    items = _moved(model.items, model.train.items, train.items)
    bias = None if model.bias is None else _moved(model.bias[:, None], model.train.items, train.items)[:, 0]
    before = replace(model, users=users.copy(), items=items.copy(), train=train, bias=bias)
    known = np.zeros(len(train.users), dtype=bool)
    known[train.users.codes(model.train.users.names)] = True
    touched = train.items.codes(more.items.names[np.unique(more.item)])
    found = train.by_item()[touched]
    items[touched] = model.recipe.vectors(before, "users", stored(found, known[found.indices]))
    between = replace(before, items=items)
    touched = train.users.codes(more.users.names[np.unique(more.user)])
    users[touched] = model.recipe.vectors(between, "items", train.by_user()[touched])
    return replace(between, users=users)


def merged(old: Interactions, new: Interactions) -> Interactions:
    """Both, over the ids of both; of a pair in both the new value counts."""
    if (old.value is None) != (new.value is None):
        raise DataError("the new feedback has values and the model's has none, or the other way round; give the same.")
    users, items = old.users.union(new.users.names), old.items.union(new.items.names)
    user, item = (
        np.concatenate([ids.codes(part.names)[codes] for part, codes in parts])
        for ids, parts in (
            (users, ((new.users, new.user), (old.users, old.user))),
            (items, ((new.items, new.item), (old.items, old.item))),
        )
    )
    pair = user.astype(np.int64) * len(items) + item
    kept = np.unique(pair, return_index=True)[1]  # of equal pairs the first: the new one
    value = None if old.value is None or new.value is None else np.concatenate([new.value, old.value])[kept]
    return Interactions(user[kept], item[kept], value, None, users, items)


def _moved(rows: Floats, old: Ids, new: Ids) -> NDArray[np.float32]:
    """Rows in the places of a larger catalogue, zeros where there were none."""
    found = np.zeros((len(new), rows.shape[1]), dtype=np.float32)
    found[new.codes(old.names)] = rows
    return found
