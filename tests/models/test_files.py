"""Model files: what comes back, and what is refused (FAULTS, section 3: M1 to M23)."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import ModelFileError, NoInputError, NotAllowedError, OutputError, ParameterError
from fullrank.models import files
from fullrank.models.files import fingerprint, load, save
from fullrank.models.model import Factors, ItemItem, ItemScores
from tests.data.strategies import interactions


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
    "no values": factors(Interactions.of(["x", "y"], [2**53 + 1, -(2**63)])),
    "empty": factors(Interactions.of([], np.empty(0, dtype=np.int64))),
    "catalogue only": factors(Interactions.of([], [], users=Ids([3]), items=Ids(["x"]))),
}


def content(model: Any) -> dict[str, Any]:
    """Everything a model is, bit by bit."""
    found: dict[str, Any] = {"kind": type(model), "recipe": model.recipe}
    for name in ("users", "items", "bias", "similar", "offset", "binary"):
        value = getattr(model, name, None)
        arrays = (value.indptr, value.indices, value.data) if isinstance(value, csr_array) else (value,)
        found[name] = [(a.shape, a.dtype, a.tobytes()) if isinstance(a, np.ndarray) else a for a in arrays]
    return found


def same(one: Any, other: Any) -> bool:
    return content(one) == content(other) and one.train == other.train


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.fr"


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


# ---- a second writer, from the description of the format

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


@pytest.fixture
def small(path: Path) -> Parts:
    return Parts.of(saved(SMALL, path))


# ---- what comes back


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name: str, path: Path) -> None:
    raw = saved(MODELS[name], path)
    again = load(path, recipes=RECIPES)
    assert same(again, MODELS[name])
    assert saved(again, path) == raw == Parts.of(raw).bytes()


def test_scores_are_bit_identical(path: Path) -> None:
    train = _ratings()
    some = np.arange(train.n_users, dtype=np.int32)
    sparse = random_array((train.n_items, train.n_items), density=0.2, rng=RNG, dtype=np.float32, format="csr")
    for model in (factors(train, bias=RNG.normal(size=train.n_items), offset=0.3), ItemItem(sparse, train, Plain())):
        saved(model, path)
        assert load(path, recipes=RECIPES).scores(some).tobytes() == model.scores(some).tobytes()


def _ratings() -> Interactions:
    pairs = np.unique(RNG.integers(0, 30, size=(200, 2)), axis=0)
    return Interactions.of(pairs[:, 0], pairs[:, 1], RNG.integers(1, 6, size=len(pairs)))


@settings(max_examples=40)
@given(interactions())
def test_any_ids_and_values(tmp_path_factory: pytest.TempPathFactory, train: Interactions) -> None:
    path = tmp_path_factory.getbasetemp() / "any.fr"
    model = ItemScores(np.arange(train.n_items), train, Plain())
    saved(model, path)
    again = load(path, recipes=RECIPES).train
    assert (again.users, again.items) == (train.users, train.items)
    assert again == Interactions(train.user, train.item, train.value, None, train.users, train.items)
    assert fingerprint(again) == fingerprint(train)


@pytest.mark.parametrize(
    "names",
    [["01", "1", "nan", "é", "e\u0301", "😀", "\ufeff", " ", "x\n"], [2**53 + 1, -(2**63), 2**63 - 1, 0]],
)
def test_ids_are_kept_exactly(names: list[Any], path: Path) -> None:
    train = Interactions.of(names, names[::-1], users=Ids(names), items=Ids(names[::-1]))
    saved(factors(train), path)
    again = load(path, recipes=RECIPES).train
    assert list(again.users) == names
    assert list(again.items) == names[::-1]
    assert {type(name) for name in again.users} == {type(names[0])}


def test_sparse_similarities_in_any_order(path: Path) -> None:
    mixed = csr_array(([1.0, 2.0, 3.0], [2, 0, 1], [0, 2, 3, 3]), shape=(3, 3), dtype=np.float32)
    saved(ItemItem(mixed, TRAIN, Plain()), path)
    again = load(path, recipes=RECIPES)
    assert isinstance(again, ItemItem)
    assert (again.similar.toarray() == mixed.toarray()).all()
    assert again.similar.indices.tolist() == [0, 2, 1]
    assert mixed.indices.tolist() == [2, 0, 1]


def test_same_bytes_whatever_the_times_and_order_of_a_table(path: Path, small: Parts) -> None:
    timed = Interactions(TRAIN.user, TRAIN.item, TRAIN.value, np.arange(4).astype("M8[us]"), TRAIN.users, TRAIN.items)
    model = Factors(SMALL.users, np.asfortranarray(SMALL.items), timed, Plain(), offset=2.5)
    assert saved(model, path) == small.bytes()
    one, other = ({1: 2, "a": 3}, {"a": 3, 1: 2})
    assert saved(factors_like(Fancy(table=one)), path) == saved(factors_like(Fancy(table=other)), path)


def factors_like(recipe: Any) -> Factors:
    return Factors(SMALL.users, SMALL.items, TRAIN, recipe)


def test_numpy_numbers_as_parameters(path: Path) -> None:
    saved(factors_like(Plain(np.int64(3), np.float32(0.5))), path)  # type: ignore[arg-type]
    assert load(path, recipes=RECIPES).recipe == Plain(3, 0.5)


def test_the_library_reads_it_too(path: Path, small: Parts) -> None:
    from safetensors.numpy import load_file

    found = load_file(path)
    assert found.keys() == small.tensors.keys()
    assert all((found[name] == small.array(name)).all() for name in found)


def test_fingerprint() -> None:
    assert fingerprint(Interactions.of([1], [1])) != fingerprint(Interactions.of(["1"], [1]))
    assert fingerprint(Interactions.of(["ab"], ["c"])) != fingerprint(Interactions.of(["a"], ["bc"]))
    assert fingerprint(Interactions.of([1], [1], [0.0])) == fingerprint(Interactions.of([1], [1], [-0.0]))
    assert fingerprint(Interactions.of([1], [1], [1])) != fingerprint(Interactions.of([1], [1]))


# ---- what cannot be saved


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (factors_like(Plain(reg=float("nan"))), "reg=nan cannot be kept"),
        (factors_like(Plain(reg=object())), "reg=<object"),  # type: ignore[arg-type]
        (factors_like(Fancy(table={(1, 2): 3})), r"table=\{\(1, 2\): 3\} cannot be kept"),
        (factors_like(Fancy(name="x" * 2**20)), "a header of"),
        (factors_like(Interactions), "not in the table of recipes"),
        (factors(offset=float("inf")), "offset=inf cannot be kept"),
        (factors(offset=1e39), "are no numbers for"),
        (ItemScores(np.ones(2), TRAIN, Plain()), r"tensor 'items' is F32 of shape \[2\], not F32 items"),
        (Factors(np.ones((3, 2)), np.ones((3, 4)), TRAIN, Plain()), "tensor 'items' is F32 of shape"),
        (TRAIN, "a Interactions cannot be kept"),
    ],
)
def test_what_cannot_be_saved(model: Any, message: str, path: Path) -> None:
    with pytest.raises(ModelFileError, match=message):
        save(model, path, recipes=RECIPES)
    assert not path.exists()


def test_an_existing_file_stays(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        save(SMALL, path, recipes=RECIPES)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_killed_while_saving(moment: str, path: Path) -> None:
    """SIGKILL while the new file is written, synced or renamed: the old model is whole."""
    raw = saved(SMALL, path)
    code = f"""
