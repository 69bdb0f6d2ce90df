"""What is kept of each kind of model in a file: named tensors, numbers, the recipe; and the way back.

Nothing that comes from a file is trusted: compiled loops rely on what is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np

from fullrank.arrays import checked_codes, frozen, rising
from fullrank.data.interactions import Interactions
from fullrank.errors import ModelFileError, did_you_mean, shown
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.history_factors import HistoryFactors
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.item_sequences import ItemSequences
from fullrank.models.kinds.model import Model
from fullrank.models.kinds.ordinal_factors import OrdinalFactors
from fullrank.models.kinds.own_items import OwnItems
from fullrank.models.storage.feedback import fingerprint_of, history_from, rows_of
from fullrank.models.storage.header import Arrays, Manifest, Tensor, damaged
from fullrank.models.storage.parameters import Recipes, recipe_from_json, to_json

Form: TypeAlias = dict[str, str]  # name of a tensor: its type and dimensions
Parts: TypeAlias = tuple[tuple[Form, ...], ...]  # each in one of several forms, {} where it may be absent

MOST_CODES = 2**31
BIGGEST = float(np.finfo(np.float32).max)
HISTORY: Parts = (
    ({"user_id": "I64 users"}, {"user_text": "U8 user_bytes", "user_text_start": "I64 users+1"}),
    ({"item_id": "I64 items"}, {"item_text": "U8 item_bytes", "item_text_start": "I64 items+1"}),
    ({"seen_start": "I64 users+1", "seen_item": "I32 rows"},),
    ({"seen_value": "F32 rows"}, {}),
)
SPARSE: Form = {"similar_start": "I64 items+1", "similar_index": "I32 entries", "similar_value": "F32 entries"}


@dataclass(frozen=True)
class Kind:
    """The arrays of a kind of model (a sparse one is three), and its numbers, which stand in the manifest.

    A kind without a list of its arrays has any, of float32, in a dict.
    """

    model: type[Any]
    parts: Parts | None
    scalars: dict[str, type] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Kept:
    """A state of training as it is kept in a file; `recipe` tells what it belongs to."""

    parameters: Arrays
    train: Interactions
    recipe: object


KINDS = {
    "state": Kind(Kept, None),
    "factors": Kind(
        Factors,
        (({"users": "F32 users factors", "items": "F32 items factors"},), ({"bias": "F32 items"}, {})),
        {"offset": float},
    ),
    "history_factors": Kind(
        HistoryFactors,
        (
            ({"items": "F32 items factors", "history": "F32 items factors"},),
            ({"users": "F32 users factors"}, {}),
            ({"bias": "F32 items"}, {}),
            ({"user_bias": "F32 users"}, {}),
        ),
        {"offset": float},
    ),
    "ordinal_factors": Kind(
        OrdinalFactors,
        (
            ({"users": "F32 users factors", "items": "F32 items factors", "bias": "F32 items"},),
            ({"thresholds": "F32 users cuts", "common": "F32 cuts", "levels": "F32 cuts+1", "weights": "F32 cuts+1"},),
            ({"history": "F32 items factors"}, {}),
        ),
    ),
    "cost_factors": Kind(
        CostFactors, (({"users": "F32 users factors", "items": "F32 items factors", "alpha": "F32 users"},),)
    ),
    "item_scores": Kind(ItemScores, (({"items": "F32 items"},),)),
    "item_item": Kind(
        ItemItem,
        ((
            {"similar": "F32 items items"},
            SPARSE,
        ),),
        {"binary": bool},
    ),
    "dual_item_item": Kind(
        DualItemItem,
        (({"weights": "F32 people people", "unexplained": "F32 items"},),),
        {"reg": float, "binary": bool},
    ),
    "own_items": Kind(OwnItems, (({"items": "F32 items"},),)),
    "item_sequences": Kind(ItemSequences, ((SPARSE,), ({"moment": "I32 rows"},)), {"recency": float}),
}  # fmt: skip


def kind_of(model: Model) -> str:
    """The name of the kind of a model."""
    for name, kind in KINDS.items():
        if type(model) is kind.model:
            return name
    raise ModelFileError(f"a {type(model).__name__} cannot be kept in a file, only {', '.join(KINDS)}.")


def check_tensors(kind: Any, tensors: Mapping[str, Tensor]) -> None:
    """Refuse an unknown kind, tensors that are not its own, and types and shapes that do not fit together."""
    if kind not in list(KINDS):
        raise ModelFileError(f"unknown kind of model {shown(kind)}. {did_you_mean(str(kind), list(KINDS))}")
    sizes: dict[str, int] = {}
    for name, form in _choose_form(kind, tensors).items():
        tensor, (dtype, *dimensions) = tensors[name], form.split()
        same = dtype == tensor.dtype and len(dimensions) == len(tensor.shape)
        if not same or not all(_agrees(sizes, d, n) for d, n in zip(dimensions, tensor.shape, strict=True)):
            raise _unfit(f"tensor '{name}' is {tensor.dtype} of shape {list(tensor.shape)}, not {form} with {sizes}")


def _choose_form(kind: str, tensors: Mapping[str, Tensor]) -> Form:
    """The form that every part has here, in one."""
    expected: Form = {}
    for part in (*HISTORY, *(KINDS[kind].parts or _any(tensors))):
        there = {name for form in part for name in form if name in tensors}
        form = next((form for form in part if form.keys() == there), None)
        if form is None:
            forms = " or ".join(", ".join(form) or "none" for form in part)
            raise _unfit(f"a model of kind '{kind}' has {forms}, here are {sorted(there) or 'none'}")
        expected |= form
    if unknown := tensors.keys() - expected.keys():
        raise _unfit(f"tensor {shown(min(unknown))} does not belong to a model of kind '{kind}'")
    return expected


def _any(tensors: Mapping[str, Tensor]) -> Parts:
    """Every tensor that is not of a history, whatever its size."""
    names = tensors.keys() - {name for part in HISTORY for form in part for name in form}
    sizes = {name: " ".join(f"{name}.{axis}" for axis in range(len(tensors[name].shape))) for name in names}
    return (({name: f"F32 {sizes[name]}" for name in sorted(names)},),)


def _agrees(sizes: dict[str, int], dimension: str, n: int) -> bool:
    """Whether a dimension has the size it has elsewhere; "users+1" is one more than "users"."""
    base = dimension.removesuffix("+1")
    size = n - (base != dimension)
    return 0 <= size < (MOST_CODES if base in ("users", "items") else 2**63) and sizes.setdefault(base, size) == size


def _unfit(what: str) -> ModelFileError:
    return ModelFileError(f"{what}; a model has arrays that fit together, fit or fetch it again.")


def check_finite(arrays: Arrays) -> None:
    """Refuse a model that would score NaN."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and array.size and not np.isfinite([array.min(), array.max()]).all():
            raise ModelFileError(f"tensor '{name}' has NaN or infinite numbers; fit the model again.")


