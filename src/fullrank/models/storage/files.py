"""Models in files: one file holds all that scoring needs, and nothing in it is ever executed.

A symbolic link to a model file is followed; folders, pipes and devices are refused without being opened. What the bytes
of a file must be is in `fullrank.models.storage.header`, what they mean in `fullrank.models.storage.layout`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fullrank._version import __version__
from fullrank.arrays import Array, frozen
from fullrank.errors import (
    DataError,
    ModelFileError,
    NoInputError,
    NotAllowedError,
    ParameterError,
    StorageError,
    check,
    check_integer,
    shown,
)
from fullrank.models.kinds.model import Model
from fullrank.models.storage.feedback import file_bytes, fingerprint_of, history_arrays
from fullrank.models.storage.header import (
    DTYPES,
    FORMAT,
    UNSIGNED,
    Arrays,
    Manifest,
    Tensor,
    damaged,
    decode,
    encode,
    header_length,
    in_order,
)
from fullrank.models.storage.layout import check_finite, check_tensors, kind_of, model_arrays, model_from, scalars_of
from fullrank.models.storage.parameters import Recipes, recipe_to_json
from fullrank.runtime.atomic import check_writable, write_with
from fullrank.runtime.memory import check_fits

HEAD = 64  # bytes, enough to say what a file is that is not ours
BLOCK = 1 << 22  # bytes read and hashed at a time


def write_model(model: Model, path: str | Path, recipes: Recipes, *, overwrite: bool = False) -> None:
    """Write a model to one file, whole or not at all; the same model gives the same bytes.

    The training data is kept without its times. `recipes`: the recipes by name.
    """
    check_writable(path, overwrite=overwrite)
    manifest, arrays = _contents(model, recipes)
    tensors = {name: Tensor.of(array) for name, array in arrays.items()}
    check_tensors(manifest["kind"], tensors)
    check_finite(arrays)
    header = _sign(manifest, tensors, arrays)
    header_length(header[:HEAD], len(header))
    decode(header)  # nothing is written that could not be read

    def write(file: IO[bytes]) -> None:
        file.write(header)
        for name in in_order(tensors):
            file.write(file_bytes(arrays[name]))

    write_with(path, write, overwrite=overwrite)


def digest(model: Model, recipes: Recipes) -> str:
    """The sha256 that the file of a model carries of itself: the same for the same model, and no other."""
    manifest, arrays = _contents(model, recipes)
    return _signature(manifest, {name: Tensor.of(array) for name, array in arrays.items()}, arrays)


def _contents(model: Model, recipes: Recipes) -> tuple[Manifest, Arrays]:
    """What the file of a model says and holds."""
    kind, history = kind_of(model), history_arrays(model.train)
    return _manifest(model, kind, fingerprint_of(history), recipes), history | model_arrays(model)


def read_model(path: str | Path, recipes: Recipes, *, sha256: str | None = None, max_bytes: int | None = None) -> Model:
    """The model in a file, after every check there is; `ModelFileError` says what is wrong with it.

    `sha256`: what the whole file must hash to; `max_bytes`: how long it may be. The file is read into memory and
    closed, so it may be replaced afterwards. `recipes`: the recipes by name.
    """
    check("sha256", sha256, sha256 is None or _is_digest(sha256), "64 hexadecimal digits")
    if max_bytes is not None:
        check_integer("max_bytes", max_bytes, 0)
    with _naming(path), _open(path) as file:
        manifest, arrays = _read(file, sha256, max_bytes)
        return model_from(manifest, arrays, recipes)


def identify(model: Model) -> dict[str, str]:
    """Which model it is, for files that are made from it: its recipe and kind, and the sha256 of what is in it."""
    seen = history_arrays(model.train)
    return {
        "made_by": f"fullrank {__version__}",
        "model": str(model.recipe),
        "kind": type(model).__name__,
        "training_data": fingerprint_of(seen),
        "model_sha256": fingerprint_of(seen | model_arrays(model)),
    }


def _manifest(model: Model, kind: str, fingerprint: str, recipes: Recipes) -> Manifest:
    return {
        "format": FORMAT,
        "version": __version__,
        "kind": kind,
        "recipe": recipe_to_json(model.recipe, recipes),
        "scalars": scalars_of(model, kind),
        "fingerprint": fingerprint,
        "sha256": UNSIGNED,
    }


def _sign(manifest: Manifest, tensors: Mapping[str, Tensor], arrays: Arrays) -> bytes:
    """The header, with the digest of the file it will stand in."""
    return encode(manifest | {"sha256": _signature(manifest, tensors, arrays)}, tensors)


def _signature(manifest: Manifest, tensors: Mapping[str, Tensor], arrays: Arrays) -> str:
    whole = hashlib.sha256(encode(manifest, tensors))
    for name in in_order(tensors):
        whole.update(file_bytes(arrays[name]))
    return whole.hexdigest()


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text.lower()) <= set("0123456789abcdef")


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Errors of whatever part say which file it was."""
    try:
        yield
    except (DataError, ParameterError) as error:
        raise ModelFileError(f"{path}: {error}") from error
    except PermissionError:
        raise NotAllowedError(f"{path}: permission denied; make it readable for this user.") from None
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
            raise NoInputError(f"{path}: no such file; check the path.") from None
        raise StorageError(f"{path}: cannot be read ({error.strerror or error}).") from error