import os, signal
from fullrank.models import files
from tests.models.test_files import MODELS, RECIPES
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
calls, file_bytes = iter(range(99)), files.file_bytes
def third(array):  # every tensor is hashed once before it is written
    return die() if next(calls) == {len(Parts.of(raw).tensors) + 3} else file_bytes(array)
if {moment!r} == "write": files.file_bytes = third
else: setattr(os, {moment!r}, die)
files.save(MODELS["bias"], {str(path)!r}, recipes=RECIPES, overwrite=True)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert path.read_bytes() == raw
    assert same(load(path, recipes=RECIPES), SMALL)


# ---- FAULTS, section 3


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02.")
    return file.getvalue()


class Bomb:
    """Unpickled, it would leave a trace."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploded",)


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, x=np.array([Bomb()], dtype=object))
    return file.getvalue()


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones(3))
    return file.getvalue()


FOREIGN = {
    "empty": (b"", "is empty"),
    "7 bytes": (b"\x01\x02\x03\x04\x05\x06\x07", "looks like unknown data of 7 bytes"),
    "7 zeros": (bytes(7), "ends inside its header"),
    "random": (np.random.default_rng(0).bytes(500), "looks like unknown data"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "looks like a PNG image"),
    "gzip": (gzip.compress(b"x" * 100), "looks like gzip"),
    "text": ("user,item,välue\n".encode() * 9, "looks like text"),
    "json": (b'{"__metadata__":{}}' * 5, "looks like text"),
    **{f"pickle {p}": (pickle.dumps(Bomb(), protocol=p), "looks like a pickle") for p in (2, 3, 4, 5)},
    "pickle 0": (pickle.dumps(Bomb(), protocol=0), "looks like text"),
    "zip": (zipped(), "looks like a zip"),
    "npz": (npz(), "looks like a zip"),
    "npy": (npy(), "looks like a NumPy"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_m1_m2_what_it_looks_like(name: str, path: Path) -> None:
    content, message = FOREIGN[name]
    assert message in refusal(path, content)


def test_m1_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_m2_nothing_is_executed(tmp_path: Path) -> None:
    for name, (content, _) in FOREIGN.items():
        (tmp_path / f"{name}.fr").write_bytes(content)
    code = """