def model_arrays(model: Any) -> Arrays:
    """The arrays among a model's fields."""
    if isinstance(model, Kept):
        return model.parameters
    arrays: Arrays = {}
    for name in (part.name for part in fields(model)):
        array = getattr(model, name)
        if isinstance(array, np.ndarray):
            arrays[name] = array
        elif hasattr(array, "tocsr"):
            arrays |= {f"{name}_{part}": column for part, column in _sparse_arrays(array).items()}
    return arrays


def _sparse_arrays(matrix: Any) -> Arrays:
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    types = {"start": (rows.indptr, np.int64), "index": (rows.indices, np.int32), "value": (rows.data, np.float32)}
    return {name: column.astype(dtype, copy=False) for name, (column, dtype) in types.items()}


def _sparse(name: str, arrays: Arrays, n: int) -> Any:
    from scipy.sparse import csr_array

    start, index, value = (arrays[f"{name}_{part}"] for part in ("start", "index", "value"))
    row = rows_of(start, len(index), name)
    checked_codes(index, n, name)
    if not rising(row, index):
        raise damaged(f"the columns of '{name}' are not sorted without duplicates in every row")
    narrow = start.astype(np.int32) if len(index) < 2**31 else start
    matrix = csr_array((value, index, frozen(narrow)), shape=(n, n), copy=False)
    matrix.has_canonical_format = True
    return matrix


def model_from(manifest: Manifest, arrays: Arrays, recipes: Recipes) -> Model:
    """The model of a manifest and tensors that passed `check_tensors` and `check_finite`."""
    kind = KINDS[manifest["kind"]]
    names = {name for part in HISTORY for form in part for name in form}
    history = {name: array for name, array in arrays.items() if name in names}
    if fingerprint_of(history) != manifest["fingerprint"]:
        raise damaged("the fingerprint is not that of the training data in the file")
    train = history_from(history)
    own = {name: array for name, array in arrays.items() if name not in names}
    if "similar_start" in own:
        similar = _sparse("similar", own, train.n_items)
        own = {name: array for name, array in own.items() if name not in SPARSE} | {"similar": similar}
    if kind.parts is None:
        own = {"parameters": own}  # type: ignore[dict-item]
    made: Model = kind.model(
        **own,
        **_scalars(manifest["scalars"], kind.scalars),
        train=train,
        recipe=recipe_from_json(manifest["recipe"], recipes),
    )
    return made


def scalars_of(model: Model, name_of_kind: str) -> dict[str, Any]:
    """The numbers of a model that stand in the manifest."""
    types = KINDS[name_of_kind].scalars
    return _scalars({name: to_json(kind(getattr(model, name)), name) for name, kind in types.items()}, types)


def _scalars(numbers: Any, types: dict[str, type]) -> dict[str, Any]:
    fits = isinstance(numbers, dict) and numbers.keys() == types.keys()
    if not fits or any(type(numbers[name]) is not types[name] or abs(numbers[name]) > BIGGEST for name in types):
        raise ModelFileError(f"{shown(numbers)} are no numbers for {list(types)} of the model; fit it again.")
    return dict(numbers)
