"""Items that are like an item, by what a model has learned of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fullrank.arrays import Bools, Doubles, Floats
from fullrank.data.ids import Name
from fullrank.errors import DataError, check_integer, shown
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.history_factors import HistoryFactors
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.item_sequences import ItemSequences
from fullrank.models.kinds.linear import pair_scores
from fullrank.models.kinds.model import Model
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.kinds.own_items import OwnItems
from fullrank.models.preferences.filters import Contextual, Filtered

if TYPE_CHECKING:
    import polars as pl


class Similar(NamedTuple):
    """Items, the most similar first, and how similar they are."""

    items: list[Name]
    scores: list[float]

    def to_frame(self) -> pl.DataFrame:
        """A row per item: rank (from 1), item, score.

        >>> Similar(["tea", "jam"], [0.9, 0.5]).to_frame().rows()
        [(1, 'tea', 0.9), (2, 'jam', 0.5)]
        """
        import polars as pl

        name = pl.String if any(isinstance(item, str) for item in self.items) else pl.Int64
        return pl.DataFrame({
            "rank": pl.int_range(1, len(self.items) + 1, eager=True),
            "item": pl.Series(self.items, dtype=name), "score": pl.Series(self.scores, dtype=pl.Float64),
        })  # fmt: skip


def similar(model: Model, item: Name, *, n: int = 10) -> Similar:
    """The n items that are most like an item; the same on every machine.

    - Vectors (`Factors`, `HistoryFactors`, `CostFactors`, `OrdinalFactors`): the cosine of the vectors of two items,
      <q_i, q_j> / (|q_i| |q_j|), from -1 to 1. Biases are left out: they say how much an item is liked, not by whom.
    - `ItemItem`, `DualItemItem`, `ItemSequences` (ItemCF, EASE, RecentItemCF): the weight in the direction of scoring,
      what somebody who has this item is given for it. It need not be that of the other direction, and EASE has
      negative ones.

    Of equal ones the more popular item is first. Items without feedback that counts, with a vector of zeros or without
    a weight are no neighbours, so the list may be shorter than n. Of an item of which nothing was learned there is no
    list, nor of models that know one list for all; a sentence says so. What is like several items together is
    `recommend(model, history=[...])`.

    Parameters
    ----------
    model
        Any fitted model.
    item
        An item of the training data.
    n
        How many items, from 1.

    >>> from fullrank.data.interactions import Interactions
    >>> from fullrank.models.neighbours.itemcf import ItemCF
    >>> took = Interactions.of([1, 1, 2, 2, 3, 3], ["tea", "jam", "tea", "jam", "tea", "gin"])
    >>> similar(ItemCF(shrink=0, user_weight=0).fit(took), "tea").items
    ['jam', 'gin']
    """
    check_integer("n", n, 1)
    measure = HOW.get(type(model))
    if measure is None:
        why = WHY_NOT.get(type(model), "it does not tell what its items are like; use a recipe of this library")
        raise DataError(f"{type(getattr(model, 'recipe', model)).__name__}: {why}.")
    code = model.train.items.code(item)
    liked = model.positives.popularity > 0
    scores, near = measure(model, code)
    if not (liked[code] and near[code]):
        raise DataError(
            f"item {shown(item)} has no feedback that the model learned from, so nothing is known of what is like it; "
            "fit again when there is some."
        )
    near &= liked
    near[code] = False
    among = np.flatnonzero(near)
    best = among[np.lexsort((model.train.popularity_order[among], -scores[among]))[:n]]
    return Similar([model.train.items.name(int(one)) for one in best], scores[best].tolist())


def cosines(vectors: Floats, code: int) -> tuple[Doubles, Bools]:
    """The cosine of a vector with every other, by canonical sums; and which are no zeros, which have no direction."""
    everything = np.arange(len(vectors), dtype=np.int32)
    dots = pair_scores(vectors, np.full(len(vectors), code, dtype=np.int32), vectors, everything)
    lengths = np.sqrt(pair_scores(vectors, everything, vectors, everything))
    there = (lengths > 0) & (lengths[code] > 0)
    return dots / np.where(there, lengths * lengths[code], 1), there


def _taste(model: Factors, code: int) -> tuple[Doubles, Bools]:
    return cosines(np.ascontiguousarray(model.items[:, : model.items.shape[1] - model.bias_columns]), code)


def _vectors(model: HistoryFactors | CostFactors | OrdinalFactors, code: int) -> tuple[Doubles, Bools]:
    return cosines(model.items, code)


def _weights(model: ItemItem | DualItemItem | ItemSequences, code: int) -> tuple[Doubles, Bools]:
    weights = model.neighbours(code)
    near = weights != 0
    near[code] = True
    return weights, near


HOW: dict[type, Callable[[Any, int], tuple[Doubles, Bools]]] = {
    Factors: _taste,
    HistoryFactors: _vectors,
    CostFactors: _vectors,
    OrdinalFactors: _vectors,
    ItemItem: _weights,
    DualItemItem: _weights,
    ItemSequences: _weights,
}
WHY_NOT = {
    ItemScores: "one list for everybody does not say which items are alike; fit ItemCF, EASE or IALS for that",
    OwnItems: "what people took themselves does not say which items are alike; fit ItemCF, EASE or IALS for that",
    Contextual: "there is a model for every context; give the one of a context, model.at(context)",
    Filtered: "items are as alike in one context as in another; give the model inside, model.model",
}
