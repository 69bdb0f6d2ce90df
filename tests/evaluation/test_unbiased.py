"""Unbiased to missing data, or not: measures of the observed part against those of the complete truth.

Every user u of a simulated world has relevant items P_u, of which O_u is observed, at least one. All items are
candidates, relevant ones too, observed or not, so an item's position does not depend on what was observed. If
O_u is a simple random sample of P_u, given its size, a mean over relevant items of a function of their own
positions has the value on P_u as its expectation, user by user: hence the mean over users, uniform or with any
weights that do not depend on which items were observed. Users with nothing observed carry no weight on either
side. Worlds are independent draws, each with its scorer; the mean difference is judged by its standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import pytest

import fullrank
from fullrank.arrays import Doubles
from fullrank.data import simulate
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.evaluation.statistics import mean_and_error
from fullrank.metrics import (
    RANKED,
    adg,
    ap,
    atop,
    auc,
    capped_recall,
    hit_rate,
    mean_percentile,
    mean_rank,
    ndcg,
    precision,
    r_score,
    recall,
    rr,
    topk,
)
from fullrank.metrics.missing import ndcg_factor
from fullrank.ranks import Ranks

UNBIASED = [
    topk @ 0.0, topk @ 0.02, topk @ 0.1, topk @ 5, atop, atop @ 0.2, adg, recall @ 1, recall @ 10, mean_rank,
    mean_percentile,
]  # fmt: skip
BIASED = [ndcg, ndcg @ 10, ap, ap @ 10, rr, hit_rate @ 10, capped_recall @ 10, precision @ 10, r_score]

WORLDS, VIOLATED, USERS, ITEMS = 160, 40, 40, 120


@dataclass(frozen=True)
class Draw:
    """One world by one scorer: the observed and all relevant items of the same users, among the same candidates."""

    observed: Ranks
    complete: Ranks


Estimate: TypeAlias = Callable[[Draw], Doubles]  # a difference per user


def ranked(scores: np.ndarray, held_out: Interactions, train: Interactions | None = None) -> Ranks:
    if train is None:
        return fullrank.rank(scores, Split(held_out.where(np.zeros(len(held_out), dtype=bool)), held_out), exclude=None)
    return fullrank.rank(scores, Split(train, held_out), exclude="train")


def scorer(world: simulate.ImplicitWorld | simulate.RatingsWorld) -> np.ndarray:
    """What everybody's liking is but for noise, in coarse steps: neither perfect nor random, with many ties."""
    return np.round(2 * world.tastes.users @ world.tastes.items.T)


def of_users(data: Interactions, users: np.ndarray) -> Interactions:
    return data.where(np.isin(data.user, users))


def one(seed: int, violation: float) -> Draw:
    """Lim et al.'s (2015) model: of every user's relevant items about 4 in 10 are observed, at least one."""
    world = simulate.implicit(USERS, ITEMS, density=0.1, observed=0.4, violation=violation, seed=seed)
    return Draw(ranked(scorer(world), world.data), ranked(scorer(world), world.complete))


def one_of_ratings(seed: int, violation: float) -> Draw:
    """As in Steck 2010: low ratings are missing more often than relevant ones; some users have no relevant one."""
    world = simulate.ratings(USERS, ITEMS, density=0.08, violation=violation, relevant=4, seed=seed)
    observed = world.data.relevant(4)
    user, item = np.nonzero(world.relevant())
    complete = Interactions.of(user, item, users=observed.users, items=observed.items)
    return Draw(ranked(scorer(world), observed), ranked(scorer(world), of_users(complete, observed.user)))


def one_held_out(seed: int, violation: float) -> Draw:
    """As in practice: half of what is observed is trained on and excluded, here and there; the rest is held out."""
    world = simulate.implicit(USERS, ITEMS, density=0.1, observed=0.4, violation=violation, seed=seed)
    split = fullrank.holdout(world.data, 0.5, minimum=2, seed=seed)
    pairs = [data.user.astype(np.int64) * ITEMS + data.item for data in (world.complete, split.train)]
    rest = of_users(world.complete.where(~np.isin(*pairs)), split.held_out.user)
    return Draw(*(ranked(scorer(world), held, split.train) for held in (split.held_out, rest)))


MODELS: dict[str, Callable[[int, float], Draw]] = {
    "implicit": one,
    "ratings": one_of_ratings,
    "held out": one_held_out,
}


@cache
def draws(model: str, violation: float) -> tuple[Draw, ...]:
    first = 1000 * list(MODELS).index(model)  # own luck for each
    return tuple(MODELS[model](first + n, violation) for n in range(VIOLATED if violation else WORLDS))


