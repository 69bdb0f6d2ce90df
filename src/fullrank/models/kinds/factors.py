"""Vectors of users and items: what most factorisations give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from fullrank.arrays import Codes, Csr, Doubles, Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.models.kinds.linear import ItemVectors, LinearModel, People, pair_scores
from fullrank.models.kinds.model import keep_floats
from fullrank.models.kinds.reasons import Person, Reasons
from fullrank.runtime.threads import one_blas_thread

SideName: TypeAlias = Literal["users", "items"]
Prepared = TypeVar("Prepared")


class FactorRecipe(Protocol):
    """What the model asks of its recipe."""

    def vectors(self, fixed: Factors, against: SideName, pairs: Csr) -> Floats:
        """The best rows for these pairs: users against fixed "items", or items against fixed "users"."""


class FoldParts(NamedTuple):
    """What <fold-in of a history, an item> is the sum of: a part of each pair of the history, and a bias."""

    parts: Doubles
    bias: float = 0.0


@runtime_checkable
class LinearFoldIn(Protocol):
    """A recipe whose fold-in is a sum over the pairs of a history, with weights that the history gives."""

    def fold_parts(self, fixed: Factors, item: int, pairs: Csr) -> FoldParts:
        """What each of the pairs of somebody (one row, those that count) adds to the score of an item."""


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

    @property
    def bias_columns(self) -> int:
        """How many of the last columns are biases and their counterparts: the recipe says so."""
        return int(self.recipe.bias_columns()) if hasattr(self.recipe, "bias_columns") else 0

    def reasons(self, item: int, person: Person) -> Reasons:
        """The fold-in of the history, pair by pair (Hu, Koren and Volinsky 2008, section 5); bias and offset.

        Of a known user the stored vector counts: what it scores beyond the fold-in of their history is "training".
        """
        if not isinstance(self.recipe, LinearFoldIn):
            raise DataError(
                f"{type(self.recipe).__name__}: a vector that many small steps over drawn pairs have found is no sum "
                "over what somebody did, so its scores have no parts; explain a model of IALS, AllRank, EASE or ItemCF."
            )
        with one_blas_thread():
            parts, bias = self.recipe.fold_parts(self, item, self._pairs("items", person.items, person.values))
        own = 0.0 if self.bias is None else float(self.bias[item])
        others = {name: part for name, part in (("offset", self.offset), ("item bias", bias + own)) if part}
        if person.user is not None:
            user, target = (np.array([code], dtype=np.int32) for code in (person.user, item))
            stored = float(pair_scores(self.users, user, self.items, target)[0])
            others["training"] = stored - float(parts.sum()) - bias
        return Reasons(person.items, person.values, parts, others)

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
        pairs = self._pairs(against, codes, values)
        with one_blas_thread():
            return np.asarray(self.recipe.vectors(self, against, pairs)[0])

    def _pairs(self, against: SideName, codes: Codes, values: Floats) -> Csr:
        from scipy.sparse import csr_array

        shape = 1, len(self.side(against))
        pairs: Csr = csr_array((np.asarray(values, dtype=np.float32), codes, [0, len(codes)]), shape=shape)
        return pairs
