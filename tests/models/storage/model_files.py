"""Small models of every kind, and a second writer of model files from the description of the format."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import ModelFileError, ParameterError
from fullrank.models.files import load, save
from fullrank.models.kinds.dual_item_item import DualItemItem
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.item_sequences import ItemSequences
from fullrank.models.kinds.own_items import OwnItems


@dataclass(frozen=True)
class Plain:
    factors: int = 2
    reg: float = 0.1


@dataclass(frozen=True)
class Fancy:
    name: str = "ü \ud800"
    flag: bool = True
    nothing: None = None
    many: list[Any] = field(default_factory=lambda: [1, 2.5, "x", [True]])
    pair: tuple[Any, ...] = (1, (2.0, "y"))
    table: dict[Any, Any] = field(default_factory=lambda: {1: 0.5, "1": (3,), 4.5: None})


@dataclass(frozen=True)
class Strict:
    reg: float = 0.1

    def __post_init__(self) -> None:
        if self.reg < 0:
            raise ParameterError("The 'reg' parameter must be a number >= 0.")


RECIPES: dict[str, type] = {"plain": Plain, "fancy": Fancy, "strict": Strict}

TRAIN = Interactions.of([1, 1, 5, 9], ["a", "ü", "a", "ü"], [1.0, 2, 5, 0.5], items=Ids(["ü", "b", "a"]))

RNG = np.random.default_rng(3)


def factors(train: Interactions = TRAIN, recipe: Any = Plain(), **more: Any) -> Factors:  # noqa: B008
    users, items = RNG.normal(size=(train.n_users, 2)), RNG.normal(size=(train.n_items, 2))
    return Factors(users, items, train, recipe, **more)


SMALL = factors(offset=2.5)

SIMILAR = random_array((3, 3), density=0.6, rng=RNG, dtype=np.float32, format="csr")

SPARSE = ItemItem(csr_array(SIMILAR), TRAIN, Plain(), binary=False)

MODELS = {
    "factors": SMALL,
    "bias": factors(bias=RNG.normal(size=3)),
    "item_scores": ItemScores(RNG.normal(size=3), TRAIN, Fancy()),
    "dense": ItemItem(RNG.normal(size=(3, 3)).astype(np.float32), TRAIN, Plain()),
    "sparse": SPARSE,
    "dual": DualItemItem(RNG.normal(size=(3, 3)), np.full(3, 0.5), TRAIN, Plain(), 2.5, binary=False),
    "own items": OwnItems(RNG.normal(size=3), TRAIN, Plain()),
    "sequences": ItemSequences(csr_array(SIMILAR), np.array([1, 0, 0, 3]), TRAIN, Plain(), recency=0.25),
    "no values": factors(Interactions.of(["x", "y"], [2**53 + 1, -(2**63)])),
    "empty": factors(Interactions.of([], np.empty(0, dtype=np.int64))),
    "catalogue only": factors(Interactions.of([], [], users=Ids([3]), items=Ids(["x"]))),
}


def content(model: Any) -> dict[str, Any]:
    """Everything a model is, bit by bit."""
    parts: dict[str, Any] = {"kind": type(model), "recipe": model.recipe}
    arrays_of = ("users", "items", "bias", "similar", "weights", "unexplained", "moment")
    for name in (*arrays_of, "offset", "reg", "binary", "recency"):
        value = getattr(model, name, None)
        arrays = (value.indptr, value.indices, value.data) if isinstance(value, csr_array) else (value,)
        parts[name] = [(a.shape, a.dtype, a.tobytes()) if isinstance(a, np.ndarray) else a for a in arrays]
    return parts


def same(one: Any, other: Any) -> bool:
    return content(one) == content(other) and one.train == other.train


def saved(model: Any, path: Path) -> bytes:
    save(model, path, recipes=RECIPES, overwrite=True)
    return path.read_bytes()


def refusal(path: Path, content: bytes | None = None, **options: Any) -> str:
    """The message with which a file is refused; never another error than ours."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path, recipes=RECIPES, **options)
    assert caught.value.exit_code == 65
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


SIZES = {"F32": 4, "I32": 4, "I64": 8, "U8": 1}


@dataclass
class Parts:
    """A model file taken apart; `bytes()` puts it together again, with valid sums."""

    manifest: dict[str, Any]
    tensors: dict[str, tuple[str, list[Any], bytes]]
    change: Callable[[dict[str, Any]], object] = lambda header: None

    @classmethod
    def of(cls, raw: bytes) -> Parts:
        length = int.from_bytes(raw[:8], "little")
        header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
        manifest = json.loads(header.pop("__metadata__")["fullrank"])
        return cls(manifest, {n: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for n, e in header.items()})

    def put(self, name: str, array: Any) -> Parts:
        array = np.asarray(array)
        dtype = {"<f4": "F32", "<i4": "I32", "<i8": "I64", "|u1": "U8"}.get(array.dtype.str, array.dtype.str)
        self.tensors[name] = (dtype, list(array.shape), array.tobytes())
        return self

    def array(self, name: str) -> Any:
        dtype, shape, data = self.tensors[name]
        return np.frombuffer(data, {"F32": "<f4", "I32": "<i4", "I64": "<i8", "U8": "u1"}[dtype]).reshape(shape).copy()

    def order(self) -> list[str]:
        return sorted(self.tensors, key=lambda name: (-SIZES.get(self.tensors[name][0], 1), name))

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name in sorted(self.tensors):
            if name.startswith(("user_", "item_", "seen_")):
                digest.update(f"{name} {tuple(self.tensors[name][1])} ".encode() + self.tensors[name][2])
        return digest.hexdigest()

    def header(self, **signature: str) -> bytes:
        manifest = self.manifest | signature
        header: dict[str, Any] = {
            "__metadata__": {"fullrank": json.dumps(manifest, sort_keys=True, separators=(",", ":"))}
        }
        end = 0
        for name in self.order():
            dtype, shape, data = self.tensors[name]
            header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end := end + len(data)]}
        self.change(header)
        text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text

    def bytes(self, **signature: str) -> bytes:
        data = b"".join(self.tensors[name][2] for name in self.order())
        signature = {"fingerprint": self.fingerprint()} | signature
        digest = hashlib.sha256(self.header(sha256="0" * 64, **signature) + data).hexdigest()
        return self.header(sha256=digest, **signature) + data


def ratings() -> Interactions:
    pairs = np.unique(RNG.integers(0, 30, size=(200, 2)), axis=0)
    return Interactions.of(pairs[:, 0], pairs[:, 1], RNG.integers(1, 6, size=len(pairs)))


def factors_like(recipe: Any) -> Factors:
    return Factors(SMALL.users, SMALL.items, TRAIN, recipe)


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02.")
    return file.getvalue()
