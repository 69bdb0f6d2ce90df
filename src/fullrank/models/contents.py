"""What is kept of each kind of model in a file: named tensors, numbers, the recipe; and the way back.

Nothing that comes from a file is trusted: compiled loops rely on what is checked here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import checked_codes, frozen, rising
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import FullrankError, ModelFileError, did_you_mean, shown
from fullrank.models.cost_model import CostFactors
from fullrank.models.manifest import Manifest, Tensor, damaged, from_json, to_json
from fullrank.models.model import Factors, HistoryFactors, ItemItem, ItemScores, Model
from fullrank.models.rating_ordinal import OrdinalFactors

Arrays: TypeAlias = dict[str, NDArray[Any]]
Form: TypeAlias = dict[str, str]  # name of a tensor: its type and dimensions
Parts: TypeAlias = tuple[tuple[Form, ...], ...]  # each in one of several forms, {} where it may be absent
Recipes: TypeAlias = Mapping[str, type]

MOST_CODES = 2**31
BIGGEST = float(np.finfo(np.float32).max)
HISTORY: Parts = (
    ({"user_id": "I64 users"}, {"user_text": "U8 user_bytes", "user_text_start": "I64 users+1"}),
    ({"item_id": "I64 items"}, {"item_text": "U8 item_bytes", "item_text_start": "I64 items+1"}),
    ({"seen_start": "I64 users+1", "seen_item": "I32 rows"},),
    ({"seen_value": "F32 rows"}, {}),
)


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
    recipe: Any


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
            {"similar_start": "I64 items+1", "similar_index": "I32 entries", "similar_value": "F32 entries"},
        ),),
        {"binary": bool},
    ),
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
    for name, form in _expected(kind, tensors).items():
        found, (dtype, *dimensions) = tensors[name], form.split()
        same = dtype == found.dtype and len(dimensions) == len(found.shape)
        if not same or not all(_agrees(sizes, d, n) for d, n in zip(dimensions, found.shape, strict=True)):
            raise _unfit(f"tensor '{name}' is {found.dtype} of shape {list(found.shape)}, not {form} with {sizes}")


def _expected(kind: str, tensors: Mapping[str, Tensor]) -> Form:
    """The form that every part has here, in one."""
    expected: Form = {}
    for part in (*HISTORY, *(KINDS[kind].parts or _any(tensors))):
        there = {name for form in part for name in form if name in tensors}
        form = next((form for form in part if form.keys() == there), None)
        if form is None:
            wanted = " or ".join(", ".join(form) or "none" for form in part)
            raise _unfit(f"a model of kind '{kind}' has {wanted}, here are {sorted(there) or 'none'}")
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
    row = _rows(start, len(index), name)
    checked_codes(index, n, name)
    if not rising(row, index):
        raise damaged(f"the columns of '{name}' are not sorted without duplicates in every row")
    narrow = start.astype(np.int32) if len(index) < 2**31 else start
    matrix = csr_array((value, index, frozen(narrow)), shape=(n, n), copy=False)
    matrix.has_canonical_format = True
    return matrix


def history_arrays(train: Interactions) -> Arrays:
    """The training data without times."""
    arrays = id_arrays("user", train.users) | id_arrays("item", train.items)
    arrays |= {"seen_start": train.starts.astype(np.int64), "seen_item": train.item}
    return arrays if train.value is None else arrays | {"seen_value": train.value}


def id_arrays(what: str, ids: Ids) -> Arrays:
    """Integers as they are; strings as UTF-8, one after the other, and where each starts."""
    if not ids.are_strings:
        return {f"{what}_id": ids.names}
    names = [str(name).encode() for name in ids]
    start = np.concatenate([[0], np.cumsum([len(name) for name in names], dtype=np.int64)])
    return {f"{what}_text": np.frombuffer(b"".join(names), dtype=np.uint8), f"{what}_text_start": start}


def _history(arrays: Arrays) -> Interactions:
    users, items, seen = _ids("user", arrays), _ids("item", arrays), arrays["seen_item"]
    user = _rows(arrays["seen_start"], len(seen), "seen")
    return Interactions(user, seen, arrays.get("seen_value"), None, users, items)


def _ids(what: str, arrays: Arrays) -> Ids:
    if f"{what}_id" in arrays:
        return Ids(arrays[f"{what}_id"])
    text, start = arrays[f"{what}_text"].tobytes(), arrays[f"{what}_text_start"]
    _check_starts(start, len(text), f"{what}_text")
    try:
        return Ids([text[begin:end].decode() for begin, end in pairwise(start.tolist())])
    except UnicodeDecodeError as error:
        raise damaged(f"a {what} id is not UTF-8 ({error})") from error


def _rows(start: NDArray[np.int64], entries: int, what: str) -> NDArray[np.int32]:
    """The row of every entry, from where the rows start."""
    _check_starts(start, entries, what)
    return frozen(np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start)))


def _check_starts(start: NDArray[np.int64], entries: int, what: str) -> None:
    if start[0] != 0 or start[-1] != entries or (start[1:] < start[:-1]).any():
        raise damaged(f"'{what}_start' does not rise from 0 to {entries}")


def recipe_to_json(recipe: Any, recipes: Recipes) -> dict[str, Any]:
    """The name of a recipe and its parameters."""
    name = next((name for name, known in recipes.items() if type(recipe) is known), None)
    if name is None or not is_dataclass(recipe):
        raise ModelFileError(f"recipe {shown(recipe)} is not in the table of recipes and could not be loaded again.")
    kept = [part.name for part in fields(recipe) if part.init]
    return {"name": name, "parameters": {part: to_json(getattr(recipe, part), part) for part in kept}}


def recipe_from_json(entry: Any, recipes: Recipes) -> Any:
    """The recipe again, found in a table and never imported; parameters a file is too old for have their defaults."""
    match entry:
        case {"name": str(name), "parameters": dict(found), **others} if not others:
            parameters = {part: from_json(value) for part, value in found.items()}
        case _:
            raise damaged(f"the recipe is {shown(entry)}")
    if name not in recipes:
        raise ModelFileError(
            f"unknown recipe {shown(name)}; upgrade fullrank, or fit again. {did_you_mean(name, list(recipes))}"
        )
    names = [part.name for part in fields(recipes[name]) if part.init]
    for part in sorted(parameters.keys() - names):
        raise ModelFileError(f"unknown parameter {shown(part)} of recipe '{name}'. {did_you_mean(part, names)}")
    try:
        return recipes[name](**parameters)
    except FullrankError:
        raise
    except Exception as error:  # a recipe may stumble over a type it never expects
        raise damaged(f"recipe '{name}' refuses its parameters ({error})") from error


def fingerprint_of(history: Arrays) -> str:
    """The sha256 of the arrays of a history."""
    digest = hashlib.sha256()
    for name, array in sorted(history.items()):
        digest.update(f"{name} {array.shape} ".encode())
        digest.update(file_bytes(array + np.float32(0) if name == "seen_value" else array))  # -0.0 is 0.0
    return digest.hexdigest()


def file_bytes(array: NDArray[Any]) -> memoryview:
    """What an array is in a file: row after row, the lowest byte of a number first."""
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return little.reshape(-1).view(np.uint8).data


def model_from(manifest: Manifest, arrays: Arrays, recipes: Recipes) -> Model:
    """The model of a manifest and tensors that passed `check_tensors` and `check_finite`."""
    kind = KINDS[manifest["kind"]]
    names = {name for part in HISTORY for form in part for name in form}
    history = {name: array for name, array in arrays.items() if name in names}
    if fingerprint_of(history) != manifest["fingerprint"]:
        raise damaged("the fingerprint is not that of the training data in the file")
    train = _history(history)
    own = {name: array for name, array in arrays.items() if name not in names}
    if "similar_start" in own:
        own = {"similar": _sparse("similar", own, train.n_items)}
    if kind.parts is None:
        own = {"parameters": own}  # type: ignore[dict-item]
    made: Model = kind.model(
        **own,
        **_scalars(manifest["scalars"], kind.scalars),
        train=train,
        recipe=recipe_from_json(manifest["recipe"], recipes),
    )
    return made


def scalars_of(model: Model, kind: str) -> dict[str, Any]:
    """The numbers of a model that stand in the manifest."""
    wanted = KINDS[kind].scalars
    return _scalars({name: to_json(kept(getattr(model, name)), name) for name, kept in wanted.items()}, wanted)


def _scalars(found: Any, wanted: dict[str, type]) -> dict[str, Any]:
    fits = isinstance(found, dict) and found.keys() == wanted.keys()
    if not fits or any(type(found[name]) is not wanted[name] or abs(found[name]) > BIGGEST for name in wanted):
        raise ModelFileError(f"{shown(found)} are no numbers for {list(wanted)} of the model; fit it again.")
    return dict(found)
