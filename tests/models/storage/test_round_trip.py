"""Model files: what comes back, from this version and from others; what cannot be saved (FAULTS, section 3)."""

from __future__ import annotations

import base64
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array, random_array

import fullrank
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.errors import ModelFileError, OutputError
from fullrank.models.files import load, save
from fullrank.models.kinds.factors import Factors
from fullrank.models.kinds.item_item import ItemItem
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.storage.feedback import fingerprint
from tests.data.strategies import interactions
from tests.models.storage.model_files import (
    MODELS,
    RECIPES,
    RNG,
    SMALL,
    TRAIN,
    Fancy,
    Parts,
    Plain,
    factors,
    factors_like,
    ratings,
    refusal,
    same,
    saved,
)


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name: str, path: Path) -> None:
    raw = saved(MODELS[name], path)
    again = load(path, recipes=RECIPES)
    assert same(again, MODELS[name])
    assert saved(again, path) == raw == Parts.of(raw).bytes()


def test_scores_are_bit_identical(path: Path) -> None:
    train = ratings()
    some = np.arange(train.n_users, dtype=np.int32)
    sparse = random_array((train.n_items, train.n_items), density=0.2, rng=RNG, dtype=np.float32, format="csr")
    for model in (factors(train, bias=RNG.normal(size=train.n_items), offset=0.3), ItemItem(sparse, train, Plain())):
        saved(model, path)
        assert load(path, recipes=RECIPES).scores(some).tobytes() == model.scores(some).tobytes()


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


def test_numpy_numbers_as_parameters(path: Path) -> None:
    saved(factors_like(Plain(np.int64(3), np.float32(0.5))), path)  # type: ignore[arg-type]
    assert load(path, recipes=RECIPES).recipe == Plain(3, 0.5)


def test_the_library_reads_it_too(path: Path, small: Parts) -> None:
    from safetensors.numpy import load_file

    tensors = load_file(path)
    assert tensors.keys() == small.tensors.keys()
    assert all((tensors[name] == small.array(name)).all() for name in tensors)


def test_fingerprint() -> None:
    assert fingerprint(Interactions.of([1], [1])) != fingerprint(Interactions.of(["1"], [1]))
    assert fingerprint(Interactions.of(["ab"], ["c"])) != fingerprint(Interactions.of(["a"], ["bc"]))
    assert fingerprint(Interactions.of([1], [1], [0.0])) == fingerprint(Interactions.of([1], [1], [-0.0]))
    assert fingerprint(Interactions.of([1], [1], [1])) != fingerprint(Interactions.of([1], [1]))


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
from fullrank.models.storage import files
from tests.models.storage.model_files import MODELS, RECIPES
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
calls, file_bytes = iter(range(99)), files.file_bytes
def third(array):  # every tensor is hashed once before it is written
    return die() if next(calls) == {len(Parts.of(raw).tensors) + 3} else file_bytes(array)
if {moment!r} == "write": files.file_bytes = third
else: setattr(os, {moment!r}, die)
files.write_model(MODELS["bias"], {str(path)!r}, RECIPES, overwrite=True)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert path.read_bytes() == raw
    assert same(load(path, recipes=RECIPES), SMALL)


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
def test_files_of_older_versions(version: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = base64.b64decode(FROZEN[version])
    path.write_bytes(raw)
    users, items = np.arange(6).reshape(3, 2) / 8, np.arange(6)[::-1].reshape(3, 2) / 4
    model = Factors(users, items, TRAIN, Fancy(), bias=np.array([0.5, -1, 2]), offset=2.5)
    assert same(load(path, recipes=RECIPES), model)
    monkeypatch.setattr(fullrank, "__version__", version)
    assert saved(model, path) == raw


def test_a_parameter_that_came_later_has_its_default(path: Path, small: Parts) -> None:
    small.manifest["recipe"] = {"name": "plain", "parameters": {"factors": 7}}
    path.write_bytes(small.bytes())
    assert load(path, recipes=RECIPES).recipe == Plain(7, 0.1)


def test_a_newer_format_says_upgrade(path: Path, small: Parts) -> None:
    small.manifest |= {"format": 7, "version": "3.1", "something": "new"}
    small.put("something_else", np.ones(3))
    expected = f"made by fullrank 3.1 (format 7); this is {fullrank.__version__} (format up to 1); upgrade."
    assert refusal(path, small.bytes()) == expected


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.0, None])
def test_numbers_that_are_no_format(number: Any, path: Path, small: Parts) -> None:
    small.manifest["format"] = number
    assert "none that ever was" in refusal(path, small.bytes())
