"""Activations, losses of ranks, and the slopes that the kernel takes, against definitions and numerical differences."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from fullrank.errors import ParameterError
from fullrank.kernels import sgd_history as kernels
from fullrank.models.asymmetric.activations import ACTIVATIONS
from fullrank.models.asymmetric.rank_loss import AUC, NDCG, RankLoss, rank_table, score_table

X = np.linspace(-3, 3, 241)
KERNELS: Any = kernels
ITEM = np.array([3, 7, 8, 1, 2, -1, 5, 9, 4], dtype=np.int32)  # three positives, then negatives, one missing


def numerical(function: Any, x: Any, h: float = 1e-6) -> Any:
    return (function(x + h) - function(x - h)) / (2 * h)


def test_activations_by_their_definitions() -> None:
    s = X * np.sqrt(2 * np.pi)  # scores of a normal distribution
    assert ACTIVATIONS["probit"].value(X) == pytest.approx(ndtr(s))
    assert ACTIVATIONS["logistic"].value(X) == pytest.approx(expit(s * np.sqrt(8 / np.pi)))
    quad = [1 - max(1 - x, 0) ** 2 / 2 if x >= 0 else max(1 + x, 0) ** 2 / 2 for x in X]
    assert ACTIVATIONS["quad"].value(X) == pytest.approx(quad)
    assert ACTIVATIONS["rankSE"].value(X) == pytest.approx([1 - max(1 - x, 0) ** 2 / 2 for x in X])
    for name in ("logistic", "quad"):
        assert abs(ACTIVATIONS[name].value(X) - ndtr(s)).max() < 0.03


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_of_activations(name: str) -> None:
    value, slope = ACTIVATIONS[name]
    smooth = X[np.abs(np.abs(X) - 1) > 1e-3]
    assert slope(smooth) == pytest.approx(numerical(value, smooth), abs=1e-5)
    assert float(slope(0.0)) == 1.0  # all of the width of rankSE
    if name in ("quad", "rankSE"):
        assert (value(X[X > 0]) == ACTIVATIONS["quad"].value(X[X > 0])).all()


@pytest.mark.parametrize("loss", [AUC, NDCG, RankLoss(lambda r: 1 - 1 / r, lambda r: r**-2.0)])
def test_slopes_of_rank_losses(loss: RankLoss) -> None:
    ranks = np.array([1.0, 1.5, 2, 10, 300, 5000])
    assert loss.slope(ranks) == pytest.approx(numerical(loss.value, ranks), abs=1e-5)


def test_a_list_of_four_by_hand() -> None:
    """rho = 7/8 5/8 3/8 1/8, so 4 rho (1 - rho) = 7/16 15/16 15/16 7/16; divided by the largest in the upper half."""
    value, force = rank_table(AUC, 4, 25)
    assert force == pytest.approx([7 / 15, 1, 1, 7 / 15])
    assert value == pytest.approx(np.array([1, 2, 3, 4]) / (4 * 15 / 16))


@pytest.mark.parametrize("loss", [AUC, NDCG])
def test_slopes_at_ranks_are_those_of_the_loss_along_the_scores(loss: RankLoss) -> None:
    """The score at which half of an item more is above, and how fast the loss falls there, by differences."""
    n, ranks = 1000, np.array([1, 2, 5, 40, 300, 500, 900])
    speed = []
    for r in ranks:
        x = brentq(lambda x, r=r: n * expit(-4 * x) - (r - 0.5), -5, 5)
        speed.append(-numerical(loss.value, float(r)) * numerical(lambda x: n * expit(-4 * x), x))
    force = rank_table(loss, n, 1)[1][ranks - 1]
    assert force / force[0] == pytest.approx(np.array(speed) / speed[0], rel=1e-4)


def test_the_listwise_slope_of_ndcg_is_the_printed_one() -> None:
    """Steck 2015, Eq. 17: N rho (1 - rho) ln 2 / ((r + 1) ln^2 (r + 1)), which falls down the list."""
    n, force = 1000, rank_table(NDCG, 1000, 1)[1]

    def printed(r: int) -> float:
        rho = 1 - (r - 0.5) / n
        return n * rho * (1 - rho) * math.log(2) / ((r + 1) * math.log(r + 1) ** 2)

    assert force == pytest.approx([printed(r) / printed(2) * force[1] for r in range(1, n + 1)], rel=1e-5)
    assert (np.diff(force[1:]) < 0).all()
    assert force.max() == 1


def test_ranks_better_than_the_level_have_no_larger_slope() -> None:
    free, level = rank_table(NDCG, 1000, 1)[1], rank_table(NDCG, 1000, 25)[1]
    assert (level[:24] == 1).all()
    assert level[24:] == pytest.approx(free[24:] / free[24], rel=1e-5)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("loss", [AUC, NDCG])
def test_slopes_at_scores_are_those_of_the_losses_beside_them(loss: RankLoss, name: str) -> None:
    n, x = 1000, np.linspace(-8, 8, 8193)
    value, force = score_table(loss, ACTIVATIONS[name], n, 1)
    inside = (n * (1 - ACTIVATIONS[name].value(x)) > 1.1) & (np.abs(np.abs(x) - 1) > 0.01)  # the rank ends at 1
    assert force[inside] == pytest.approx(-np.gradient(value.astype(float), x)[inside], abs=5e-3)


def test_the_loss_of_a_score_is_the_share_of_a_normal_distribution_above_it() -> None:
    value, force = score_table(AUC, ACTIVATIONS["probit"], 1000, 25)
    scores = np.linspace(-8, 8, 8193) * math.sqrt(2 * math.pi)
    assert value == pytest.approx([1 - NormalDist().cdf(s) for s in scores], abs=1e-5)
    assert force.max() == pytest.approx(1)


def test_short_lists_have_finite_tables() -> None:
    for few in (1, 2, 3, 10):
        assert np.isfinite(rank_table(NDCG, few, 25)).all()


@pytest.mark.parametrize(
    ("value", "slope", "message"),
    [
        (lambda r: 1 / (r - 1), np.ones_like, "finite number for each of an array of ranks"),
        (lambda r: 1.0, np.ones_like, "finite number for each of an array of ranks"),
        (lambda r: -r, lambda r: -np.ones_like(r), "must rise with the rank"),
    ],
)
def test_functions_that_are_no_loss(value: Any, slope: Any, message: str) -> None:
    with np.errstate(divide="ignore"), pytest.raises(ParameterError, match=message):
        rank_table(RankLoss(value, slope), 50, 25)


@pytest.mark.parametrize(
    "run",
    [
        lambda score, err: KERNELS._squared.py_func(np.abs(ITEM), 3, score, err),
        lambda score, err: KERNELS._softmax.py_func(ITEM, 3, score, 20, err),
        lambda score, err: KERNELS._pairs.py_func(ITEM, 3, score, err),
        lambda score, err: KERNELS._prior.py_func(ITEM, 3, score, 0.7, err),
    ],
    ids=["squared", "softmax", "pairs", "prior"],
)
def test_slopes_of_losses_over_scores(run: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        score, err, scrap = rng.normal(0, 2, len(ITEM)), np.zeros(len(ITEM)), np.zeros(len(ITEM))
        run(score, err)
        for t in range(len(ITEM)):
            step = 1e-5 * (np.arange(len(ITEM)) == t)
            expected = -(run(score + step, scrap) - run(score - step, scrap)) / 2e-5
            assert err[t] == pytest.approx(expected, abs=1e-5)


def test_softmax_of_a_positive_far_below_is_a_number() -> None:
    """exp(-200) is 0 in 32 bits: the loss is the distance and the log of what stands for all negatives."""
    item, err = np.array([4, 5], dtype=np.int32), np.zeros(2, dtype=np.float32)
    loss = KERNELS._softmax(item, 1, np.array([-100, 100], dtype=np.float32), 20, err)
    assert loss == pytest.approx(200 + np.log(19), rel=1e-6)
    assert err == pytest.approx([1, -1])


def test_positives_by_their_score() -> None:
    table = score_table(AUC, ACTIVATIONS["probit"], 1000, 25)
    score, err = np.linspace(-5, 5, 101, dtype=np.float32), np.empty(101, dtype=np.float32)
    for width in (1, 3):
        total = kernels._by_score(101, score, np.float32(width), table, err)  # type: ignore[arg-type]
        assert err == pytest.approx(ACTIVATIONS["probit"].slope(score / width), abs=1e-5)
        assert total == pytest.approx(float(np.sum(width * (1 - ACTIVATIONS["probit"].value(score / width)))), rel=1e-5)
    table = score_table(AUC, ACTIVATIONS["rankSE"], 1000, 25)
    kernels._by_score(101, score * 4, np.float32(1), table, err)  # type: ignore[arg-type]
    assert err == pytest.approx(np.maximum(1 - 4 * score, 0), rel=1e-5)  # also beyond the table


def test_positives_by_their_rank() -> None:
    rng = np.random.default_rng(1)
    n, m, n_items = 6, 40, 500
    item = np.concatenate([np.arange(n + m), [-1, -1]]).astype(np.int32)
    table = rank_table(NDCG, n_items, 25)
    score = rng.normal(0, 0.4, n + m + 2).astype(np.float32)
    score[:n] += 1
    keys, order = np.empty((2, 60), dtype=np.uint32), np.empty((2, 60), dtype=np.int32)
    kernels._falling(score, item, keys, order)
    assert (order[0, : n + m] == np.argsort(-score[: n + m], kind="stable")).all()
    err = np.zeros(n + m + 2, dtype=np.float32)
    kernels._by_rank(item, n, score, np.float32(1.5), table, err, order[0])  # type: ignore[arg-type]
    negative = score[n : n + m].astype(float)
    spread = np.sqrt(2 * np.pi) * negative.std()
    for t in range(n):
        above = (score[:n] > score[t]).sum() + (negative > score[t]).sum() * (n_items - n) / m
        rho, x = 1 - (above + 0.5) / n_items, (score[t] - negative.mean()) / (1.5 * spread)
        bend = min(1, float(ACTIVATIONS["logistic"].slope(x)) / (4 * rho * (1 - rho)))
        slope = np.interp(above, np.arange(n_items), table[1])
        assert err[t] == pytest.approx(bend * slope / spread, rel=1e-4)
