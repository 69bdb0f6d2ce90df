"""Metrics by name, and the TOPK curve."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.errors import ParameterError
from fullrank.metrics import METRICS, atop, metric, parse, topk, topk_curve
from fullrank.ranks import Floats, Ranks


def some_ranks(seed: int = 0, cases: int = 50) -> Ranks:
    rng = np.random.default_rng(seed)
    sizes, pool = rng.integers(1, 5, cases), rng.integers(30, 90, cases)
    most = np.repeat(pool, sizes)
    above = (most * rng.random(len(most)) ** 2).astype(int)
    tied = np.minimum(rng.integers(0, 3, len(most)), most - above)
    return Ranks(start=np.append(0, np.cumsum(sizes)), above=above, tied=tied, pool=pool)


def test_every_metric_is_found_by_its_own_name() -> None:
    for name, found in METRICS.items():
        assert found.name == name
        assert parse(name) == found
        assert found.doc
        if found.cut:
            assert parse(f" {name}@5 ") == found @ 5
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


def test_a_user_s_own_metric_is_one_function() -> None:
    @metric("last", ubm=True)
    def last(ranks: Ranks, k: object) -> Floats:
        """1 where the worst relevant item is among the first k."""
        return (np.maximum.reduceat(ranks.positions(), ranks.start[:-1]) <= k).astype(float)

    assert str(last @ 3) == "last@3"
    assert (last @ 1000)(some_ranks()).all()
