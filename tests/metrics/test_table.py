"""Metrics by name, and the TOPK curve."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from fullrank.arrays import Doubles
from fullrank.errors import ParameterError
from fullrank.evaluation.result import evaluate
from fullrank.metrics import METRICS, atop, metric, ndcg, parse, table, topk, topk_curve
from fullrank.ranks import Ranks


def some_ranks(seed: int = 0, cases: int = 50) -> Ranks:
    rng = np.random.default_rng(seed)
    sizes, pool = rng.integers(1, 5, cases), rng.integers(30, 90, cases)
    most = np.repeat(pool, sizes)
    above = (most * rng.random(len(most)) ** 2).astype(int)
    tied = np.minimum(rng.integers(0, 3, len(most)), most - above)
    return Ranks(start=np.append(0, np.cumsum(sizes)), above=above, tied=tied, pool=pool)


def test_every_metric_is_found_by_its_own_name() -> None:
    for name, measure in METRICS.items():
        assert measure.name == name
        assert parse(name) == measure
        assert measure.doc
        if measure.cut:
            assert parse(f" {name}@5 ") == measure @ 5
            assert str(parse(f"{name}@5")) == f"{name}@5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "'ndgc' is not a metric. Did you mean 'ndcg'"),
        ("ndcg@0", "cut-off of ndcg must be an integer >= 1. Got 0"),
        ("ndcg@2.5", r"cut-off of ndcg must be an integer >= 1. Got 2.5"),
        ("ndcg@ten", "'ndcg@ten': 'ten' is no cut-off; write a number"),
        ("ndcg@", "'ndcg@': '' is no cut-off"),
        ("ndcg@-1", "Got -1.0"),
        ("auc@5", "auc has no cut-off; write it without @5"),
        ("topk@1.5", "or a float from 0 to 1"),
        ("", "'' is not a metric"),
    ],
)
def test_what_is_no_metric(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse(text)


def test_the_area_under_the_topk_curve_is_atop() -> None:
    ranks = some_ranks()
    shares, values = topk_curve(ranks, np.linspace(0, 1, 200_001)[::10])
    assert np.trapezoid(values, shares) == pytest.approx(atop(ranks).mean(), abs=1e-3)
    assert (np.diff(values) >= 0).all()
    assert values[-1] == 1
    shares, values = topk_curve(ranks, weight=ranks.sizes)
    assert len(shares) == 1001
    at = int(np.flatnonzero(shares == 0.1)[0])
    assert values[at] == pytest.approx(np.average((topk @ 0.1)(ranks), weights=ranks.sizes))


@pytest.mark.parametrize("name", METRICS)
def test_the_docstring_of_a_metric_is_its_formula(name: str) -> None:
    measure = METRICS[name]
    formula = inspect.getdoc(measure.function)
    assert formula
    assert inspect.getdoc(measure) == formula
    assert inspect.getdoc(parse(f"{name}@5") if measure.cut else parse(name)) == formula


def test_help_on_ndcg_tells_its_formula() -> None:
    assert (inspect.getdoc(ndcg @ 10) or "").startswith("DCG / ideal DCG, DCG = sum of 1/log2(position + 1)")


def test_adding_a_metric_is_one_function_and_one_line_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    @metric("last", unbiased=True)
    def last(ranks: Ranks, k: object) -> Doubles:
        """1 where the worst relevant item is among the first k."""
        return (np.maximum.reduceat(ranks.positions(), ranks.start[:-1]) <= k).astype(float)

    monkeypatch.setattr(table, "METRICS", METRICS | {"last": last})  # the one line

    ranks = Ranks(start=[0, 2, 3], above=[0, 3, 1], tied=[0, 0, 0], pool=[8, 8])  # R - - - R,   - R
    assert evaluate(ranks, [parse("last@2"), last @ 5]).mean() == {"last@2": 0.5, "last@5": 1.0}


@pytest.mark.parametrize("name", METRICS)
def test_every_definition_has_a_formula_or_says_it_in_words_and_no_python(name: str) -> None:
    doc = METRICS[name].doc
    assert ">>>" not in doc
    assert doc == inspect.cleandoc(doc)
    assert re.search(r"/|[Mm]ean|[Pp]robability|[Ss]hare", doc)
