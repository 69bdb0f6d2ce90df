"""Files that begin like a model and are none: damaged, forged, garbage (FAULTS, section 3)."""

from __future__ import annotations

import json
import os
import struct
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.errors import ModelFileError
from fullrank.models.files import load
from tests.models.storage.model_files import (
    MODELS,
    RECIPES,
    SMALL,
    SPARSE,
    Parts,
    refusal,
    same,
    saved,
    zipped,
)


def test_too_many_entries_in_the_header(path: Path, small: Parts) -> None:
    small.change = lambda header: header.update({f"t{n}": header["users"] for n in range(20_000)})
    assert "announces a header of" in refusal(path, small.bytes())
    small.change = lambda header: header.update({f"t{n}": header["users"] for n in range(257)})
    assert "the header lists 265 tensors" in refusal(path, small.bytes())


@pytest.mark.parametrize("name", ["factors", "item_scores"])
def test_truncated_anywhere(name: str, path: Path) -> None:
    raw = saved(MODELS[name], path)
    with path.open("r+b") as file:
        for size in range(len(raw) - 1, -1, -1):
            file.truncate(size)
            refusal(path)


def test_any_bit_flipped(path: Path) -> None:
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


def test_trailing_bytes_and_polyglots(path: Path, small: Parts) -> None:
    raw = small.bytes()
    assert "bytes where its header says" in refusal(path, raw + b"\0")
    assert "bytes where its header says" in refusal(path, raw + zipped())
    assert "looks like a zip" in refusal(path, zipped() + raw)


def shift(header: dict[str, Any], name: str, begin: int, end: int) -> None:
    header[name]["data_offsets"] = [n + by for n, by in zip(header[name]["data_offsets"], (begin, end), strict=True)]


@pytest.mark.parametrize("shifts", [(8, 8), (-8, 0), (-8, -8), (0, 8), (2**63, 2**63), (0.0, 0.0), (0, -1000)])
def test_holes_and_overlaps_between_tensors(shifts: tuple[int, int], path: Path, small: Parts) -> None:
    small.change = lambda header: shift(header, "seen_start", *shifts)
    assert ("one way" if shifts == (0.0, 0.0) else "hole or an overlap") in refusal(path, small.bytes())


def test_duplicate_keys_and_other_ways_to_write_a_header(path: Path, small: Parts) -> None:
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
def test_headers_that_are_no_strict_json(header: bytes, message: str, path: Path) -> None:
    assert message in refusal(path, struct.pack("<Q", len(header)) + header)


@pytest.mark.parametrize("value", ["NaN", "1e999", "-Infinity", '\\"2.5\\"', "true", "null", "1e300"])
def test_numbers_in_the_manifest(value: str, path: Path, small: Parts) -> None:
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
def test_shapes_that_do_not_fit_the_bytes(name: str, shape: Any, path: Path, small: Parts) -> None:
    small.change = lambda header: header[name].update(shape=shape)
    refusal(path, small.bytes())


@pytest.mark.parametrize("shape", [[0, 2**62], [0, -2]])
def test_shapes_of_nothing(shape: list[int], path: Path) -> None:
    """They agree with each other and take no bytes, but NumPy cannot make such an array."""
    parts = Parts.of(saved(MODELS["empty"], path))
    for name in ("users", "items"):
        parts.tensors[name] = ("F32", shape, b"")
    assert "no type and shape of ours" in refusal(path, parts.bytes())


def test_shapes_that_disagree(path: Path) -> None:
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
def test_types_that_models_do_not_have(dtype: str, path: Path, small: Parts) -> None:
    message = refusal(path, small.put("users", np.ones((3, 2), dtype=dtype)).bytes())
    assert "no type and shape of ours" in message or "not F32 users factors" in message


def test_half_precision_with_infinity(path: Path, small: Parts) -> None:
    small.tensors["users"] = ("F16", [3, 2], np.full((3, 2), np.inf, dtype="f2").tobytes())
    assert "no type and shape of ours" in refusal(path, small.bytes())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["users", "items", "bias", "seen_value"])
def test_vectors_that_are_not_finite(name: str, value: float, path: Path) -> None:
    parts = Parts.of(saved(MODELS["bias"], path))
    array = parts.array(name)
    array.flat[-1] = value
    assert f"tensor '{name}' has NaN or infinite" in refusal(path, parts.put(name, array).bytes())


@pytest.mark.parametrize("name", ["similar", "similar_value"])
def test_similarities_that_are_not_finite(name: str, path: Path) -> None:
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
def test_histories_and_ids_that_contradict_themselves(
    name: str, array: Any, message: str, path: Path, small: Parts
) -> None:
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
def test_similarities_that_contradict_themselves(start: Any, index: Any, message: str, path: Path) -> None:
    parts = Parts.of(saved(SPARSE, path)).put("similar_value", np.ones(3, dtype="f4"))
    assert message in refusal(path, parts.put("similar_start", start).put("similar_index", index).bytes())


def test_the_fingerprint_is_that_of_the_history(path: Path, small: Parts) -> None:
    assert "the fingerprint is not" in refusal(path, small.bytes(fingerprint="0" * 64))


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a/b", "x\0", "", "userss", "similar", "user_text"])
def test_tensors_of_unknown_names(name: str, path: Path, small: Parts) -> None:
    small.put(name, np.ones(3, dtype="f4"))
    message = refusal(path, small.bytes())
    assert "does not belong to" in message or "here are ['user_id', 'user_text']" in message


def test_missing_tensors(path: Path, small: Parts) -> None:
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
def test_kinds_recipes_and_parameters_are_looked_up(
    change: dict[str, Any], message: str, path: Path, small: Parts
) -> None:
    small.manifest |= change
    assert message in refusal(path, small.bytes())


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
        anywhere = places(whole)
        at, key = anywhere[where % len(anywhere)]
        at[key] = deepcopy(value)

    if data.draw(st.booleans()):
        change(parts.manifest)
    else:
        parts.change = change
    path.write_bytes(parts.bytes())
    with suppress(ModelFileError):
        load(path, recipes=RECIPES)
