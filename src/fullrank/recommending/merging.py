"""Old and new feedback as one, and what belongs to the old in its places there."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Floats
from fullrank.data.feedback import Feedback
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.kinds.model import Model

Order: TypeAlias = NDArray[np.intp]


class Changes(NamedTuple):
    """What new feedback brought."""

    new_users: int
    new_items: int
    new_pairs: int
    changed_values: int


def changes(before: Interactions, after: Interactions) -> Changes:
    """What feedback has beyond the earlier part of it.

    >>> old = Interactions.of([1, 1], ["tea", "jam"], [5, 1])
    >>> changes(old, merge(old, Interactions.of([1, 2], ["jam", "gin"], [3, 4])))
    Changes(new_users=1, new_items=1, new_pairs=1, changed_values=1)
    """
    users, items = after.users.codes(before.users.names), after.items.codes(before.items.names)
    known = users[before.user].astype(np.int64) * after.n_items + items[before.item]
    place = np.searchsorted(after.user.astype(np.int64) * after.n_items + after.item, known)
    other = 0 if before.value is None or after.value is None else int((after.value[place] != before.value).sum())
    grown = after.n_users - before.n_users, after.n_items - before.n_items, len(after) - len(before)
    return Changes(*grown, other)


def merge(old: Interactions, new: Interactions) -> Interactions:
    """Both, over the ids of both; of a pair in both the new value counts."""
    return merge_rows(old, new)[0]


def merge_rows(old: Interactions, new: Interactions) -> tuple[Interactions, Order]:
    """Both, and which row each is: numbered from 0 through the new ones, then the old ones."""
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
    return Interactions(user[kept], item[kept], value, None, users, items), kept


def add_counts(old: Interactions, new: Interactions) -> Interactions:
    """New events with how often they then happened in all: 1 or their count, and what is known of the pair before.

    Where the old feedback has no counts, that something happened is all there is to know.

    >>> old = Interactions.of([1, 1], ["tea", "jam"], [5, 1])
    >>> add_counts(old, Interactions.of([1, 2], ["tea", "tea"])).value
    array([6., 1.], dtype=float32)
    """
    if old.value is None:
        return replace(new, value=None)
    user = old.users.codes(new.users.names, missing=-1)[new.user].astype(np.int64)
    item = old.items.codes(new.items.names, missing=-1)[new.item]
    pair = np.where((user >= 0) & (item >= 0), user * old.n_items + item, -1)
    known = np.append(old.user.astype(np.int64) * old.n_items + old.item, np.iinfo(np.int64).max)
    place = np.searchsorted(known, pair)
    before = np.where(known[place] == pair, np.append(old.value, 0)[place], 0)
    counts = np.ones(len(new)) if new.value is None else new.value
    return replace(new, value=(counts + before).astype(np.float32))


def move_rows(rows: Floats, old: Ids, new: Ids) -> NDArray[np.float32]:
    """Rows, or single numbers, in the places of a larger catalogue; zeros where there were none.

    >>> move_rows(np.array([1, 2], dtype=np.float32), Ids(["b", "a"]), Ids(["a", "b", "c"]))
    array([2., 1., 0.], dtype=float32)
    """
    moved = np.zeros((len(new), *rows.shape[1:]), dtype=np.float32)
    moved[new.codes(old.names)] = rows
    return moved


def need_interactions(model: Model, more: Feedback) -> Interactions:
    """New feedback for a model that was fitted on interactions; nothing else will do."""
    if isinstance(more, Interactions):
        return more
    raise DataError(
        f"{type(model.recipe).__name__}: the model was fitted on Interactions and the new feedback is "
        f"{type(more).__name__}; give as_interactions(...) of it, or fit again with all feedback."
    )