import sys
from pathlib import Path
from fullrank.models.files import ModelFileError, load
seen = []
def refused(path):
    try: load(path, recipes={})
    except ModelFileError: return True
refused("empty.fr")
paths = sorted(Path().glob("*.fr"))
unwanted = ("exec", "compile", "import", "pickle.find_class", "os.mkdir", "os.system")
sys.addaudithook(lambda event, _: seen.append(event) if event in unwanted else None)
assert all([refused(path) for path in paths]) and len(paths) > 10
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 99_900_000, 58_000_000, 2**20 + 8, 2**20, 5000])
@pytest.mark.parametrize("size", [1000, 200_000_000])
def test_m3_m4_header_length(length: int, size: int, path: Path) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<Q", length) + b'{"a":{')
        file.truncate(size)  # the rest is a hole
    tracemalloc.start()
    try:
        refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 3 * 2**20 + 2**18  # the largest header allowed, and its text
    finally:
        tracemalloc.stop()


def test_m4_a_million_entries(path: Path, small: Parts) -> None:
    small.change = lambda header: header.update({f"t{n}": header["users"] for n in range(20_000)})
    assert "announces a header of" in refusal(path, small.bytes())
    small.change = lambda header: header.update({f"t{n}": header["users"] for n in range(257)})
    assert "the header lists 265 tensors" in refusal(path, small.bytes())


@pytest.mark.parametrize("name", ["factors", "item_scores"])
def test_m5_truncated_anywhere(name: str, path: Path) -> None:
    raw = saved(MODELS[name], path)
    with path.open("r+b") as file:
        for size in range(len(raw) - 1, -1, -1):
            file.truncate(size)
            refusal(path)


def test_m6_any_bit_flipped(path: Path) -> None:
    raw = saved(SMALL, path)
    handle = os.open(path, os.O_WRONLY)
    for place, byte in enumerate(raw):
        for bit in range(8):
            os.pwrite(handle, bytes([byte ^ 1 << bit]), place)
            with pytest.raises(ModelFileError):
                load(path, recipes=RECIPES)
        os.pwrite(handle, bytes([byte]), place)
    os.close(handle)
    assert same(load(path, recipes=RECIPES), SMALL)


def test_m7_trailing_bytes_and_polyglots(path: Path, small: Parts) -> None:
    raw = small.bytes()
    assert "bytes where its header says" in refusal(path, raw + b"\0")
    assert "bytes where its header says" in refusal(path, raw + zipped())
    assert "looks like a zip" in refusal(path, zipped() + raw)


def shift(header: dict[str, Any], name: str, begin: int, end: int) -> None:
    header[name]["data_offsets"] = [n + by for n, by in zip(header[name]["data_offsets"], (begin, end), strict=True)]


@pytest.mark.parametrize("shifts", [(8, 8), (-8, 0), (-8, -8), (0, 8), (2**63, 2**63), (0.0, 0.0), (0, -1000)])
def test_m7_holes_and_overlaps(shifts: tuple[int, int], path: Path, small: Parts) -> None:
    small.change = lambda header: shift(header, "seen_start", *shifts)
    assert ("one way" if shifts == (0.0, 0.0) else "hole or an overlap") in refusal(path, small.bytes())


