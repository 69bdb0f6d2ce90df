"""A fitted model over the users and items of other data, found by name: as if it had been fitted with that catalogue.

An item the model does not know scores what an item without feedback scores; a person it does not know is served what is
popular, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fullrank.arrays import Array, Bools, Codes, Floats
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, canonical, present
from fullrank.data.outside import match
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.linear import ItemVectors, Linear, People, exact_scores_of
from fullrank.models.kinds.model import Model


@dataclass(frozen=True, eq=False)
class AlignedRows:
    """A model whose scores are rows of its own."""

    model: Any
    train: Interactions  # of the model, in the places of the other data
    user: Codes  # the model's code of every user, -1 where it has none
    item: Codes
    notes: tuple[str, ...] = ()

    @property
    def recipe(self) -> object:
        """What the model was made by."""
        recipe: object = self.model.recipe
        return recipe

    def knows(self, users: Codes) -> Bools:
        """Of which users there is anything to tell their taste from."""
        known = self.user[users] >= 0
        return np.asarray(known & self.model.knows(np.maximum(self.user[users], 0)))

    def exact_scores(self, users: Codes) -> Array:
        """The scores of these users (codes) for all items, 0 where nothing is known of either."""
        own, there = self.user[users] >= 0, self.item >= 0
        scores = exact_scores_of(self.model, self.user[users][own])
        out = np.zeros((len(users), len(self.item)), dtype=scores.dtype)
        out[np.ix_(own, there)] = scores[:, self.item[there]]
        return out


@dataclass(frozen=True, eq=False)
class AlignedVectors(AlignedRows):
    """A model whose scores are inner products: its vectors in other places, zeros where there are none."""

    item_vectors: ItemVectors = field(kw_only=True)

    def people(self, users: Codes) -> People:
        """Known users, by codes."""
        known = self.user[users] >= 0
        given = self.model.people(np.maximum(self.user[users], 0))
        return People(given.vectors * known[:, None].astype(given.vectors.dtype), given.offset * known)

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        known = self.item[items] >= 0
        made: People = self.model.newcomer(self.item[items][known], values[known])
        return made


def align(model: Model, users: Ids, items: Ids) -> Any:
    """The model for these users and items; itself where it has the same."""
    if model.train.users == users and model.train.items == items:
        return model
    train = recode(model.train, users, items)
    user, item = match(users, model.train.users), match(items, model.train.items)
    notes = _notes(model, train, user, item)
    if isinstance(model, ItemScores):
        return ItemScores(_take(model.items, item), train, model.recipe)
    if not isinstance(model, Linear):
        return AlignedRows(model, train, user, item, notes)
    own = model.item_vectors
    vectors, bias = (None if part is None else _take(part, item) for part in (own.vectors, own.bias))
    return AlignedVectors(model, train, user, item, notes, item_vectors=ItemVectors(vectors, bias))  # type: ignore[arg-type]


def recode(data: Interactions, users: Ids, items: Ids) -> Interactions:
    """The rows of these users and items, by their codes; others are left out."""
    user, item = match(data.users, users)[data.user], match(data.items, items)[data.item]
    kept = (user >= 0) & (item >= 0)
    columns = present(user=user, item=item, value=data.value, time=data.time)
    return canonical({k: v[kept] for k, v in columns.items()}, users, items, "last", Intake(), data.kind)


def _take(rows: Array, place: Codes) -> Array:
    out: Array = rows[np.maximum(place, 0)] if len(rows) else np.zeros((len(place), *rows.shape[1:]), rows.dtype)
    out[place < 0] = 0
    return out


def _notes(model: Model, train: Interactions, user: Codes, item: Codes) -> tuple[str, ...]:
    """What one side has and the other does not."""
    notes = []
    if (item < 0).any():
        notes.append(f"{int((item < 0).sum()):,} of {len(item):,} items are unknown to the model")
    if (user < 0).any():
        notes.append(f"{int((user < 0).sum()):,} of {len(user):,} users are unknown to the model")
    lost = len(model.train) - len(train)
    if lost:
        notes.append(f"{lost:,} rows the model was fitted on are of users or items that are not in the data")
    return tuple(notes)
