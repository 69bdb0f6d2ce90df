"""Which items stand for all others: uniformly drawn, by popularity, or by given weights."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Doubles, Ints
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check

Sampler: TypeAlias = Literal["uniform", "popularity"] | tuple[float, ...]
AliasTable: TypeAlias = tuple[Codes, Doubles, Ints]  # items, and how to draw from them in constant time


def check_sampler(name: str, sampler: object) -> None:
    """A word, or a weight for every item of the catalogue."""
    choices = "'uniform', 'popularity' or a tuple of weights >= 0, one for each item"
    if isinstance(sampler, tuple):
        weight = np.asarray(sampler, dtype=np.float64)
        fits = weight.ndim == 1 and bool(np.isfinite(weight).all() and (weight >= 0).all() and weight.sum() > 0)
        check(name, f"{len(sampler)} weights", fits, choices)
    else:
        check(name, sampler, sampler in ("uniform", "popularity"), choices)


def weights(sampler: Sampler, train: Interactions) -> NDArray[np.float64]:
    """The weight of every item: 1, how many people have it, or as given.

    >>> weights("popularity", Interactions.of([1, 2, 2], ["a", "a", "b"]))
    array([2., 1.])
    """
    if isinstance(sampler, tuple):
        if len(sampler) != train.n_items:
            raise DataError(f"there are {len(sampler)} weights for {train.n_items} items; give one for each.")
        return np.asarray(sampler, dtype=np.float64)
    if sampler == "uniform":
        return np.ones(train.n_items)
    return train.popularity.astype(np.float64)


def alias(weight: Doubles, items: Codes) -> AliasTable:
    """Those of the items that have weight, and the table to draw from them."""
    from fullrank.kernels.random import alias_table

    some = items[weight[items] > 0]
    chance, other = np.ones(len(some)), np.zeros(len(some), dtype=np.int64)
    if len(some):
        alias_table(weight[some], chance, other)
    return some, chance, other
