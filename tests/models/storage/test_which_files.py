"""Which files are opened as models, and which are refused unread (FAULTS, section 3)."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import struct
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import NoInputError, NotAllowedError, ParameterError
from fullrank.models.files import load
from fullrank.models.kinds.factors import Factors
from fullrank.models.storage import files
from fullrank.models.storage.feedback import fingerprint
from tests.models.storage.model_files import (
    MODELS,
    RECIPES,
    SMALL,
    TRAIN,
    Plain,
    content,
    factors,
    ratings,
    refusal,
    same,
    saved,
    zipped,
)


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
def test_a_foreign_file_is_told_what_it_looks_like(name: str, path: Path) -> None:
    content, message = FOREIGN[name]
    assert message in refusal(path, content)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    for name, (raw, _) in FOREIGN.items():
        (tmp_path / f"{name}.fr").write_bytes(raw)
    code = """
import sys
from pathlib import Path
from fullrank.models.files import load
from fullrank.errors import ModelFileError
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
def test_no_memory_is_taken_for_a_header_that_is_not_there(length: int, size: int, path: Path) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<Q", length) + b'{"a":{')
        file.truncate(size)  # the rest is a hole
    tracemalloc.start()
    try:
        refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 3 * 2**20 + 2**18  # the largest header allowed, and its text
    finally:
        tracemalloc.stop()


def test_replaced_while_loaded(path: Path) -> None:
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


def test_saved_over_the_file_it_came_from(path: Path) -> None:
    saved(SMALL, path)
    again = load(path, recipes=RECIPES)
    before = content(again)
    saved(MODELS["sparse"], path)
    assert content(again) == before
    saved(again, path)
    assert same(load(path, recipes=RECIPES), SMALL)
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(path) not in maps.read_text()


def test_only_regular_files_are_opened(tmp_path: Path, path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    path.write_text("x")
    for odd in ("pipe", "loop", "dangling", "nothing", "model.fr/x", "/dev/zero", "/dev/null", "x\0y", "x" * 300):
        with pytest.raises(NoInputError) as caught:
            load(tmp_path / odd, recipes=RECIPES)
        assert caught.value.exit_code == 66


def test_symbolic_links_are_followed(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to(path)
    saved(SMALL, path)
    assert same(load(link, recipes=RECIPES), SMALL)
    path.write_text("root:x:0:0:root:/root:/bin/sh\n" * 9)
    message = refusal(link)
    assert "looks like text" in message
    assert "root:x" not in message


def test_unreadable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError

    saved(SMALL, path)
    monkeypatch.setattr(files.os, "open", denied)  # root may read everything, so chmod would not do
    with pytest.raises(NotAllowedError, match="permission denied") as caught:
        load(path, recipes=RECIPES)
    assert caught.value.exit_code == 77


def test_the_wrong_model_is_known_by_its_fingerprint(path: Path) -> None:
    saved(SMALL, path)
    pinned = fingerprint(TRAIN)
    assert fingerprint(load(path, recipes=RECIPES).train) == pinned
    saved(factors(ratings()), path)
    assert fingerprint(load(path, recipes=RECIPES).train) != pinned


def test_sha256_of_the_file(path: Path) -> None:
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
