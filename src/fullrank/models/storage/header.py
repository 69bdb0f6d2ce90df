"""The first part of a model file: what is in it, in a form that can be written in one way only.

The layout is that of safetensors: 8 bytes with the length of the header, the header (JSON), the tensors. The header's
`__metadata__` holds one string, our manifest, which is JSON again: sorted keys, no spaces, ASCII, padded to 8 bytes.
Tensors follow each other by size of their numbers, then by name. A header that is not exactly what we would write for
what it says is refused. `sha256` in the manifest is that of the whole file with 64 zeros in its own place.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, TypeAlias

import numpy as np

from fullrank._version import __version__
from fullrank.arrays import Array
from fullrank.errors import ModelFileError, shown

Manifest: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, Array]

FORMAT = 1
KEYS = {"fingerprint", "format", "kind", "recipe", "scalars", "sha256", "version"}
UNSIGNED = "0" * 64
LONGEST = 1 << 20  # bytes of header
DEEPEST = 32  # lists in lists
MOST_PARTS = 1 << 16  # lists and objects
MOST_TENSORS = 256
LARGEST = 2**48  # of one dimension: NumPy can shape an empty array like that
DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
MAGIC = {
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"PK": "a zip archive (.zip, .npz, .pt)",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x1f\x8b": "gzip data",
    b"\x78\x01": "zlib data (joblib?)",
    b"\x78\x9c": "zlib data (joblib?)",
    b"\x78\xda": "zlib data (joblib?)",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"PAR1": "a parquet file",
    b"\x89HDF": "an HDF5 file",
    b"\x7fELF": "a program",
}


@dataclass(frozen=True)
class Tensor:
    """Numbers of one kind in a file: their type, a key of DTYPES, and shape."""

    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: Array) -> Tensor:
        """What an array would be in a file."""
        names = [name for name, dtype in DTYPES.items() if dtype == array.dtype.newbyteorder("<")]
        return cls(names[0] if names else str(array.dtype), array.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


def damaged(what: str) -> ModelFileError:
    """The error for a file that contradicts itself."""
    return ModelFileError(f"{what}; the file is damaged or was not written by fullrank, save or fetch it again.")


def in_order(tensors: Mapping[str, Tensor]) -> list[str]:
    """The names of tensors as they follow each other in the file: large numbers first, so that all are aligned."""
    return sorted(tensors, key=lambda name: (-DTYPES[tensors[name].dtype].itemsize, name))


def encode(manifest: Manifest, tensors: Mapping[str, Tensor]) -> bytes:
    """The length and the header, the only way there is to write them."""
    header: dict[str, Any] = {"__metadata__": {"fullrank": _dumps(manifest)}}
    for name, place in _places(tensors).items():
        header[name] = {"dtype": tensors[name].dtype, "shape": tensors[name].shape, "data_offsets": place}
    text = _dumps(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _places(tensors: Mapping[str, Tensor]) -> dict[str, list[int]]:
    """Where every tensor begins and ends, counted from the end of the header."""
    ends = list(accumulate((tensors[name].nbytes for name in in_order(tensors)), initial=0))
    return {name: [begin, end] for name, (begin, end) in zip(in_order(tensors), pairwise(ends), strict=True)}


def _dumps(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def decode(raw: bytes) -> tuple[Manifest, dict[str, Tensor]]:
    """The manifest and the tensors of a header (with its length); anything but our own writing is refused."""
    header = _strict_json(raw[8:])
    manifest = _manifest(header)
    if len(header) - 1 > MOST_TENSORS:
        raise damaged(f"the header lists {len(header) - 1} tensors, and a model has at most {MOST_TENSORS}")
    tensors = {name: _tensor(name, entry) for name, entry in header.items() if name != "__metadata__"}
    for name, place in _places(tensors).items():
        if header[name]["data_offsets"] != place:
            there = shown(header[name]["data_offsets"])
            raise damaged(f"tensor {shown(name)} is at {there}, not {place}: there is a hole or an overlap")
    if encode(manifest, tensors) != raw:
        raise damaged("the header is not written in the one way that model files are")
    return manifest, tensors


def _strict_json(raw: bytes) -> dict[str, Any]:
    """An object from JSON without duplicate keys, NaN or deep nesting."""
    if raw.count(b"[") + raw.count(b"{") > MOST_PARTS:
        raise damaged(f"the header has more than {MOST_PARTS} lists and objects")
    try:
        value = json.loads(
            raw.decode("ascii"), object_pairs_hook=_distinct, parse_constant=_finite, parse_float=_finite
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise damaged(f"the header is no strict JSON in ASCII ({error})") from error
    if not isinstance(value, dict) or _too_deep(value):
        raise damaged("the header is no object of JSON, or too deep a one")
    return value


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        parts = [whole.values() if type(whole) is dict else whole for whole in level if type(whole) in (dict, list)]
        level = list(chain.from_iterable(parts))
    return bool(level)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise damaged(f"key {shown(twice)} stands twice in the header")
    return value


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise damaged(f"the header contains {shown(number)}, which is no finite number")
    return float(number)


def _manifest(header: dict[str, Any]) -> Manifest:
    """Our manifest out of the header, of a format that can be read here."""
    match header.get("__metadata__"):
        case {"fullrank": str(text), **others} if not others and text.isascii():
            manifest = _strict_json(text.encode())
        case _:
            raise ModelFileError("looks like a safetensors file, but not like a model of fullrank; check the path.")
    made, of = manifest.get("version"), manifest.get("format")
    if type(made) is not str or type(of) is not int or of < 1:
        raise damaged(f"version {shown(made)}, format {shown(of)} is none that ever was")
    if of > FORMAT:
        raise ModelFileError(
            f"made by fullrank {shown(made)[1:-1]} (format {shown(of)}); this is {__version__} "
            f"(format up to {FORMAT}); upgrade."
        )
    if manifest.keys() != KEYS:
        raise damaged(f"manifest keys {shown(sorted(manifest.keys() ^ KEYS))} are missing or unknown")
    return manifest


def _tensor(name: str, entry: object) -> Tensor:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": list(), **others} if not others:
            fits = all(type(n) is int and 0 <= n <= LARGEST for n in shape)
            if dtype in DTYPES and fits and len(shape) <= 2:
                return Tensor(dtype, tuple(shape))
    raise damaged(f"tensor {shown(name)} is {shown(entry)}, which is no type and shape of ours")


def header_length(head: bytes, size: int) -> int:
    """The length of the header, from the first bytes of a file; says what else it looks like."""
    length, begins = int.from_bytes(head[:8], "little"), head[8:9] == b"{"
    if size == 0:
        raise ModelFileError("is empty; save or fetch the model again.")
    if begins and length <= min(LONGEST, size - 8):
        return length
    if length <= LONGEST and (begins or size <= 8):  # before looking closer: a length may look like a pickle
        raise damaged(f"ends inside its header, after {size} bytes")
    kind = "text" if _is_text(head) else next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "")
    if kind:
        raise ModelFileError(f"looks like {kind}, not like a model file; it was not opened, check the path.")
    if begins:
        raise damaged(f"announces a header of {length} bytes, and at most {LONGEST} are allowed")
    raise damaged(f"looks like unknown data of {size} bytes, without the header of a model file")


def _is_text(head: bytes) -> bool:
    text = head.decode("utf-8", errors="ignore")
    whole = len(text.encode()) >= len(head) - 3  # the last character may be cut
    return whole and all(sign.isprintable() or sign.isspace() for sign in text)