def test_m8_duplicate_keys_order_and_spaces(path: Path, small: Parts) -> None:
    raw = small.bytes()
    for old, new, message in [
        (b'"shape":[3,2]', b'"shape":[3,2],"shape":[3,2]', "'shape' stands twice"),
        (b'"users":{', b'"users":{},"users":{', "'users' stands twice"),
        (b'\\"format\\":1', b'\\"format\\":1,\\"format\\":1', "'format' stands twice"),
        (b'"shape":[3,2]', b'"shape":[3, 2]', "one way"),
        (b'"shape":[3,2]', b'"shape":[3,2.0]', "no type and shape"),
        (b'\\"offset\\":2.5', b'\\"offset\\":2.50', "one way"),
        (b'"dtype":"F32","shape":[3,2]', b'"shape":[3,2],"dtype":"F32"', "one way"),
        (b'"users"', b'"\\u0075sers"', "one way"),
    ]:
        text = raw[8 : 8 + int.from_bytes(raw[:8], "little")]
        assert old in text
        changed = text.replace(old, new, 1)
        changed += b" " * (-len(changed) % 8)
        forged = struct.pack("<Q", len(changed)) + changed + raw[8 + len(text) :]
        assert message in refusal(path, forged), (old, new)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b'{"__metadata__":' + b"[" * 50_000, "no strict JSON"),
        (b'{"__metadata__":[' + b"[]," * 100_000 + b"[]]}", "more than 65536 lists"),
        (b'{"__metadata__":' + b"[" * 500 + b"]" * 500 + b"}", "too deep"),
        (b'{"__metadata__":' + b'{"a":' * 40 + b"1" + b"}" * 41, "too deep"),
        (b'{"__metadata__":NaN}', "contains 'NaN'"),
        (b'{"__metadata__":-Infinity}', "contains '-Infinity'"),
        (b'{"__metadata__":1e999}', "contains '1e999'"),
        (b'{"__metadata__":1' + b"0" * 5000 + b"}", "no strict JSON"),
        (b'{"__metadata__":"\xff\xfe"}', "no strict JSON"),
        (b'{"__metadata__":"\xc3\xbc"}', "no strict JSON"),
        (b'{"__metadata__":{"fullrank":"["}}', "no strict JSON"),
        (b'{"__metadata__":{"fullrank":"[]"}}', "no object"),
        (b'{"__metadata__":{"fullrank":"{}"}}', "none that ever was"),
        (b'{"__metadata__":{"fullrank":"{}","more":"x"}}', "not like a model of fullrank"),
        (b'{"__metadata__":{"format":"pt"},"x":{}}', "not like a model of fullrank"),
        (b"{}", "not like a model of fullrank"),
        (b"{", "no strict JSON"),
    ],
)
def test_m9_json(header: bytes, message: str, path: Path) -> None:
    assert message in refusal(path, struct.pack("<Q", len(header)) + header)


@pytest.mark.parametrize("value", ["NaN", "1e999", "-Infinity", '\\"2.5\\"', "true", "null", "1e300"])
def test_m9_manifest_numbers(value: str, path: Path, small: Parts) -> None:
    raw = small.bytes().replace(b'\\"offset\\":2.5', b'\\"offset\\":' + value.encode(), 1)
    length = int.from_bytes(raw[:8], "little") + len(value) - 3
    refusal(path, struct.pack("<Q", length) + raw[8:])
    if value in ("null", "true", "1e300"):
        small.manifest["scalars"] = {"offset": json.loads(value)}
        assert "are no numbers for ['offset']" in refusal(path, small.bytes())


SHAPES = [
    [2**40, 2**40], [0, 2**62], [2**62, 0], [-3, -2], [3, -2], [6], [3, 2, 1], [2, 3], [3, 1], [], [2**64, 2**64],
    [True, 6], ["3", 2], [3.0, 2], [10**400, 1], None, "x", {}, [0, 2**48], [None, None],
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["users", "seen_start"])
def test_m10_shapes(name: str, shape: Any, path: Path, small: Parts) -> None:
    small.change = lambda header: header[name].update(shape=shape)
    refusal(path, small.bytes())


@pytest.mark.parametrize("shape", [[0, 2**62], [0, -2]])
def test_m10_shapes_of_nothing(shape: list[int], path: Path) -> None:
    """They agree with each other and take no bytes, but NumPy cannot make such an array."""
    parts = Parts.of(saved(MODELS["empty"], path))
    for name in ("users", "items"):
        parts.tensors[name] = ("F32", shape, b"")
    assert "no type and shape of ours" in refusal(path, parts.bytes())


