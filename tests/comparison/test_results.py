"""results.json: the types it holds, its schema, and what happens where it is damaged."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullrank
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.merge import read_results
from fullrank.comparison.results import FORMAT, Results, schema
from fullrank.errors import DataError
from tests.report.fixture import bare, results


@pytest.mark.parametrize("content", [results(), results(models=1), bare()], ids=["all", "one", "bare"])
def test_what_is_written_is_read_again(content: dict[str, Any]) -> None:
    typed = Results.from_json(content)
    again = typed.to_json()
    assert again == content
    assert Results.from_json(json.loads(json.dumps(again))) == typed


def test_the_schema_accepts_what_is_written_and_nothing_less() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    form = schema()
    jsonschema.Draft202012Validator.check_schema(form)
    validator = jsonschema.Draft202012Validator(form)
    world = fullrank.simulate.ratings(60, 80)
    comparison = fullrank.compare(world.data, ["Bestseller", "ItemCF"], truth=world.everything, sampled=5)
    for content in (results(), bare(), comparison.to_json()):
        assert not list(validator.iter_errors(content))
    for missing in ("verdict", "models", "manifest"):
        assert list(validator.iter_errors({k: v for k, v in results().items() if k != missing}))
    assert list(validator.iter_errors({**results(), "seed": 1, "pairs": [{"metric": "auc"}]}))


def test_nothing_can_be_changed() -> None:
    typed = Results.from_json(results())
    with pytest.raises(FrozenInstanceError):
        typed.verdict.best = "another"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 1}, f"has format 1, and this version reads {FORMAT}; compare again"),
        ({"format": None}, "is not the result of a comparison"),
        ({"verdict": {"sentence": "Use it."}}, r"verdict.metric is damaged"),
        ({"models": [{"name": 3}]}, r"models.0.name is damaged"),
        ({"pairs": "none"}, "pairs is damaged"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({**results(), **change}))
    with pytest.raises(DataError, match=message) as caught:
        read_results(tmp_path)
    assert str(tmp_path / "results.json") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_frame_has_a_row_for_every_model_and_metric() -> None:
    comparison = Comparison(Results.from_json(results(models=2)))
    frame = comparison.to_frame()
    assert frame.columns == ["model", "metric", "mean", "low", "high", "group", "unbiased", "least", "most"]
    assert frame.height == 2 * 5  # the one that failed has none
    row = frame.filter((pl.col("model") == "AllRank") & (pl.col("metric") == "auc")).row(0, named=True)
    assert (row["mean"], row["group"], row["unbiased"]) == (0.921, "a", False)


def test_a_result_as_a_frame() -> None:
    ranks = fullrank.Ranks(start=[0, 1, 2], above=[0, 4], tied=[0, 0], pool=[9, 9])
    result = fullrank.evaluate(ranks, [fullrank.metrics.recall @ 1, fullrank.metrics.rr])
    assert result.to_frame().to_dict(as_series=False) == {
        "case": [0, 1], "weight": [1.0, 1.0], "recall@1": [1.0, 0.0], "rr": [1.0, 0.2],
    }  # fmt: skip
