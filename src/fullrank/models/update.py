"""New feedback folded into a model, without fitting it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.model import Factors, Floats


def update(model: Factors, more: Interactions) -> Factors:
    """The model with new feedback in it: new users, new items, changed values (S0 section 4.3).

    Items of the batch are solved against the users known so far, then its users against all items, each by the
    recipe's own row equation; everybody else keeps their vector. A pair that was known takes its new value.
    """
    train = merged(model.train, more)
    users = _moved(model.users, model.train.users, train.users)
    items = _moved(model.items, model.train.items, train.items)
    bias = None if model.bias is None else _moved(model.bias[:, None], model.train.items, train.items)[:, 0]
    before = replace(model, users=users.copy(), items=items.copy(), train=train, bias=bias)
    known = np.zeros(len(train.users), dtype=bool)
    known[train.users.codes(model.train.users.names)] = True
    touched = train.items.codes(more.items.names[np.unique(more.item)])
    items[touched] = model.recipe.vectors(before, "users", _columns(train.by_item()[touched], known))
    between = replace(before, items=items)
    touched = train.users.codes(more.users.names[np.unique(more.user)])
    users[touched] = model.recipe.vectors(between, "items", train.by_user()[touched])
    return replace(between, users=users)


def _columns(pairs: Any, keep: NDArray[np.bool_]) -> Any:
    """The stored pairs in these columns only."""
    from scipy.sparse import csr_array

    stored = keep[pairs.indices]
    start = np.concatenate([[0], np.cumsum(stored)])[pairs.indptr]
    return csr_array((pairs.data[stored], pairs.indices[stored], start), shape=pairs.shape)


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