def test_m10_shapes_that_disagree(path: Path) -> None:
    for name, model, array in [
        ("users", SMALL, np.ones((4, 2), dtype="f4")),
        ("users", SMALL, np.ones((3, 0), dtype="f4")),
        ("items", SMALL, np.ones((3, 3), dtype="f4")),
        ("items", SMALL, np.ones(3, dtype="f4")),
        ("seen_start", SMALL, np.zeros(0, dtype="i8")),
        ("seen_value", SMALL, np.ones(5, dtype="f4")),
        ("user_id", SMALL, np.arange(4, dtype="i8")),
        ("bias", MODELS["bias"], np.ones(4, dtype="f4")),
        ("similar", MODELS["dense"], np.ones((3, 4), dtype="f4")),
        ("similar_value", SPARSE, np.ones(1, dtype="f4")),
        ("similar_start", SPARSE, np.zeros(3, dtype="i8")),
    ]:
        assert "of shape" in refusal(path, Parts.of(saved(model, path)).put(name, array).bytes()), name


@pytest.mark.parametrize("dtype", ["f2", "f8", "i4", ">f4", "i8", "u1"])
def test_m11_types(dtype: str, path: Path, small: Parts) -> None:
    message = refusal(path, small.put("users", np.ones((3, 2), dtype=dtype)).bytes())
    assert "no type and shape of ours" in message or "not F32 users factors" in message


def test_m11_float16_with_infinity(path: Path, small: Parts) -> None:
    small.tensors["users"] = ("F16", [3, 2], np.full((3, 2), np.inf, dtype="f2").tobytes())
    assert "no type and shape of ours" in refusal(path, small.bytes())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["users", "items", "bias", "seen_value"])
def test_m12_not_finite(name: str, value: float, path: Path) -> None:
    parts = Parts.of(saved(MODELS["bias"], path))
    array = parts.array(name)
    array.flat[-1] = value
    assert f"tensor '{name}' has NaN or infinite" in refusal(path, parts.put(name, array).bytes())


@pytest.mark.parametrize("name", ["similar", "similar_value"])
def test_m12_similarities(name: str, path: Path) -> None:
    parts = Parts.of(saved(MODELS["dense" if name == "similar" else "sparse"], path))
    array = parts.array(name)
    array.flat[0] = np.nan
    assert f"tensor '{name}' has NaN or infinite" in refusal(path, parts.put(name, array).bytes())


def i8(*numbers: int) -> Any:
    return np.array(numbers, dtype="i8")


def i4(*numbers: int) -> Any:
    return np.array(numbers, dtype="i4")


def u1(text: str | bytes) -> Any:
    return np.frombuffer(text if isinstance(text, bytes) else text.encode(), dtype="u1")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("seen_start", i8(0, 2, 1, 4), "'seen_start' does not rise"),
        ("seen_start", i8(1, 2, 3, 4), "'seen_start' does not rise"),
        ("seen_start", i8(0, 2, 3, 3), "'seen_start' does not rise"),
        ("seen_start", i8(0, 2**62, -(2**63), 4), "'seen_start' does not rise"),
        ("seen_start", i8(0, 4, 4, 4), "not sorted"),
        ("seen_item", i4(0, 2, 2, 3), "item code 3 is outside"),
        ("seen_item", i4(0, 2, 2, -1), "item code -1 is outside"),
        ("seen_item", i4(2, 0, 2, 0), "not sorted"),
        ("seen_item", i4(2, 2, 2, 0), "not sorted"),
        ("seen_value", np.array([1, 2, 3, 1e30], dtype="f4"), "beyond 1e12"),
        ("user_id", i8(1, 5, 5), "id 5 is given twice"),
        ("item_text", u1("aaba"), "id 'a' is given twice"),
        ("item_text", u1(b"\xc3ab\xbc"), "not UTF-8"),
        ("item_text", u1("ab\0c"), "contains a NUL"),
        ("item_text_start", i8(0, 1, 3, 4), "not UTF-8"),
        ("item_text_start", i8(0, 2, 2, 4), "is empty"),
        ("item_text_start", i8(0, 3, 2, 4), "'item_text_start' does not rise"),
        ("item_text_start", i8(0, 2, 3, 5), "'item_text_start' does not rise"),
    ],
)
def test_m13_histories_and_ids(name: str, array: Any, message: str, path: Path, small: Parts) -> None:
    if name == "item_text" and message.startswith("id"):
        small.put("item_text_start", i8(0, 1, 2, 4))
    assert message in refusal(path, small.put(name, array).bytes())


