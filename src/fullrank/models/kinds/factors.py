"""Vectors of users and items: what most factorisations give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from fullrank.arrays import Codes, Csr, Floats
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.linear import ItemVectors, LinearModel, People
from fullrank.models.kinds.model import keep_floats
from fullrank.runtime.threads import one_blas_thread

SideName: TypeAlias = Literal["users", "items"]
Prepared = TypeVar("Prepared")


class FactorRecipe(Protocol):
    """What the model asks of its recipe."""

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """The best rows for these pairs: users against fixed "items", or items against fixed "users"."""


@dataclass(frozen=True, eq=False, repr=False)
class Factors(LinearModel):
    """score(u, i) = <p_u, q_i> + bias_i + offset."""

    users: Floats  # (users, factors)
    items: Floats  # (items, factors)
    train: Interactions
    recipe: FactorRecipe
    bias: Floats | None = None  # (items,)
    offset: float = 0.0

    def __post_init__(self) -> None:
        keep_floats(self, "users", "items", "bias")

    @cached_property
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""
        return ItemVectors(self.items, self.bias)

    def people(self, users: Codes) -> People:
        """Known users (codes)."""
        return People(self.users[users], np.full(len(users), self.offset))

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        return People(self.fold_in(items, values)[None, :], np.full(1, self.offset))

    def fold_in(self, items: Codes, values: Floats) -> Floats:
        """The vector of somebody new from what they did: the recipe's own row equation against the items."""
        return self._fold("items", items, values)

    def fold_in_item(self, users: Codes, values: Floats) -> Floats:
        """The vector of a new item from what people did with it: the same equation against the users."""
        return self._fold("users", users, values)

    def side(self, name: SideName) -> Floats:
        """The vectors of "users" or "items"."""
        return self.users if name == "users" else self.items

    def once(self, name: SideName, make: Callable[[Floats], Prepared]) -> Prepared:
        """What `make` gives of one side, made once: what solves against the same vectors again and again need."""
        if name not in self._prepared:
            self._prepared[name] = make(self.side(name))
        prepared: Prepared = self._prepared[name]
        return prepared

    @cached_property
    def _prepared(self) -> dict[SideName, Any]:
        return {}

    def _fold(self, against: SideName, codes: Codes, values: Floats) -> Floats:
        from scipy.sparse import csr_array

        shape = 1, len(self.side(against))
        pairs = csr_array((np.asarray(values, dtype=np.float32), codes, [0, len(codes)]), shape=shape)
        with one_blas_thread():
            return np.asarray(self.recipe.vectors(self, against, pairs)[0])
