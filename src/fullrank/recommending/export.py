"""A model for other systems: vectors for vector indexes and databases, weights of items, one list for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from fullrank.arrays import Codes, Floats, row_blocks
from fullrank.data.ids import Ids
from fullrank.errors import DataError, check
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.item_sequences import ItemSequences
from fullrank.models.kinds.linear import ItemVectors, Linear, People
from fullrank.models.kinds.model import Model
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.kinds.own_items import OwnItems
from fullrank.models.storage.files import identify
from fullrank.recommending.export_files import Content, File, find_faiss, index_file, vector_files, write_files
from fullrank.recommending.export_tables import neighbours, scores
from fullrank.runtime.output import output_folder

Format: TypeAlias = Literal["parquet", "numpy", "faiss"]

FORMATS = ("parquet", "numpy", "faiss")
ROWS = 1 << 14  # users whose vectors are made and written at a time


class Exported(NamedTuple):
    """What was written: the files with their rows and columns, and how to use them; as it stands in manifest.json."""

    folder: Path
    manifest: dict[str, Any]


class Sides(NamedTuple):
    """Items and users whose inner products have the model's order."""

    items: ItemVectors
    people: Callable[[Codes], People]


def export(model: Model, folder: str | Path, *, format: Format = "parquet", overwrite: bool = False) -> Exported:
    """Write what a model has learned for a vector index, a database or another program, with the ids as they are.

    - Models of vectors: those of items and users, such that the **inner product** gives the order of `recommend`. An
      item bias is the last column of the items, and 1 that of the users; what is added to all scores of a user (their
      bias, an offset) does not change the order and is left out. Users of `CostFactors` are scaled by 1 - alpha where
      the model's scores are, those of `HistoryFactors` are summed over their histories, and of `OrdinalFactors` the
      product is that of which the expected level is a rising function. Users of whom nothing is known have no vector.
    - `ItemItem`, `DualItemItem`, `ItemSequences`: neighbours.parquet with item, neighbour, weight, the largest weights
      of every item first; weights of 0 are left out.
    - `ItemScores`, `OwnItems`: scores.parquet with item, score.

    Every file appears whole or not at all, and manifest.json last: a folder that has one is complete.

    Parameters
    ----------
    model
        Any model that can be kept in a file.
    folder
        Where the files go; made if it is not there.
    format
        "parquet": items.parquet and users.parquet with id and vector (a list of float32). "numpy": items.npy and
        users.npy, and the ids in items.jsonl and users.jsonl, one JSON value in a line. "faiss": items.faiss, a flat
        index of inner products whose numbers are the lines of items.jsonl, and the users as for "numpy"; it needs
        `pip install 'fullrank[faiss]'`.
    overwrite
        Whether files of an earlier export may be replaced.
    """
    check("format", format, format in FORMATS, "'parquet', 'numpy' or 'faiss'")
    if format == "faiss":
        find_faiss()
    content = _content(model, format)
    files = {file.name: file.shape for file in content.files}
    manifest = {**identify(model), **content.about, "files": files, "how": content.how}
    target = output_folder(Path(folder))
    write_files(target, content.files, manifest, overwrite=overwrite)
    return Exported(target, manifest)


def _content(model: Model, format: Format) -> Content:
    """What another system can use of a model."""
    if isinstance(model, ItemItem | DualItemItem | ItemSequences | ItemScores | OwnItems):
        if format != "parquet":
            raise DataError(f"{type(model.recipe).__name__}: the model has no vectors to write; use format='parquet'.")
        return scores(model) if isinstance(model, ItemScores | OwnItems) else neighbours(model)
    sides = _sides(model)
    known = np.flatnonzero(model.knows(np.arange(model.train.n_users, dtype=np.int32))).astype(np.int32)
    left_out = model.train.n_users - len(known)
    how = [
        "The inner product of a user and an item has the order of the model's scores for that user.",
        "Items that somebody has seen are among them: leave those out of what a search finds.",
    ]
    if sides.items.bias is not None:
        how.append("The last column of an item is its bias, and that of a user is 1.")
    if left_out:
        how.append(f"Users without a vector, since nothing is known of their taste: {left_out:,}.")
    return Content(
        {"content": "vectors", "metric": "inner product", "users_without_vector": left_out},
        _vectors(model, sides, known, format), how,
    )  # fmt: skip


def _sides(model: Model) -> Sides:
    if isinstance(model, Linear):
        return Sides(model.item_vectors, model.people)
    if isinstance(model, OrdinalFactors):
        if (np.diff(model.weights) < 0).any():
            raise DataError(
                f"{type(model.recipe).__name__}: the weights of levels do not rise, so no inner product has the order "
                "of the scores; fit with rank_by='mean'."
            )
        users = model.users
        return Sides(ItemVectors(model.items, model.bias), lambda codes: People(users[codes], np.zeros(len(codes))))
    raise DataError(
        f"{type(getattr(model, 'recipe', model)).__name__}: there is nothing of this kind of model that another system "
        "could score with; export the model of one context before it is filtered, or another recipe's."
    )


def _vectors(model: Model, sides: Sides, known: Codes, format: Format) -> list[File]:
    rows, train = np.asarray(sides.items.rows, dtype=np.float32), model.train
    users = Ids(train.users.names[known])

    def user_blocks() -> Iterator[Floats]:
        for some in row_blocks(len(known), ROWS):
            yield np.asarray(sides.items.beside(sides.people(known[some])), dtype=np.float32)

    def item_blocks() -> Iterator[Floats]:
        return (rows[some] for some in row_blocks(len(rows), ROWS))

    width = rows.shape[1]
    of_users = vector_files("users", users, width, user_blocks, parquet=format == "parquet")
    of_items = vector_files("items", train.items, width, item_blocks, parquet=format == "parquet")
    if format == "faiss":
        of_items = [index_file("items.faiss", (len(rows), width), item_blocks), *of_items[1:]]
    return [*of_items, *of_users]