@pytest.mark.parametrize(
    ("start", "index", "message"),
    [
        (i8(0, 2, 1, 3), i4(0, 1, 2), "'similar_start' does not rise"),
        (i8(0, 1, 2, 4), i4(0, 1, 2), "'similar_start' does not rise"),
        (i8(0, 1, 2, 3), i4(0, 1, 3), "similar code 3 is outside"),
        (i8(0, 1, 2, 3), i4(-1, 1, 2), "similar code -1 is outside"),
        (i8(0, 3, 3, 3), i4(1, 0, 2), "not sorted"),
        (i8(0, 3, 3, 3), i4(0, 0, 2), "not sorted"),
    ],
)
def test_m13_similarities(start: Any, index: Any, message: str, path: Path) -> None:
    parts = Parts.of(saved(SPARSE, path)).put("similar_value", np.ones(3, dtype="f4"))
    assert message in refusal(path, parts.put("similar_start", start).put("similar_index", index).bytes())


def test_m13_the_fingerprint_is_that_of_the_history(path: Path, small: Parts) -> None:
    assert "the fingerprint is not" in refusal(path, small.bytes(fingerprint="0" * 64))


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a/b", "x\0", "", "userss", "similar", "user_text"])
def test_m14_names(name: str, path: Path, small: Parts) -> None:
    small.put(name, np.ones(3, dtype="f4"))
    message = refusal(path, small.bytes())
    assert "does not belong to" in message or "here are ['user_id', 'user_text']" in message


def test_m14_missing_tensors(path: Path, small: Parts) -> None:
    del small.tensors["seen_item"]
    assert "has seen_start, seen_item, here are ['seen_start']" in refusal(path, small.bytes())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "os.system"}, "unknown kind of model 'os.system'"),
        ({"kind": ["x"]}, "unknown kind of model ['x']"),
        ({"kind": "item_item"}, "a model of kind 'item_item' has similar or"),
        ({"recipe": {"name": "os.system", "parameters": {}}}, "unknown recipe 'os.system'"),
        ({"recipe": {"name": "planin", "parameters": {}}}, "Did you mean 'plain'?"),
        ({"recipe": {"name": "plain", "parameters": {"rag": 1}}}, "unknown parameter 'rag' of recipe 'plain'"),
        ({"recipe": {"name": "plain", "parameters": {"__class__": 1}}}, "unknown parameter '__class__'"),
        ({"recipe": {"name": "plain", "parameters": {"reg": {"module": "os"}}}}, "stands for nothing"),
        ({"recipe": {"name": "plain", "parameters": {"reg": {"dict": [[[], 1]]}}}}, "stands for nothing"),
        ({"recipe": {"name": "plain"}}, "the recipe is"),
        ({"recipe": "plain"}, "the recipe is"),
        ({"recipe": {"name": "strict", "parameters": {"reg": -1}}}, "'reg' parameter must be"),
        ({"recipe": {"name": "strict", "parameters": {"reg": "x"}}}, "refuses its parameters"),
        ({"scalars": {}}, "are no numbers for ['offset']"),
        ({"more": 1}, "manifest keys ['more']"),
    ],
)
def test_m15_names_are_looked_up(change: dict[str, Any], message: str, path: Path, small: Parts) -> None:
    small.manifest |= change
    assert message in refusal(path, small.bytes())


