"""What the lists of models look like: against brute force, with and without attributes, kept and merged."""

from __future__ import annotations

import json
import re
from itertools import combinations
from math import log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank
from fullrank.comparison.compare import compare
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.inputs import load
from fullrank.comparison.lists import measure_lists
from fullrank.comparison.results import ListMeasures
from fullrank.comparison.words import order_words
from fullrank.data.ids import Ids
from fullrank.errors import ParameterError
from fullrank.metrics.words import cosine
from tests.comparison.world import FEW, WORLD, timeless

WORDS = [("odd", "small")[: 1 + item % 2] if item % 3 else () for item in range(WORLD.data.n_items)]
OPTIONS: dict[str, Any] = {"split": "holdout:0.3", "sampled": 20}


def brute(lists: list[list[int]], train: Any, words: list[tuple[str, ...]]) -> dict[str, float]:
    """The definitions, read aloud."""
    rows = np.bincount(train.item, minlength=train.n_items)
    best, head = np.argsort(-rows, kind="stable"), 0
    while rows[best[:head]].sum() < 0.2 * len(train):
        head += 1
    bestsellers = {item for item in range(train.n_items) if rows[item] >= rows[best[head - 1]]}

    def unlike(one: int, other: int) -> float:
        a, b = set(words[one]), set(words[other])
        return 1 - len(a & b) / sqrt(len(a) * len(b)) if a and b else 1.0

    def mean(value: Any) -> float:
        return float(np.mean([np.mean([value(item) for item in row]) for row in lists]))

    overlaps = [len(set(one) & set(other)) / 10 for one, other in combinations(lists, 2)]
    return {
        "coverage": len({item for row in lists for item in row}) / train.n_items,
        "bestsellers": mean(lambda item: item in bestsellers),
        "novelty": mean(lambda item: -log2(max(rows[item], 1) / len(train))),
        "personalisation": 1 - float(np.mean(overlaps)),
        "diversity": float(np.mean([np.mean([unlike(a, b) for a, b in combinations(row, 2)]) for row in lists])),
    }


def test_measures_are_those_of_everybodys_ten_best() -> None:
    split = fullrank.holdout(WORLD.data, 0.3, seed=0)
    judged = np.unique(split.held_out.user[split.held_out.value >= 5])
    for model in compare(WORLD.data, FEW, attributes=WORDS, **OPTIONS).results.models:
        fitted = FEW[model.name].fit(split.train)
        lists = [fullrank.recommend(fitted, WORLD.data.users.name(int(user)), n=10).items for user in judged]
        codes = [[WORLD.data.items.code(item) for item in row] for row in lists]
        assert model.lists is not None
        for name, value in brute(codes, split.train, WORDS).items():
            assert getattr(model.lists, name) == pytest.approx(value), (model.name, name)


def test_what_cannot_be_measured_is_none(comparison: Comparison) -> None:
    assert all(model.lists is not None and model.lists.diversity is None for model in comparison.results.models)
    train = fullrank.Interactions.of([0, 0, 1], ["a", "b", "a"])
    nothing = ListMeasures(coverage=0.0, bestsellers=None, novelty=None, personalisation=None, diversity=None)
    assert measure_lists(np.array([[-1, -1]], dtype=np.int32), train) == nothing
    alone = measure_lists(np.array([[1, -1]], dtype=np.int32), train, cosine([("x",), ("x",)]))
    assert (alone.coverage, alone.bestsellers, alone.novelty) == (0.5, 0.0, pytest.approx(log2(3)))
    assert (alone.personalisation, alone.diversity) == (None, None)
    sessions = compare(fullrank.simulate.sessions(30, 20, seed=1).data, ["Bestseller"]).results
    assert [model.lists for model in sessions.models] == [None]


def test_attributes_by_id_or_by_code() -> None:
    items = Ids(["tea", "gin", "rum"])
    by_code = ((), ("strong",), ("strong", "brown"))
    given: list[Any] = [
        {"gin": ["strong"], "rum": ("strong", "brown"), "ale": ["weak"]}, [None, ["strong"], ("strong", "brown")],
        by_code, {"gin": np.array(["strong"]), "rum": np.array(["strong", "brown"])},
    ]  # fmt: skip
    for attributes in given:
        assert order_words(attributes, items) == by_code
    assert order_words((), items) == order_words({}, items) == ()
    alike = cosine([*by_code, ("brown", "strong", "brown")])
    assert alike is not None
    assert np.asarray(alike(np.array([0, 1, 2]), np.array([1, 2, 3]))).tolist() == pytest.approx([0, sqrt(1 / 2), 1])
    assert cosine([(), ()]) is None


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ([["one"]], "such a list for each of 200 items. Got [['one']] instead"),
        (["drama"] * 200, "such a list for each of 200 items. Got 'drama' instead"),
        ({1: [2]}, "such a list for each of 200 items. Got [2] instead"),
        (
            {"1": ["one"]},
            "attributes: none of 1 is of an item of the data, the first is of '1'",
        ),
    ],
)
def test_attributes_that_are_none_are_refused(attributes: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        compare(WORLD.data, ["Bestseller"], attributes=attributes)


def test_measures_are_kept_and_belong_to_their_attributes(tmp_path: Path) -> None:
    first = compare(WORLD.data, FEW, attributes=WORDS, out=tmp_path, **OPTIONS)
    calls: list[str] = []

    def again(attributes: Any) -> Any:
        calls.clear()
        return compare(
            WORLD.data, FEW, attributes=attributes, out=tmp_path, progress=lambda text, _: calls.append(text), **OPTIONS
        )

    assert timeless(again(WORDS).to_json()) == timeless(first.to_json())
    assert not any("ranking" in text for text in calls)
    other = again([("odd",)] * len(WORDS))
    assert [model.lists.diversity for model in other.results.models] == pytest.approx([0, 0, 0])
    part = tmp_path / "parts" / "ItemCF" / "part.json"
    part.write_text(json.dumps({k: v for k, v in json.loads(part.read_text()).items() if k != "measures"}))
    assert timeless(again([("odd",)] * len(WORDS)).to_json()) == timeless(other.to_json())
    assert any("ItemCF: ranking" in text for text in calls)


def test_known_data_sets_bring_their_genres(shared_data: Path) -> None:
    loaded = load(str(shared_data / "ml-100k"))
    assert len(loaded.genres) == loaded.data.n_items
    assert "Comedy" in loaded.genres[loaded.data.items.code(1)]  # Toy Story
