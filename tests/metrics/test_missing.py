"""Missing relevant items: the factor of nDCG, and metrics weighted by inverse propensity."""

from __future__ import annotations

from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullrank
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import rank_estimate
from fullrank.evaluation.statistics import mean_and_error
from fullrank.metrics import RANKED, Metric, adg, ap, atop, auc, mean_percentile, mean_rank, ndcg, recall, topk
from fullrank.metrics.metric import metric as as_metric
from fullrank.metrics.missing import ips, ndcg_factor, popularity, snips
from fullrank.ranks import Ranks

approx = pytest.approx

CUTS: list[Metric] = [
    *(recall @ k for k in (1, 2, 4)), recall, topk, topk @ 0.0, topk @ 0.3, topk @ 2, atop, atop @ 0.3, atop @ 3,
    adg, auc, mean_rank, mean_percentile,
]  # fmt: skip


def ranked(case: list[tuple[int, bool]], alone: int | None = None, items: int = 0) -> Ranks:
    """Ranks of a case of (score, relevant) by counting, items numbered on; of one item alone, if so wished."""
    hits = [place for place, (_, hit) in enumerate(case) if hit]
    hits = hits if alone is None else [hits[alone]]
    rest = [score for place, (score, _) in enumerate(case) if place not in hits]
    mine = [case[place][0] for place in hits]
    above, tied = ([count(score) for score in mine] for count in (lambda s: sum(o > s for o in rest), rest.count))
    before = [sum(other > score for other in mine) for score in mine]
    item = [items + place for place in hits]
    return Ranks(
        start=[0, len(hits)], above=above, tied=tied, pool=[len(rest)], relevant_above=before, item=item, user=[0]
    )


a_case = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8).filter(
    lambda rows: any(hit for _, hit in rows)
)
some_cases = st.lists(a_case, min_size=1, max_size=4)
chances = st.lists(st.floats(0.01, 1), min_size=32, max_size=32)


def several(cases: list) -> Ranks:
    ends = np.cumsum([0, *map(len, cases)])
    return Ranks.concat([ranked(case, items=int(end)) for case, end in zip(cases, ends, strict=False)])


# ------------------------------------------------------------------------------------------- the factor


def test_factor_by_hand() -> None:
    two, three = 1 + 1 / log2(3), 1 + 1 / log2(3) + 1 / 2
    assert ndcg_factor(1, 3) == approx(three / 3)
    assert ndcg_factor([2, 3], 3) == approx(np.array([2 * three / (3 * two), 1]))
    assert ndcg_factor([[1], [2]], [2, 3]).shape == (2, 2)
    assert ndcg_factor(1, 3, k=1) == approx(1 / 3)  # nDCG@1 hits as often as the share observed
    assert ndcg_factor(2, 3, k=2) == approx(2 / 3)
    assert ndcg_factor(2, 3, k=10) == ndcg_factor(2, 3)


def test_the_factor_is_exact_over_all_samples() -> None:
    """Of a ranking with ties: the mean nDCG over all subsets of a size is the factor times the complete one."""
    case = [(score, place % 2 == 0) for place, score in enumerate([5, 4, 4, 4, 3, 2, 2, 1, 1, 0, 0, 0])]
    hits = [place for place, (_, hit) in enumerate(case) if hit]
    for k in (None, 1, 3, 5):
        metric = ndcg if k is None else ndcg @ k
        for size in range(1, len(hits) + 1):
            found = [
                metric(ranked([(score, place in kept) for place, (score, _) in enumerate(case)]))[0]
                for kept in combinations(hits, size)
            ]
            assert np.mean(found) == approx(ndcg_factor(size, len(hits), k) * metric(ranked(case))[0], abs=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 3), r"The 'observed' parameter must be integers >= 1. Got 0 instead."),
        (([1, 4], [3, 3]), r"'observed' parameter must be at most as many as are relevant. Got \[1, 4\]"),
        ((1.5, 3), "'observed' parameter must be integers"),
        ((1, 2.0), "'relevant' parameter must be integers"),
        ((1, 2, 0), "'k' parameter must be an integer >= 1"),
    ],
)
def test_factors_that_are_none(given: tuple, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ndcg_factor(*given)


# ------------------------------------------------------------------------------------- weighted metrics


def test_by_hand() -> None:
    # - R - - R - - - - -   the second is seen four times less often than the first
    ranks = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8], item=[3, 1], user=[2])
    chance = [1, 0.2, 1, 0.8]  # of the items 0 .. 3
    first, second = 1 / 0.8, 1 / 0.2
    for metric, one, two in (
        (recall @ 2, 1, 0),
        (adg, 1 / log2(3), 1 / log2(6)),
        (atop, 8 / 9, 5 / 9),
        (auc, 7 / 8, 5 / 8),
        (mean_rank, 2, 5),
    ):
        weighted = first * one + second * two
        assert snips(metric, chance)(ranks) == approx(weighted / (first + second))
        assert ips(metric, chance)(ranks) == approx(weighted / (first + second))  # of one case they are the same
        assert ips(metric, chance, [0, 0, 20])(ranks) == approx(weighted / 20)


