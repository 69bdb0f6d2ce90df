"""Anything that scores items for users, made to fill blocks of scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fullrank.errors import DataError
from fullrank.kernels.product import product

Block: TypeAlias = NDArray[np.float32]
Fill: TypeAlias = Callable[[NDArray[np.int32], Block], None]


@runtime_checkable
class Scores(Protocol):
    """What can be ranked: `scores(users)` gives a row over all items for each of these users (codes)."""

    def scores(self, users: NDArray[np.int32]) -> NDArray[Any]:
        """Higher is better."""


def filler(model: Any, n_users: int, n_items: int) -> Fill:
    """A function that fills a block with the scores of some users.

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
    if hasattr(model, "scores_into"):
        into: Fill = model.scores_into
        return into
    if isinstance(model, tuple) and len(model) == 2:
        return _product(*model, n_users, n_items)
    if isinstance(model, np.ndarray):
        if model.shape != (n_users, n_items):
            raise DataError(f"scores have shape {model.shape}, expected {(n_users, n_items)}: a row per user.")
        return lambda users, out: np.copyto(out, model[users], casting="same_kind")
    score = model.scores if isinstance(model, Scores) else model
    if not callable(score):
        raise DataError(f"cannot rank a {type(model).__name__}; pass a model, an array (users, items) or a function.")
    return lambda users, out: _copy(score(users), out, model)


def _product(left: Any, right: Any, n_users: int, n_items: int) -> Fill:
    left, right = np.asarray(left, dtype=np.float32), np.asarray(right, dtype=np.float32)
    if left.shape[:1] != (n_users,) or right.shape != (n_items, left.shape[-1]):
        raise DataError(
            f"factors of shapes {left.shape} and {right.shape} do not fit {n_users} users, {n_items} items."
        )
    across = np.ascontiguousarray(right.T)

    def fill(users: NDArray[np.int32], out: Block) -> None:
        product(left[users], across, out)

    return fill


def _copy(found: Any, out: Block, model: Any) -> None:
    array = np.asarray(found)
    if array.shape != out.shape:
        raise DataError(f"{name_of(model)} gave scores of shape {array.shape}, expected {out.shape}: users x items.")
    out[:] = array


def name_of(model: Any) -> str:
    """What to call a model in messages and reports: its own name, or its recipe's."""
    recipe = getattr(model, "recipe", None)
    if recipe is not None:
        return type(recipe).__name__
    return str(getattr(model, "name", "") or getattr(model, "__name__", "") or type(model).__name__)