def z(estimate: Estimate, model: str, violation: float = 0.0) -> float:
    """The mean difference over draws, in standard errors."""
    mean, error = mean_and_error([float(estimate(draw).mean()) for draw in draws(model, violation)])
    return mean / error


def difference(metric: fullrank.metrics.Metric) -> Estimate:
    return lambda draw: metric(draw.observed) - metric(draw.complete)


@pytest.mark.parametrize("model", MODELS)
class TestMissingAtRandom:
    """Relevant items are missing at random within a user."""

    def test_the_setting(self, model: str) -> None:
        """Some are missing, rankings are neither perfect nor random, there are ties, sides differ in nothing else."""
        for draw in draws(model, 0.0)[:20]:
            some, whole = draw.observed, draw.complete
            assert (some.user == whole.user).all()
            assert (some.candidates == whole.candidates).all()
            assert (some.sizes <= whole.sizes).all()
            assert (some.sizes < whole.sizes).mean() > 0.5
            assert 0.6 < atop(whole).mean() < 0.95
            assert (some.tied > 0).mean() > 0.3

    @pytest.mark.parametrize("metric", UNBIASED, ids=str)
    def test_unbiased(self, model: str, metric: fullrank.metrics.Metric) -> None:
        assert metric.unbiased
        assert abs(z(difference(metric), model)) < 3

    @pytest.mark.parametrize("metric", BIASED, ids=str)
    def test_biased(self, model: str, metric: fullrank.metrics.Metric) -> None:
        assert not metric.unbiased
        assert abs(z(difference(metric), model)) > 5

    @pytest.mark.parametrize("k", [None, 10])
    def test_ndcg_is_off_by_its_factor(self, model: str, k: int | None) -> None:
        metric = ndcg if k is None else ndcg @ k

        def repaired(draw: Draw) -> Doubles:
            factor = ndcg_factor(draw.observed.sizes, draw.complete.sizes, k)
            return metric(draw.observed) / factor - metric(draw.complete)

        assert abs(z(repaired, model)) < 3

    def test_precision_is_off_by_the_share_observed(self, model: str) -> None:
        def repaired(draw: Draw) -> Doubles:
            share = draw.observed.sizes / draw.complete.sizes
            return (precision @ 10)(draw.observed) / share - (precision @ 10)(draw.complete)

        assert abs(z(repaired, model)) < 3

    def test_auc_is_off_by_the_unobserved_among_the_irrelevant(self, model: str) -> None:
        """AUC compares with irrelevant items, and takes unobserved relevant ones for such. Exact for N candidates is

            AUC - 1/2 = (N-1)/(N-|O|) (ATOP - 1/2),   so |AUC - ATOP| <= (|O|-1) / (2 (N-|O|)) = O(N+/N-)
            E[AUC_obs] - 1/2 = (N-|P|)/(N-|O|) (AUC_complete - 1/2)

        as ATOP is unbiased: AUC is too low by (|P|-|O|)/(N-|O|) of its distance from 1/2.
        """

        def repaired(draw: Draw) -> Doubles:
            irrelevant = draw.complete.pool / draw.observed.pool
            return auc(draw.observed) - 0.5 - irrelevant * (auc(draw.complete) - 0.5)

        for draw in draws(model, 0.0)[:20]:
            for ranks in (draw.observed, draw.complete):
                exact = (ranks.candidates - 1) / ranks.pool * (atop(ranks) - 0.5)
                assert auc(ranks) - 0.5 == pytest.approx(exact, abs=1e-12)
                assert (np.abs(auc(ranks) - atop(ranks)) <= (ranks.sizes - 1) / (2 * ranks.pool) + 1e-12).all()
        assert z(difference(auc), model) < -5
        assert abs(z(repaired, model)) < 3

    def test_any_weights_that_do_not_see_which_were_observed(self, model: str) -> None:
        """By the number observed, as in Steck 2010: unbiased for the complete values under the same weights."""

        def by_observed(draw: Draw) -> Doubles:
            weight = draw.observed.sizes / draw.observed.sizes.mean()
            return weight * (atop(draw.observed) - atop(draw.complete))

        assert abs(z(by_observed, model)) < 3


@pytest.mark.parametrize("metric", [recall @ 10, atop, adg, topk @ 0.02], ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_a_choice_among_the_relevant_ones_is_seen(model: str, metric: fullrank.metrics.Metric) -> None:
    """Violated: well known relevant items, which score high, are observed more often. No flag helps then."""
    assert z(difference(metric), model, violation=1.0) > 5


def test_all_metrics_were_judged() -> None:
    judged = {metric.name for metric in [*UNBIASED, *BIASED, auc]}
    assert judged == set(RANKED) - {"graded_ndcg"}  # which has no grades here