def test_a_propensity_that_is_estimated_from_popularity() -> None:
    train = Interactions.of(user=[1, 2, 3, 4, 1], item=[7, 7, 7, 7, 5]).catalogue(items=[6])
    assert popularity(train, 1).tolist() == approx([2 / 5, 1 / 5, 1])  # items 5, 6, 7
    assert popularity(train).tolist() == approx(np.sqrt([2 / 5, 1 / 5, 1]).tolist())
    assert popularity(train, 0).tolist() == [1, 1, 1]
    nobody = train.where(np.zeros(5, dtype=bool))
    assert popularity(nobody).tolist() == [1, 1, 1]
    for power in (-1, 5, np.nan, True, "1"):
        with pytest.raises(ParameterError, match="'power' parameter must be a number from 0 to 4"):
            popularity(train, power)  # type: ignore[arg-type]


@given(cases=some_cases, chance=st.floats(1e-6, 1e6))
def test_equal_propensities_change_nothing(cases: list, chance: float) -> None:
    ranks = several(cases)
    for metric in CUTS:
        for weigh in (snips, ips):
            assert weigh(metric, [chance] * 32)(ranks) == approx(metric(ranks), rel=1e-12, abs=1e-12), str(metric)


@given(case=a_case, chance=chances)
def test_items_are_weighted_as_they_stand_alone(case: list, chance: list[float]) -> None:
    """w_i is the metric where item i is the only relevant one and the others are candidates (not so for AUC)."""
    ranks = ranked(case)
    weight = 1 / np.array(chance)[ranks.item]
    for metric in set(CUTS) - {auc}:
        each = np.array([metric(ranked(case, alone=row))[0] for row in range(len(weight))])
        assert snips(metric, chance)(ranks)[0] == approx((weight * each).sum() / weight.sum(), abs=1e-12), str(metric)
    others = [(score, hit) for score, hit in case if not hit]
    mine = [(score, hit) for score, hit in case if hit]
    each = np.array([auc(ranked([*others, one]))[0] for one in mine])
    assert snips(auc, chance)(ranks)[0] == approx((weight * each).sum() / weight.sum(), abs=1e-12)


@given(cases=some_cases, chance=chances, scale=st.sampled_from([1e-9, 0.5, 1e9]))
def test_the_scale_of_propensities_does_not_matter(cases: list, chance: list[float], scale: float) -> None:
    ranks = several(cases)
    for metric in CUTS:
        for weigh in (snips, ips):
            scaled = weigh(metric, scale * np.array(chance))(ranks)
            assert weigh(metric, chance)(ranks) == approx(scaled, rel=1e-9, abs=1e-12), str(metric)


@given(cases=some_cases, chance=chances)
def test_over_cases(cases: list, chance: list[float]) -> None:
    """Cases do not matter to each other in snips; ips by relevant items is snips over all pairs."""
    ranks = several(cases)
    ends = np.cumsum([0, *map(len, cases)])
    weight = 1 / np.array(chance)[ranks.item]
    for metric in CUTS:
        own = [snips(metric, chance)(ranked(case, items=int(at)))[0] for case, at in zip(cases, ends, strict=False)]
        assert snips(metric, chance)(ranks).tolist() == approx(own, abs=1e-12)
        mean = fullrank.evaluate(ranks, [ips(metric, chance)], "by_relevant").mean()[f"{metric}, ips"]
        share = ranks.per_case(weight) / weight.sum()
        assert mean == approx(float(share @ own), rel=1e-9, abs=1e-12)


def test_they_are_metrics() -> None:
    assert str(snips(recall @ 10, [1.0])) == "recall@10, snips"
    assert str(ips(atop, [1.0])) == "atop, ips"
    assert snips(atop, [0.5, 1]) == snips(atop, np.array([0.5, 1])) != snips(atop, [1, 0.5])
    assert ips(atop, [0.5, 1]) != ips(atop, [0.5, 1], [3])
    assert len({ips(atop, [1]), ips(atop, [1.0]), snips(atop, [1])}) == 2
    worst_first = snips(mean_rank, [1])
    assert (worst_first.best, worst_first.worst) == (1.0, np.inf)
    assert not snips(recall, [1]).unbiased  # unbiased by its propensities, if at all
    assert "sum_i w_i / p_i" in snips(recall, [1]).doc
    given = np.array([0.5, 1.0])
    metric = snips(recall @ 1, given)
    given[:] = 1
    assert metric == snips(recall @ 1, [0.5, 1])


