"""The kinds of models: what they score with, how they take in new people, what is kept of them in a file.

Models are few although recipes are many: scoring, fold-in, recommending and saving are written once per kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import frozen
from fullrank.data.ids import Codes
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.kernels.product import product

Floats: TypeAlias = NDArray[np.float32]


class Recipe(Protocol):
    """A frozen set of hyper-parameters that makes models."""

    def fit(self, train: Interactions, seed: int = 0) -> Model:
        """Train on all of `train`; the same data and seed give the same bytes."""


@runtime_checkable
class Model(Protocol):
    """What scores all items for a user; higher is better, always finite."""

    train: Interactions  # what it has seen, and whose ids it uses
    recipe: Any

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""


@dataclass(frozen=True, eq=False)
class Factors:
    """score(u, i) = <p_u, q_i> + bias_i + offset."""

    users: Floats  # (users, factors)
    items: Floats  # (items, factors)
    train: Interactions
    recipe: Any
    bias: Floats | None = None  # (items,)
    offset: float = 0.0

    def __post_init__(self) -> None:
        named = {"users": self.users, "items": self.items, "bias": self.bias}
        for name, array in named.items():
            if array is not None:
                object.__setattr__(self, name, frozen(np.ascontiguousarray(array, dtype=np.float32)))
                check_finite(self.recipe, name, getattr(self, name))

    @cached_property
    def _across(self) -> Floats:
        return np.ascontiguousarray(self.items.T)

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self._scored(self.users[users], out)

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        out = np.empty((1, len(self.items)), dtype=np.float32)
        self._scored(self.fold_in(items, values)[None, :], out)
        return out[0]

    def fold_in(self, items: Codes, values: Floats) -> Floats:
        """The vector of somebody new: the recipe's own row equation against the items."""
        return np.asarray(self.recipe.user_vector(self, items, values), dtype=np.float32)

    def _scored(self, vectors: Floats, out: Floats) -> None:
        product(vectors, self._across, out)
        if self.bias is not None:
            out += self.bias
        if self.offset:
            out += np.float32(self.offset)


@dataclass(frozen=True, eq=False)
class ItemScores:
    """score(u, i) = score_i: the same list for everybody."""

    items: Floats  # (items,)
    train: Interactions
    recipe: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", frozen(np.ascontiguousarray(self.items, dtype=np.float32)))
        check_finite(self.recipe, "items", self.items)

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        out[:] = self.items

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return self.items


@dataclass(frozen=True, eq=False)
class ItemItem:
    """score(u, i) = sum over u's items j of value(u, j) similar[j, i]; `similar` is dense or sparse (CSR)."""

    similar: Any  # (items, items)
    train: Interactions
    recipe: Any
    binary: bool = True  # every item of a history counts 1, whatever its value

    def __post_init__(self) -> None:
        dense = isinstance(self.similar, np.ndarray)
        check_finite(self.recipe, "similar", self.similar if dense else self.similar.data)

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        matrix = self.train.by_user()
        self._scored(users, matrix.indptr, matrix.indices, matrix.data, out)

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        out = np.empty((1, self.similar.shape[0]), dtype=np.float32)
        start = np.array([0, len(items)], dtype=np.int32)
        self._scored(np.zeros(1, dtype=np.int32), start, items, values, out)
        return out[0]

    def _scored(self, users: Codes, start: Any, item: Any, value: Any, out: Floats) -> None:
        from fullrank.kernels.neighbours import add_dense, add_sparse

        given = (users, frozen(start.view()), frozen(item.view()), frozen(value.view()), self.binary)
        if isinstance(self.similar, np.ndarray):
            add_dense(*given, self.similar, out)
        else:
            add_sparse(*given, self.similar.indptr, self.similar.indices, self.similar.data, out)


def in_new_array(model: Model, users: Any) -> Floats:
    """The scores of these users in an array of their own."""
    codes = np.asarray(users, dtype=np.int32)
    out = np.empty((len(codes), model.train.n_items), dtype=np.float32)
    model.scores_into(codes, out)
    return out


def check_finite(recipe: Any, what: str, array: NDArray[Any]) -> None:
    """Refuse a model that would score NaN."""
    if not np.isfinite(array).all():
        raise DataError(
            f"{type(recipe).__name__}: {what} became NaN or infinite; use more regularisation, a smaller rate, or "
            "look at the scale of the values."
        )
