"""The kinds of models: what they score with, how they take in new people, what is kept of them in a file.

Models are few although recipes are many: scoring, fold-in, recommending and saving are written once per kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import checked_codes, frozen
from fullrank.data.ids import Codes
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.kernels.threads import one_blas_thread
from fullrank.models.linear import ItemVectors, Linear, People

Floats: TypeAlias = NDArray[np.float32]
Lists: TypeAlias = tuple[NDArray[np.int64], Codes, Floats]


class Recipe(Protocol):
    """A frozen set of hyper-parameters that makes models."""

    def fit(self, train: Interactions, seed: int = 0) -> Model:
        """Train on all of `train`; the same data and seed give the same bytes on one type of processor."""


@runtime_checkable
class Model(Protocol):
    """What scores all items for a user; higher is better, always finite."""

    @property
    def train(self) -> Interactions:
        """What it has seen, and whose ids it uses."""

    @property
    def recipe(self) -> Any:
        """What it was made by."""

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""


@dataclass(frozen=True, eq=False, repr=False)
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
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""
        return ItemVectors(self.items, self.bias)

    def people(self, users: Codes) -> People:
        """Known users (codes)."""
        return People(self.users[users], np.full(len(users), self.offset))

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        return People(self.fold_in(items, values)[None, :], np.full(1, self.offset))

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self.item_vectors.multiply(self.people(users), out)

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def __repr__(self) -> str:
        return described(self)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return scores_of_newcomer(self, items, values)

    def fold_in(self, items: Codes, values: Floats) -> Floats:
        """The vector of somebody new from what they did: the recipe's own row equation against the items."""
        return self._folded("items", items, values)

    def fold_in_item(self, users: Codes, values: Floats) -> Floats:
        """The vector of a new item from what people did with it: the same equation against the users."""
        return self._folded("users", users, values)

    def frame(self, side: str) -> Any:
        """The items or users as row solves against them need them; made once."""
        if side not in self._frames:
            from fullrank.models.als import frame

            self._frames[side] = frame(getattr(self, side))
        return self._frames[side]

    @cached_property
    def _frames(self) -> dict[str, Any]:
        return {}

    def _folded(self, against: str, codes: Codes, values: Floats) -> Floats:
        from scipy.sparse import csr_array

        shape = 1, len(getattr(self, against))
        pairs = csr_array((np.asarray(values, dtype=np.float32), codes, [0, len(codes)]), shape=shape)
        with one_blas_thread():
            return np.asarray(self.recipe.vectors(self, against, pairs)[0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class HistoryFactors:
    """score(u, i) = <p_i, own_u + sum over u's items j of q_j / sqrt(how many)> + bias_i + user_bias_u + offset.

    A person is what they did: rows of `train`, at or above `recipe.relevant` where the recipe has such a threshold.
    Somebody new is the sum alone, without a vector or bias of their own.
    """

    items: Floats  # P (items, factors)
    history: Floats  # Q (items, factors)
    train: Interactions
    recipe: Any
    users: Floats | None = None  # own (users, factors)
    bias: Floats | None = None  # (items,)
    user_bias: Floats | None = None  # (users,)
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("items", "history", "users", "bias", "user_bias"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, frozen(np.ascontiguousarray(array, dtype=np.float32)))
                check_finite(self.recipe, name, getattr(self, name))

    @cached_property
    def item_vectors(self) -> ItemVectors:
        """What people are multiplied with."""
        return ItemVectors(self.items, self.bias)

    @cached_property
    def _histories(self) -> Lists:
        return lists(self.train.relevant(self._threshold).by_user())

    @property
    def _threshold(self) -> float | None:
        threshold: float | None = getattr(self.recipe, "relevant", None)
        return None if self.train.value is None else threshold

    def vectors(self, users: Codes) -> Floats:
        """The vectors of known users (codes), from what they did and their own."""
        codes = checked_codes(users, self.train.n_users, "user")
        found = self._summed(codes, self._histories)
        return found if self.users is None else found + self.users[codes]

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self.item_vectors.multiply(self.people(users), out)

    def people(self, users: Codes) -> People:
        """Known users (codes)."""
        own = 0 if self.user_bias is None else self.user_bias[users].astype(np.float64)
        return People(self.vectors(users), np.full(len(users), self.offset) + own)

    def newcomer(self, items: Codes, values: Floats) -> People:
        """Somebody new, from what they did."""
        return People(self.fold_in(items, values)[None, :], np.full(1, self.offset))

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def __repr__(self) -> str:
        return described(self)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return scores_of_newcomer(self, items, values)

    def fold_in(self, items: Codes, values: Floats) -> Floats:
        """The vector of somebody new: the sum over what they did, at or above the threshold if there is one."""
        codes, given = checked_codes(items, self.train.n_items, "item"), np.asarray(values, dtype=np.float32)
        if len(codes) != len(given):
            raise DataError(f"a history of {len(codes)} items has {len(given)} values; give one for each.")
        if self._threshold is not None:
            kept = given >= np.float32(self._threshold)
            codes, given = codes[kept], given[kept]
        return np.asarray(self._summed(np.zeros(1, dtype=np.int32), as_lists([0, len(codes)], codes, given))[0])

    def _summed(self, users: Codes, histories: Lists) -> Floats:
        """Sums of q over the items of each user, over the square root of how many they are."""
        from fullrank.kernels.neighbours import add_dense

        out = np.empty((len(users), self.history.shape[1]), dtype=np.float32)
        codes = checked_codes(users, len(histories[0]) - 1, "user")
        add_dense(codes, *histories, True, self.history, out)
        counts = histories[0][codes + 1] - histories[0][codes]
        return np.asarray(out / np.sqrt(np.maximum(counts, 1)).astype(np.float32)[:, None])


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        return described(self)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        return self.items


@dataclass(frozen=True, eq=False, repr=False)
class ItemItem:
    """score(u, i) = sum over u's items j of value(u, j) similar[j, i]; `similar` is dense or sparse (CSR)."""

    similar: Any  # (items, items)
    train: Interactions
    recipe: Any
    binary: bool = True  # every item of a history counts 1, whatever its value

    def __post_init__(self) -> None:
        dense = isinstance(self.similar, np.ndarray)
        if dense:
            object.__setattr__(self, "similar", frozen(np.ascontiguousarray(self.similar, dtype=np.float32)))
        check_finite(self.recipe, "similar", self.similar if dense else self.similar.data)

    @cached_property
    def _histories(self) -> Lists:
        return lists(self.train.by_user())

    @cached_property
    def _neighbours(self) -> Lists:
        return lists(self.similar)

    def scores_into(self, users: Codes, out: Floats) -> None:
        """Fill `out` (users, items) with the scores of known users (codes)."""
        self._scored(users, self._histories, out)

    def scores(self, users: Codes) -> Floats:
        """The same in a new array."""
        return in_new_array(self, users)

    def __repr__(self) -> str:
        return described(self)

    def history_scores(self, items: Codes, values: Floats) -> Floats:
        """The scores of somebody new, from what they did."""
        if len(items) != len(values):
            raise DataError(f"a history of {len(items)} items has {len(values)} values; give one for each.")
        out = np.empty((1, self.similar.shape[0]), dtype=np.float32)
        history = as_lists([0, len(items)], checked_codes(items, self.train.n_items, "item"), values)
        self._scored(np.zeros(1, dtype=np.int32), history, out)
        return out.ravel()

    def _scored(self, users: Codes, histories: Lists, out: Floats) -> None:
        from fullrank.kernels.neighbours import add_dense, add_sparse

        given = (checked_codes(users, len(histories[0]) - 1, "user"), *histories, self.binary)
        if isinstance(self.similar, np.ndarray):
            add_dense(*given, self.similar, out)
        else:
            add_sparse(*given, *self._neighbours, out)


def lists(matrix: Any) -> Lists:
    """The rows of a CSR matrix as the kernels take them: start, column, value; read-only, always of the same types."""
    return as_lists(matrix.indptr, matrix.indices, matrix.data)


def as_lists(start: Any, code: Any, value: Any) -> Lists:
    """The same from its three arrays, without copies where possible."""
    types = (start, np.int64), (code, np.int32), (value, np.float32)
    first, second, third = (frozen(np.ascontiguousarray(array, dtype=dtype).view()) for array, dtype in types)
    return first, second, third


def stored(pairs: Any, keep: NDArray[np.bool_]) -> Any:
    """These of the stored pairs of a CSR matrix."""
    from scipy.sparse import csr_array

    start = np.concatenate([[0], np.cumsum(keep)])[pairs.indptr]
    return csr_array((pairs.data[keep], pairs.indices[keep], start), shape=pairs.shape)


def described(model: Model) -> str:
    """How a model prints itself: its kind, its recipe, its size."""
    return f"{type(model).__name__}({model.recipe}: {model.train.n_users:,} users, {model.train.n_items:,} items)"


def in_new_array(model: Model, users: Any) -> Floats:
    """The scores of these users in an array of their own."""
    codes = np.asarray(users, dtype=np.int32)
    out = np.empty((len(codes), model.train.n_items), dtype=np.float32)
    model.scores_into(codes, out)
    return out


def scores_of_newcomer(model: Linear, items: Codes, values: Floats) -> Floats:
    """The scores of somebody new, of a model whose scores are inner products."""
    out = np.empty((1, len(model.item_vectors.vectors)), dtype=np.float32)
    model.item_vectors.multiply(model.newcomer(items, values), out)
    return np.asarray(out[0])


def check_finite(recipe: Any, what: str, array: NDArray[Any]) -> None:
    """Refuse a model that would score NaN."""
    if not np.isfinite(array).all():
        raise DataError(
            f"{type(recipe).__name__}: {what} became NaN or infinite; use more regularisation, a smaller rate, or "
            "look at the scale of the values."
        )