def test_refusals() -> None:
    ranks = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8], item=[0, 2], user=[1])
    for metric in RANKED.values():
        if not (metric.unbiased or metric.name == "auc"):
            with pytest.raises(ParameterError, match=f"{metric} is not a mean over .*; use recall, topk, atop, adg"):
                ips(metric, [1, 1, 1])
    with pytest.raises(ParameterError, match="recall@3, snips is not a mean"):
        ips(snips(recall @ 3, [1, 1, 1]), [1, 1, 1])
    for bad in (0, -1, np.nan, np.inf, 1e-200):
        with pytest.raises(ParameterError, match=f"The 'propensity' of item 1 must be positive and finite. Got {bad}"):
            snips(recall, [1, bad, 1])
    for shape in (1.0, [[1.0]], ["a"], [True]):
        with pytest.raises(ParameterError, match="'propensity' parameter must be one number per item"):
            snips(recall, shape)
    with pytest.raises(ParameterError, match=r"The 'relevant' of user 0 must be >= 0 and finite. Got -1.0 instead"):
        ips(recall, [1, 1, 1], [-1, 2])
    with pytest.raises(DataError, match="'propensity' has 2 numbers, but there is item 2; give one per item"):
        snips(recall, [1, 1])(ranks)
    with pytest.raises(DataError, match="'relevant' has 1 numbers, but there is user 1; give one per user"):
        ips(recall, [1, 1, 1], [5])(ranks)
    with pytest.raises(DataError, match="user 1 has more held-out items than 'relevant' says; count unobserved"):
        ips(recall, [1, 1, 1], [5, 1])(ranks)
    nameless = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8])
    with pytest.raises(DataError, match=r"'propensity' is by item, which these ranks do not say; use those of rank"):
        snips(recall, [1])(nameless)
    with pytest.raises(DataError, match=r"'relevant' is by user, .* or give user="):
        ips(recall, [1, 1, 1], [5])(Ranks(start=[0, 1], above=[1], tied=[0], pool=[8], item=[0]))


def test_a_flag_that_lies_is_found_out() -> None:
    ranks = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8], item=[0, 2], full=[80])
    lying = as_metric("my_ap", unbiased=True)(ap.function)
    with pytest.raises(ParameterError, match="my_ap is not a mean over relevant items"):
        snips(lying, [1, 1, 1])(ranks)
    with pytest.raises(ParameterError, match="is not a mean over relevant items"):
        snips(corrected(adg, rank_estimate()), [1, 1, 1])(ranks)


# ---------------------------------------------------------------------------------- against known truth


def test_with_true_propensities_the_complete_value_is_found() -> None:
    """Relevant items are seen by chance, the well known ones more often: each pair on its own, p = weight."""
    users, metrics = 40, (recall @ 10, topk @ 0.05, atop, adg, mean_rank)
    differences: dict[tuple[str, str], list[float]] = {}
    for seed in range(150):
        world = fullrank.simulate.implicit(users, 80, density=0.15, violation=0.6, seed=seed)
        scores = np.round(2 * world.tastes.users @ world.tastes.items.T)  # the taste without its noise; with ties
        truth, chance = world.complete, world.weight
        seen = truth.where(np.random.default_rng([seed, 1]).random(len(truth)) < chance[truth.item])
        nothing = truth.where(np.zeros(len(truth), dtype=bool))
        some, whole = (fullrank.rank(scores, Split(nothing, held), exclude=None) for held in (seen, truth))
        relevant = np.bincount(truth.user, minlength=users)
        for metric in metrics:
            complete, pairs = metric(whole), fullrank.evaluate(some, [ips(metric, chance)], "by_relevant").mean()
            for how, difference in {
                "plain": (metric(some) - complete[some.user]).mean(),
                "snips": (snips(metric, chance)(some) - complete[some.user]).mean(),
                "ips": (ips(metric, chance, relevant)(some).sum() - complete.sum()) / users,  # nothing seen: 0
                "ips, pairs": pairs[f"{metric}, ips"] - complete @ whole.sizes / whole.sizes.sum(),
            }.items():
                differences.setdefault((str(metric), how), []).append(float(difference))
    bias = {key: mean_and_error(found) for key, found in differences.items()}
    for metric in map(str, metrics):
        plain, error = bias[metric, "plain"]
        assert abs(plain) > 20 * error, metric
        for how in ("ips", "ips, pairs"):
            assert abs(bias[metric, how][0]) < 3 * bias[metric, how][1] < abs(plain) / 2, (metric, how)
        assert abs(bias[metric, "snips"][0]) < abs(plain) / 2, metric  # self-normalised: less of it, not none