@contextmanager
def _open(path: str | Path) -> Iterator[IO[bytes]]:
    """An open regular file; anything else is not even opened, since that may wait or have effects."""
    if "\0" in str(path):
        raise NoInputError(f"{shown(str(path))}: no file can have such a name; check the path.")
    _check_regular(path, os.stat(path).st_mode)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
        _check_regular(path, os.fstat(file.fileno()).st_mode)  # it may have been replaced
        yield file


def _check_regular(path: str | Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise ModelFileError("is a folder; give the path of a model file.")
    if not stat.S_ISREG(mode):
        raise NoInputError(f"{path}: is a pipe, a device or a socket; give the path of a model file.")


def _read(file: IO[bytes], sha256: str | None, max_bytes: int | None) -> tuple[Manifest, Arrays]:
    """What is in a whole, unchanged file; no more is allocated than the file is long."""
    size = os.fstat(file.fileno()).st_size
    if max_bytes is not None and size > max_bytes:
        raise ModelFileError(f"has {size} bytes, and max_bytes is {max_bytes}; raise it if you trust the file.")
    length = header_length(file.read(HEAD), size)
    file.seek(0)
    header = _bytes(file, 8 + length).tobytes()
    manifest, tensors = decode(header)
    end = len(header) + sum(tensor.nbytes for tensor in tensors.values())
    if size != end:
        raise damaged(f"has {size} bytes where its header says {end}")
    check_tensors(manifest["kind"], tensors)
    check_fits(size, "the arrays of the model")
    own = hashlib.sha256(encode(manifest | {"sha256": UNSIGNED}, tensors))
    pinned = None if sha256 is None else hashlib.sha256(header)
    arrays = {name: _array(file, tensors[name], own, pinned) for name in in_order(tensors)}
    if pinned is not None and pinned.hexdigest() != str(sha256).lower():
        raise ModelFileError(f"its sha256 is {pinned.hexdigest()}, expected {sha256}; this is another file.")
    if own.hexdigest() != manifest["sha256"]:
        raise damaged("the checksum does not match the contents")
    check_finite(arrays)
    return manifest, arrays


def _array(file: IO[bytes], tensor: Tensor, *hashes: Any) -> Array:
    return frozen(_bytes(file, tensor.nbytes, *hashes).view(DTYPES[tensor.dtype]).reshape(tensor.shape))


def _bytes(file: IO[bytes], n: int, *hashes: Any) -> NDArray[np.uint8]:
    """The next bytes of a file, hashed on the way."""
    whole = np.empty(n, dtype=np.uint8)
    at = 0
    while at < n:
        got = file.readinto(whole[at : at + BLOCK])  # type: ignore[attr-defined]
        if not got:
            raise damaged(f"ends {n - at} bytes too early")
        for digest in hashes:
            if digest is not None:
                digest.update(whole[at : at + got])
        at += got
    return whole
