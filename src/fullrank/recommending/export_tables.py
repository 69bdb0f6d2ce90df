"""Models without vectors as tables: the weights of items on items, or one list for all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullrank.arrays import Array, Codes, Floats, row_blocks
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.item_sequences import ItemSequences
from fullrank.models.kinds.own_items import OwnItems
from fullrank.recommending.export_files import Content, table_file

ITEMS = 256  # at a time, where all of their weights are looked at


def neighbours(model: ItemItem | DualItemItem | ItemSequences) -> Content:
    """Every item, its neighbours and their weights."""
    items, how = model.train.items, "A score is the sum over somebody's items of the weight times "
    if isinstance(model, ItemSequences):
        how += f"{1 - model.recency:g} to the power of how many places the item is before their last."
    else:
        how += "1, whatever the value." if model.binary else "the value."

    def blocks() -> Iterator[dict[str, Array]]:
        for item, neighbour, weight in neighbour_rows(model):
            yield {"item": items.names[item], "neighbour": items.names[neighbour], "weight": weight}

    file = table_file("neighbours.parquet", items, blocks, ("item", "neighbour"), "weight")
    return Content({"content": "neighbours"}, [file], [how])


def scores(model: ItemScores | OwnItems) -> Content:
    """Every item and its score."""
    items = model.train.items
    how = "The score of an item is the same for everybody."
    if isinstance(model, OwnItems):
        how = "A score is this one; for what somebody took themselves its value is added."

    def blocks() -> Iterator[dict[str, Array]]:
        yield {"item": items.names, "score": model.items}

    return Content({"content": "scores"}, [table_file("scores.parquet", items, blocks, ("item",), "score")], [how])


def neighbour_rows(model: ItemItem | DualItemItem | ItemSequences) -> Iterator[tuple[Codes, Codes, Floats]]:
    """(item, neighbour, weight) without zeros: item after item, the largest weight first, of equal ones the popular."""
    place = model.train.popularity_order
    for some in row_blocks(model.train.n_items, ITEMS):
        item, neighbour, weight = _block(model, some)
        kept = np.flatnonzero(weight)
        item, neighbour, weight = item[kept], neighbour[kept], weight[kept]
        order = np.lexsort((place[neighbour], -weight, item))
        yield item[order], neighbour[order], weight[order]


def _block(model: ItemItem | DualItemItem | ItemSequences, some: slice) -> tuple[Codes, Codes, Floats]:
    items = np.arange(some.start, some.stop, dtype=np.int32)
    similar = getattr(model, "similar", None)
    if similar is not None and not isinstance(similar, np.ndarray):
        start = similar.indptr[some.start : some.stop + 1]
        entries = slice(start[0], start[-1])
        return np.repeat(items, np.diff(start)), similar.indices[entries], similar.data[entries].astype(np.float32)
    rows = np.stack([model.neighbours(item) for item in items.tolist()]).astype(np.float32)
    neighbour = np.tile(np.arange(rows.shape[1], dtype=np.int32), len(items))
    return np.repeat(items, rows.shape[1]), neighbour, rows.reshape(-1)