FROZEN = {"0.1.0": b"""
WAQAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJmdWxscmFuayI6IntcImZpbmdlcnByaW50XCI6XCJhODAxNDhmMmJkMDkyNWM2Y2I5YzVjNjIxYjU0YTFlMz
ViMGZhNTE0OGUyZjEyNTFhYjQzYzJjMmFmZjIyN2U5XCIsXCJmb3JtYXRcIjoxLFwia2luZFwiOlwiZmFjdG9yc1wiLFwicmVjaXBlXCI6e1wibmFtZVwi
OlwiZmFuY3lcIixcInBhcmFtZXRlcnNcIjp7XCJmbGFnXCI6dHJ1ZSxcIm1hbnlcIjpbMSwyLjUsXCJ4XCIsW3RydWVdXSxcIm5hbWVcIjpcIlxcdTAwZm
MgXFx1ZDgwMFwiLFwibm90aGluZ1wiOm51bGwsXCJwYWlyXCI6e1widHVwbGVcIjpbMSx7XCJ0dXBsZVwiOlsyLjAsXCJ5XCJdfV19LFwidGFibGVcIjp7
XCJkaWN0XCI6W1tcIjFcIix7XCJ0dXBsZVwiOlszXX1dLFsxLDAuNV0sWzQuNSxudWxsXV19fX0sXCJzY2FsYXJzXCI6e1wib2Zmc2V0XCI6Mi41fSxcIn
NoYTI1NlwiOlwiNTEyY2VkNjg2MjEyMjE3MDdhZGY4ZGUyN2VlYzhiYzZlNzg2MmJlYzExN2RmZDNmODgzMzhiZmE1MDAxZDRmNFwiLFwidmVyc2lvblwi
OlwiMC4xLjBcIn0ifSwiYmlhcyI6eyJkYXRhX29mZnNldHMiOls4OCwxMDBdLCJkdHlwZSI6IkYzMiIsInNoYXBlIjpbM119LCJpdGVtX3RleHQiOnsiZG
F0YV9vZmZzZXRzIjpbMTgwLDE4NF0sImR0eXBlIjoiVTgiLCJzaGFwZSI6WzRdfSwiaXRlbV90ZXh0X3N0YXJ0Ijp7ImRhdGFfb2Zmc2V0cyI6WzAsMzJd
LCJkdHlwZSI6Ikk2NCIsInNoYXBlIjpbNF19LCJpdGVtcyI6eyJkYXRhX29mZnNldHMiOlsxMDAsMTI0XSwiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzMsMl
19LCJzZWVuX2l0ZW0iOnsiZGF0YV9vZmZzZXRzIjpbMTI0LDE0MF0sImR0eXBlIjoiSTMyIiwic2hhcGUiOls0XX0sInNlZW5fc3RhcnQiOnsiZGF0YV9v
ZmZzZXRzIjpbMzIsNjRdLCJkdHlwZSI6Ikk2NCIsInNoYXBlIjpbNF19LCJzZWVuX3ZhbHVlIjp7ImRhdGFfb2Zmc2V0cyI6WzE0MCwxNTZdLCJkdHlwZS
I6IkYzMiIsInNoYXBlIjpbNF19LCJ1c2VyX2lkIjp7ImRhdGFfb2Zmc2V0cyI6WzY0LDg4XSwiZHR5cGUiOiJJNjQiLCJzaGFwZSI6WzNdfSwidXNlcnMi
OnsiZGF0YV9vZmZzZXRzIjpbMTU2LDE4MF0sImR0eXBlIjoiRjMyIiwic2hhcGUiOlszLDJdfX0gIAAAAAAAAAAAAgAAAAAAAAADAAAAAAAAAAQAAAAAAA
AAAAAAAAAAAAACAAAAAAAAAAMAAAAAAAAABAAAAAAAAAABAAAAAAAAAAUAAAAAAAAACQAAAAAAAAAAAAA/AACAvwAAAEAAAKA/AACAPwAAQD8AAAA/AACA
PgAAAAAAAAAAAgAAAAIAAAAAAAAAAAAAQAAAgD8AAKBAAAAAPwAAAAAAAAA+AACAPgAAwD4AAAA/AAAgP8O8YmE=
"""}  # fmt: skip


@pytest.mark.parametrize("version", FROZEN)
def test_m16_files_of_older_versions(version: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = base64.b64decode(FROZEN[version])
    path.write_bytes(raw)
    users, items = np.arange(6).reshape(3, 2) / 8, np.arange(6)[::-1].reshape(3, 2) / 4
    model = Factors(users, items, TRAIN, Fancy(), bias=np.array([0.5, -1, 2]), offset=2.5)
    assert same(load(path, recipes=RECIPES), model)
    monkeypatch.setattr(fullrank, "__version__", version)
    assert saved(model, path) == raw


def test_m16_a_parameter_that_came_later_has_its_default(path: Path, small: Parts) -> None:
    small.manifest["recipe"] = {"name": "plain", "parameters": {"factors": 7}}
    path.write_bytes(small.bytes())
    assert load(path, recipes=RECIPES).recipe == Plain(7, 0.1)


def test_m17_newer_format(path: Path, small: Parts) -> None:
    small.manifest |= {"format": 7, "version": "3.1", "something": "new"}
    small.put("something_else", np.ones(3))
    expected = f"made by fullrank 3.1 (format 7); this is {fullrank.__version__} (format up to 1); upgrade."
    assert refusal(path, small.bytes()) == expected


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.0, None])
def test_m17_no_format(number: Any, path: Path, small: Parts) -> None:
    small.manifest["format"] = number
    assert "none that ever was" in refusal(path, small.bytes())


def test_m18_replaced_while_loaded(path: Path) -> None:
    models = [MODELS["bias"], MODELS["sparse"]]
    saved(models[0], path)
    done = threading.Event()

    def replace() -> None:
        for turn in range(60):
            saved(models[turn % 2], path)
        done.set()

    writer = threading.Thread(target=replace)
    writer.start()
    loads = 0
    while not done.is_set() or loads < 5:
        again = load(path, recipes=RECIPES)
        assert any(same(again, model) for model in models)
        loads += 1
    writer.join()


