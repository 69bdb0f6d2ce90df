"""Models of other libraries, made to be ranked like our own.

None of those libraries is imported here: their fitted models are asked for what they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.arrays import Codes, checked_codes
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError
from fullrank.evaluation.scoring import ByRows, Scorer, by_vectors, name_of
from fullrank.models.kinds.linear import Room

_FACTORED = {f"surprise.prediction_algorithms.matrix_factorization.{name}.estimate" for name in ("SVD", "SVDpp", "NMF")}


@dataclass(frozen=True, eq=False)
class Adapted:
    """What `rank` and `top` can judge: a name, what gives blocks of scores, and what to tell of it.

    `unknown` counts what one side has and the other does not; `notes` says so in words.
    """

    name: str
    shape: tuple[int, int]  # (users, items)
    given: Scorer = field(repr=False)
    unknown: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def scorer(self, n_users: int, n_items: int) -> Scorer:
        """What is ranked, for so many users and items."""
        if (n_users, n_items) != self.shape:
            raise DataError(
                f"{self.name} was adapted to {self.shape[0]} users and {self.shape[1]} items, other than those "
                "it is asked for; adapt it with the training part of the split that is ranked."
            )
        return self.given

    def scores(self, users: ArrayLike) -> NDArray[Any]:
        """The scores of these users (codes) for all items."""
        codes = checked_codes(np.asarray(users, dtype=np.int32), self.shape[0], "user")
        if isinstance(self.given, ByRows):
            return self.given.rows(codes, lambda kind: np.empty((len(codes), self.shape[1]), dtype=kind))
        out = np.empty((len(codes), self.shape[1]), dtype=self.given.items.rows.dtype)
        self.given.items.multiply(self.given.people(codes), out)
        return out


def from_implicit(model: Any, data: Interactions) -> Adapted:
    """A fitted model of implicit: one with factors (ALS, BPR, logistic), or an item-item one (cosine, TF-IDF, BM25).

        score(u, i) = <p_u, q_i>,   or   sum over u's history j of value(u, j) similarity(j, i)

    `data`: what it was fitted on, as `scipy.sparse.csr_matrix(data.by_user(), copy=True)` (implicit wants
    this class, and writable), so that its numbers of users and items are our codes.
    """
    name, similarity = name_of(model), getattr(model, "similarity", None)
    if similarity is not None:
        from scipy.sparse import csr_array

        rows = partial(_neighbours, data.by_user(), csr_array(similarity))
        return _adapt(name, data.n_users, similarity.shape[0], data, lambda: ByRows(rows))
    factors = getattr(model, "user_factors", None), getattr(model, "item_factors", None)
    if factors[0] is None or factors[1] is None:
        raise DataError(f"{name} has neither factors nor similarities; fit it before it is adapted.")
    users, items = map(_on_host, factors)
    return _adapt(name, len(users), len(items), data, lambda: by_vectors(users, items, len(users), len(items)))


def from_lightfm(model: Any, data: Interactions, user_features: Any = None, item_features: Any = None) -> Adapted:
    """A fitted LightFM, with the features it was fitted with, if any.

        score(u, i) = <p_u, q_i> + b_u + b_i,   as its `predict` gives

    b_u changes no ranking; it is in so that the scores are LightFM's own. `data`: what it was fitted on,
    as `scipy.sparse.coo_matrix(data.by_user(), copy=True)`; a `lightfm.data.Dataset` numbers users and
    items in another order than our codes.
    """
    user_bias, users = model.get_user_representations(user_features)
    item_bias, items = model.get_item_representations(item_features)
    sizes = len(users), len(items)
    sides = _append_columns(users, user_bias, 1), _append_columns(items, 1, item_bias)
    return _adapt(name_of(model), *sizes, data, lambda: by_vectors(*sides, *sizes))


def from_surprise(algo: Any, data: Interactions) -> Adapted:
    """A fitted algorithm of scikit-surprise: its predictions, not clipped to the rating scale.

    Users and items are matched by name (integers also with surprise's strings, which is how it reads
    files); those it does not know get what it predicts for such. SVD, SVD++ and NMF are as fast as any
    factors; all others are asked for every pair, some microseconds each.
    """
    name, trainset = name_of(algo), getattr(algo, "trainset", None)
    if trainset is None:
        raise DataError(f"{name} has no trainset; fit it before it is adapted.")
    user_names, user = _inner(data.users, trainset.to_inner_uid, f"{name} knows no user")
    item_names, item = _inner(data.items, trainset.to_inner_iid, f"{name} knows no item")
    given: Scorer = ByRows(partial(_pairs, algo.predict, user_names, item_names))
    estimate = type(algo).estimate
    if f"{estimate.__module__}.{estimate.__qualname__}" in _FACTORED:
        given = by_vectors(*_surprise_factors(algo, user, item), len(user), len(item))
    unknown = {"users": int((user < 0).sum()), "items": int((item < 0).sum())}
    note = "{users:,} users and {items:,} items are unknown to the model, which has a default for such"
    return Adapted(name, (len(user), len(item)), given, unknown, note_unknown(note, unknown))


def note_unknown(how: str, unknown: Mapping[str, int]) -> tuple[str, ...]:
    """A note with these numbers, where any is not 0."""
    return (how.format_map(unknown),) if any(unknown.values()) else ()


def _on_host(factors: Any) -> NDArray[Any]:
    """Factors as an array of at least float32; those on a GPU are fetched."""
    array = np.asarray(factors.to_numpy() if hasattr(factors, "to_numpy") else factors)
    return array.astype(np.result_type(array.dtype, np.float32), copy=False)


def _append_columns(vectors: NDArray[Any], *columns: ArrayLike) -> NDArray[Any]:
    """Vectors with further columns; a number is a column of it."""
    whole = (np.broadcast_to(np.asarray(column, vectors.dtype), len(vectors)) for column in columns)
    return np.column_stack([vectors, *whole])


def _adapt(name: str, users: int, items: int, data: Interactions, given: Callable[[], Scorer]) -> Adapted:
    if (users, items) != (data.n_users, data.n_items):
        raise DataError(
            f"{name} has {users} users and {items} items, the data has {data.n_users} and {data.n_items}; "
            "pass the data it was fitted on, and its features if it has some."
        )
    return Adapted(name, (users, items), given())


def _inner(ids: Ids, to_inner: Callable[[Any], int], none: str) -> tuple[list[Any], NDArray[np.int64]]:
    """Names as surprise spells them, and its numbers for them; -1 where it has none."""

    def number(name: Any) -> int:
        try:
            return to_inner(name)
        except ValueError:
            return -1

    names = ids.names.tolist()
    for spelled in (names, [str(name) for name in names]):
        inner = np.array([number(name) for name in spelled], dtype=np.int64)
        if (inner >= 0).any():
            return spelled, inner
    raise DataError(f"{none} of the data, whose names are {ids}; fit it on the same names.")


def _surprise_factors(algo: Any, user: NDArray[np.int64], item: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors by our codes whose products are the estimates of SVD, SVD++ or NMF, also for unknown ones."""

    def ours(rows: NDArray[Any], inner: NDArray[np.int64]) -> NDArray[Any]:
        return np.where(inner < 0, 0, rows[inner].T).T

    p = algo.pu
    if hasattr(algo, "yj"):
        history = (algo.trainset.ur[u] for u in range(len(p)))
        p = p + [algo.yj[[j for j, _ in rated]].sum(axis=0) / np.sqrt(len(rated)) for rated in history]
    users, items = ours(p, user), ours(algo.qi, item)
    if getattr(algo, "biased", True):
        users = _append_columns(users, algo.trainset.global_mean + ours(algo.bu, user), 1)
        return users, _append_columns(items, 1, ours(algo.bi, item))
    default = algo.default_prediction()
    return _append_columns(users, default * (user < 0), user >= 0), _append_columns(items, 1, default * (item < 0))


def _neighbours(history: Any, similarity: Any, some: Codes, room: Room) -> NDArray[Any]:
    scores = history[some] @ similarity
    return np.asarray(scores.toarray(out=room(scores.dtype)))


def _pairs(predict: Callable[..., Any], users: list[Any], items: list[Any], some: Codes, room: Room) -> NDArray[Any]:
    out = room(np.float64)
    for row, user in enumerate(some.tolist()):
        out[row] = [predict(users[user], item, clip=False).est for item in items]
    return out
