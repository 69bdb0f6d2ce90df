"""Metrics of sampled ranks in expectation: toy tables, exact fractions, simulation.

Tables and equations are those of Krichene and Rendle 2020.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from fullrank.evaluation.corrections import tables
from fullrank.evaluation.methods import constrained, least_squares
from fullrank.evaluation.sampling import at, expected, rank_distribution, values
from fullrank.metrics import ap, auc, hit_rate, mean_rank, ndcg, recall, rr
from fullrank.metrics.metric import Metric
from fullrank.ranks import Ranks
from tests.evaluation.correction_cases import approx

TOY = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482], "C": [212, 2, 743, 5342, 1548]}
EXACT = {auc: (0.990, 0.555, 0.843), ap: (0.010, 0.010, 0.101), ndcg: (0.150, 0.122, 0.208), recall @ 10: (0, 0, 0.2)}
SAMPLED = {  # mean and standard deviation over 1000 repetitions
    auc: ((0.990, 0.555, 0.843), (0.004, 0.014, 0.014)),
    ap: ((0.630, 0.336, 0.325), (0.129, 0.073, 0.050)),
    ndcg: ((0.724, 0.444, 0.460), (0.097, 0.054, 0.039)),
    recall @ 10: ((1, 0.4, 0.567), (0, 0, 0.092)),
}


def one_each(ranks: list[int] | np.ndarray, n: int) -> Ranks:
    cases = len(ranks)
    return Ranks(np.arange(cases + 1), np.array(ranks) - 1, np.zeros(cases), np.full(cases, n - 1))


@pytest.mark.parametrize("measure", list(EXACT), ids=str)
def test_toy_table_exact(measure: Metric) -> None:
    found = [measure(one_each(ranks, 10_000)).mean() for ranks in TOY.values()]
    assert found == approx(EXACT[measure], abs=0.0005)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("measure", list(SAMPLED), ids=str)
def test_toy_table_sampled(measure: Metric, replace: bool) -> None:
    """Printed means are of 1000 repetitions: both ways of drawing lie within three standard errors of all of them."""
    mean, deviation = SAMPLED[measure]
    for ranks, printed, spread in zip(TOY.values(), mean, deviation, strict=True):
        found = expected(measure, 99, 10_000, ranks, replace).mean()
        assert found == approx(printed, abs=0.0006 + 3 * spread / np.sqrt(1000))


def test_values_are_the_metric_by_rank() -> None:
    rank = np.arange(1, 51)
    assert values(auc, 50) == approx((50 - rank) / 49)
    assert values(recall @ 10, 50) == approx((rank <= 10).astype(float))
    assert values(ap @ 7, 50) == approx((rank <= 7) / rank)
    assert values(ndcg, 50) == approx(1 / np.log2(rank + 1))
    assert values(mean_rank, 50) == approx(rank)
    assert at(auc, [[1], [2]], [5, 9]) == approx(np.array([[1, 1], [3 / 4, 7 / 8]]))


def test_values_of_many_blocks_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    once = values(ndcg @ 10, 1000)
    monkeypatch.setattr("fullrank.evaluation.sampling.BLOCK", 77)
    assert (values(ndcg @ 10, 1000) == once).all()


@pytest.mark.parametrize(("n", "m"), [(9, 8), (50, 20), (10_000, 99), (10_000_000, 100), (3000, 700)])
def test_distribution_against_fractions(n: int, m: int) -> None:
    ranks = sorted({1, 2, 3, n // 100 + 1, n // 2, n - 1, n})
    high, low = [r - 1 for r in ranks], [n - r for r in ranks]
    without = [
        [float(Fraction(comb(a, j) * comb(b, m - j), comb(n - 1, m))) for j in range(m + 1)]
        for a, b in zip(high, low, strict=True)
    ]
    again = [
        [float(comb(m, j) * Fraction(a, n - 1) ** j * Fraction(b, n - 1) ** (m - j)) for j in range(m + 1)]
        for a, b in zip(high, low, strict=True)
    ]
    assert rank_distribution(n, m, False, ranks) == approx(np.array(without), rel=1e-11, abs=1e-300)
    assert rank_distribution(n, m, True, ranks) == approx(np.array(again), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("measure", [auc, recall @ 10, hit_rate @ 3, recall, rr, ap, ap @ 10, ndcg], ids=str)
def test_expected_is_the_sum(measure: Metric, replace: bool) -> None:
    """Closed forms and interpolated panels against all n x (m+1) terms."""
    for n, m in [(5000, 60), (700, 1), (40, 39), (2, 1)]:
        direct = rank_distribution(n, m, replace) @ values(measure, m + 1)
        assert expected(measure, m, n, replace=replace) == approx(direct, abs=1e-12)
        some = np.array([1, 2, n // 2, n])[np.array([1, 2, n // 2, n]) >= 1]
        assert expected(measure, m, n, some, replace) == approx(direct[some - 1], abs=1e-12)


def test_expected_reciprocal_rank_in_fractions() -> None:
    """Eq. 19, and without replacement n/(r (m+1)) (1 - C(n-r, m+1)/C(n, m+1)), by the hockey stick."""
    n, m, rank = 1000, 30, np.array([1, 2, 10, 500, 969, 970, 1000])
    again = [1.0 if r == 1 else (1 - ((n - r) / (n - 1)) ** (m + 1)) * (n - 1) / ((r - 1) * (m + 1)) for r in rank]
    assert expected(ap, m, n, rank, True) == approx(again, rel=1e-12)
    without = [
        float(Fraction(n, int(r) * (m + 1)) * (1 - Fraction(comb(n - int(r), m + 1), comb(n, m + 1)))) for r in rank
    ]
    assert expected(rr, m, n, rank) == approx(without, rel=1e-12)


@pytest.mark.parametrize("replace", [False, True])
def test_auc_is_unbiased(replace: bool) -> None:
    direct = rank_distribution(300, 17, replace) @ values(auc, 18)
    assert direct == approx(values(auc, 300), abs=1e-13)
    for method in (least_squares(), constrained()):
        table = tables(auc, method, 300, 8, replace)[0]
        assert table == approx(values(auc, 9), abs=1e-7)


@pytest.mark.parametrize("replace", [False, True])
def test_expected_against_simulation(replace: bool) -> None:
    rng, n, m, draws = np.random.default_rng(1), 500, 20, 20_000
    for rank in (1, 7, 60, 400):
        sample = rng.integers(0, n - 1, size=(draws, m))
        if not replace:
            sample = rng.random((draws, n - 1)).argpartition(m, axis=1)[:, :m]
        sampled = 1 + (sample < rank - 1).sum(axis=1)
        for measure in (recall @ 3, ap, ndcg, auc):
            found = values(measure, m + 1)[sampled - 1]
            error = found.std() / np.sqrt(draws)
            assert found.mean() == approx(expected(measure, m, n, [rank], replace)[0], abs=4 * error + 1e-9)