def test_m19_m21_saved_over_the_file_it_came_from(path: Path) -> None:
    saved(SMALL, path)
    again = load(path, recipes=RECIPES)
    before = content(again)
    saved(MODELS["sparse"], path)
    assert content(again) == before
    saved(again, path)
    assert same(load(path, recipes=RECIPES), SMALL)
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(path) not in maps.read_text()


def test_m20_only_regular_files(tmp_path: Path, path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    path.write_text("x")
    for odd in ("pipe", "loop", "dangling", "nothing", "model.fr/x", "/dev/zero", "/dev/null", "x\0y", "x" * 300):
        with pytest.raises(NoInputError) as caught:
            load(tmp_path / odd, recipes=RECIPES)
        assert caught.value.exit_code == 66


def test_m20_symbolic_links(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to(path)
    saved(SMALL, path)
    assert same(load(link, recipes=RECIPES), SMALL)
    path.write_text("root:x:0:0:root:/root:/bin/sh\n" * 9)
    message = refusal(link)
    assert "looks like text" in message
    assert "root:x" not in message


def test_m20_unreadable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError

    saved(SMALL, path)
    monkeypatch.setattr(files.os, "open", denied)  # root may read everything, so chmod would not do
    with pytest.raises(NotAllowedError, match="permission denied") as caught:
        load(path, recipes=RECIPES)
    assert caught.value.exit_code == 77


def test_m22_the_wrong_model_is_told_by_its_fingerprint(path: Path) -> None:
    saved(SMALL, path)
    pinned = fingerprint(TRAIN)
    assert fingerprint(load(path, recipes=RECIPES).train) == pinned
    saved(factors(_ratings()), path)
    assert fingerprint(load(path, recipes=RECIPES).train) != pinned


def test_m23_sha256_of_the_file(path: Path) -> None:
    pin = hashlib.sha256(saved(SMALL, path)).hexdigest()
    assert same(load(path, recipes=RECIPES, sha256=pin.upper()), SMALL)
    other = hashlib.sha256(saved(MODELS["bias"], path)).hexdigest()
    assert f"its sha256 is {other}, expected {pin}" in refusal(path, sha256=pin)
    with pytest.raises(ParameterError, match="64 hexadecimal digits"):
        load(path, recipes=RECIPES, sha256="abc")


def test_max_bytes(path: Path) -> None:
    size = len(saved(SMALL, path))
    assert same(load(path, recipes=RECIPES, max_bytes=size), SMALL)
    assert f"has {size} bytes, and max_bytes is {size - 1}" in refusal(path, max_bytes=size - 1)
    with pytest.raises(ParameterError, match="max_bytes"):
        load(path, recipes=RECIPES, max_bytes=-1)


def test_memory_is_that_of_the_file(path: Path) -> None:
    train = Interactions.of([0], [0], users=Ids.numbered(20_000), items=Ids.numbered(3))
    saved(Factors(np.ones((20_000, 100)), np.ones((3, 100)), train, Plain()), path)
    tracemalloc.start()
    try:
        load(path, recipes=RECIPES)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * path.stat().st_size
    finally:
        tracemalloc.stop()


# ---- garbage


@settings(max_examples=200)
@given(st.binary(max_size=200), st.booleans())
def test_garbage(tmp_path_factory: pytest.TempPathFactory, garbage: bytes, framed: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "garbage.fr"
    refusal(path, struct.pack("<Q", len(garbage) + 1) + b"{" + garbage if framed else garbage)


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in nested lists and dicts."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@cache
def raw_of(name: str, path: Path) -> bytes:
    return saved(MODELS[name], path)


@settings(max_examples=300)
@given(st.data())
def test_a_forged_header_with_valid_sums(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever stands anywhere in a manifest or a header: ours to refuse, or a model that was meant."""
    path = tmp_path_factory.getbasetemp() / "forged.fr"
    parts = Parts.of(raw_of(data.draw(st.sampled_from(list(MODELS))), path))
    value, where = data.draw(anything), data.draw(st.integers(0, 10_000))

    def change(whole: dict[str, Any]) -> None:
        found = places(whole)
        at, key = found[where % len(found)]
        at[key] = deepcopy(value)

    if data.draw(st.booleans()):
        change(parts.manifest)
    else:
        parts.change = change
    path.write_bytes(parts.bytes())
    with suppress(ModelFileError):
        load(path, recipes=RECIPES)
