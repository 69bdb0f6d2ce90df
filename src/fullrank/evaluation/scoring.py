"""Anything that scores items for users, made to give blocks of scores that can be ranked exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Doubles, Ints, frozen
from fullrank.errors import DataError
from fullrank.models.kinds.linear import ItemVectors, Linear, People, Room, Tile, exactly, held_scores

TILE = 4096  # items whose products with a block of users stay in a core's cache


@runtime_checkable
class Scores(Protocol):
    """What can be ranked: `scores(users)` gives a row over all items for each of these users (codes)."""

    def scores(self, users: NDArray[np.int32]) -> NDArray[Any]:
        """Higher is better."""


class Block(NamedTuple):
    """Some users: the canonical scores of a few items of each, and tile by tile those of all items."""

    held: Callable[[Ints, Codes], Doubles]  # of items item[start[row]] .. of every row
    tiles: Iterable[Tile]


@dataclass(frozen=True, eq=False)
class ByVectors:
    """Scores that are inner products: ranked by the canonical ones, with products by BLAS as a filter."""

    items: ItemVectors
    people: Callable[[Codes], People]
    tile: int = TILE

    def wide(self, n_items: int) -> int:
        """How many items are scored at a time."""
        return max(min(self.tile, n_items), 1)

    def block(self, users: Codes, room: Room, wide: int) -> Block:
        """Products of these users with all items, and how near they are to canonical scores."""
        products = self.items.products(self.people(users))
        return Block(products.held, products.tiles(room, wide))

    def alone(self, users: Codes, room: Room) -> Block:
        """The same without products, where only some items are to be scored and a product would not overflow."""
        products = self.items.products(self.people(users))
        if products.near is None:
            return Block(products.held, products.tiles(room, len(self.items.rows)))
        return Block(products.held, [(0, np.zeros((1, 0), dtype=products.near.items.dtype), products.near)])


@dataclass(frozen=True, eq=False)
class ByRows:
    """Scores that come as they are, and are ranked in the precision they came in: float32 or float64."""

    rows: Callable[[Codes, Room], NDArray[Any]]  # may be overwritten

    def wide(self, n_items: int) -> int:
        """All items are scored at once."""
        return n_items

    def block(self, users: Codes, room: Room, wide: int) -> Block:
        """The scores of these users for all items."""
        return self.alone(users, room)

    def alone(self, users: Codes, room: Room) -> Block:
        """The same: nothing is scored without all the rest."""
        scores = self.rows(users, room)
        near = exactly(scores)
        return Block(partial(held_scores, scores, near), [(0, scores, near)])


Scorer: TypeAlias = ByVectors | ByRows


def scorer(model: Any, n_users: int, n_items: int) -> Scorer:
    """What gives blocks of scores of some users.

    `model` is an object with `scores(users)` (and perhaps `scores_into(users, out)`, which needs no
    memory of its own), a function of the same form, an array (users, items), or a pair of arrays
    (user vectors, item vectors) whose products are the scores.
    """
    train = getattr(model, "train", None)
    if train is not None and (len(train.users), len(train.items)) != (n_users, n_items):
        raise DataError(
            f"{name_of(model)} knows {len(train.users):,} users and {len(train.items):,} items, and here are "
            f"{n_users:,} and {n_items:,}; rank it on data with the ids it was fitted on."
        )
    if isinstance(model, Linear):
        return ByVectors(model.item_vectors, model.people)
    if hasattr(model, "scorer"):
        given: Scorer = model.scorer(n_users, n_items)
        return given
    if hasattr(model, "exact_scores"):
        return ByRows(lambda users, room: _take(model.exact_scores(users), room, model))
    if hasattr(model, "scores_into"):
        return ByRows(lambda users, room: _fill(model, users, room(np.float32)))
    if isinstance(model, tuple) and len(model) == 2:
        return by_vectors(*model, n_users, n_items)
    if isinstance(model, np.ndarray):
        if model.shape != (n_users, n_items):
            raise DataError(f"scores have shape {model.shape}, expected {(n_users, n_items)}: a row per user.")
        return ByRows(lambda users, room: _take(model[users], room, "the array"))
    score = model.scores if isinstance(model, Scores) else model
    if not callable(score):
        raise DataError(f"cannot rank a {type(model).__name__}; pass a model, an array (users, items) or a function.")
    return ByRows(lambda users, room: _take(score(users), room, model))


def by_vectors(left: Any, right: Any, n_users: int, n_items: int) -> ByVectors:
    """Scores that are the products of two arrays, in float32, or in float64 where one of them is."""
    kind = np.result_type(np.float32, _float(left).dtype, _float(right).dtype)
    left, right = (np.ascontiguousarray(_float(part), dtype=kind).view() for part in (left, right))
    if left.shape[:1] != (n_users,) or right.shape != (n_items, left.shape[-1]):
        raise DataError(
            f"factors of shapes {left.shape} and {right.shape} do not fit {n_users} users, {n_items} items."
        )
    return ByVectors(ItemVectors(frozen(right)), partial(_people, left))


def _people(vectors: NDArray[Any], users: Codes) -> People:
    return People(vectors[users], np.zeros(len(users)))


def _fill(model: Any, users: Codes, out: NDArray[np.float32]) -> NDArray[np.float32]:
    model.scores_into(users, out)
    return out


def _take(scores: Any, room: Room, model: Any) -> NDArray[Any]:
    """Scores from outside in memory of ours, in their own precision."""
    array = _float(scores, model)
    out = room(array.dtype)
    if array.shape != out.shape:
        raise DataError(f"{name_of(model)} gave scores of shape {array.shape}, expected {out.shape}: users x items.")
    out[:] = array
    return out


def _float(numbers: Any, model: Any = "an array") -> NDArray[Any]:
    """Numbers as float32 or float64, whichever holds them exactly; an error where neither does."""
    array = np.asarray(numbers)
    if array.dtype in (np.float32, np.float64):
        return array
    if np.can_cast(array.dtype, np.float32):
        return array.astype(np.float32)
    double = array.astype(np.float64) if array.dtype.kind in "iufO" else array
    whole = array.dtype.kind in "iu"
    same = np.abs(double) < 2.0**53 if whole else (double == array) | (array != array)  # noqa: PLR0124 (NaN comes later)
    if not same.all() or double.dtype != np.float64:
        raise DataError(
            f"{name_of(model)} has numbers of type {array.dtype} that float64 cannot tell apart; give them as float64, "
            "or as their places in the order."
        )
    return double


def name_of(model: Any) -> str:
    """What to call a model in messages and reports: its own name, or its recipe's."""
    if isinstance(model, str):
        return model
    recipe = getattr(model, "recipe", None)
    if recipe is not None:
        return type(recipe).__name__
    return str(getattr(model, "name", "") or getattr(model, "__name__", "") or type(model).__name__)
