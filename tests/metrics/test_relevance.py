"""Relevance measures: by hand, against definitions with every tie order enumerated, and by invariance."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import comb, fsum, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.result import evaluate
from fullrank.metrics import (
    RANKED,
    Metric,
    adg,
    ap,
    atop,
    auc,
    graded_ndcg,
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
from fullrank.ranks import Ranks
from fullrank.testing import brute

approx = pytest.approx

CUTS: dict[str, list] = {"length": [None, 1, 2, 3, 9], "half-life": [None, 1, 2, 5], "": [None]}
CUTS["share or length"] = [*CUTS["length"], 0.0, 0.1, 0.25, 0.5, 1.0]


def ranked(scores: list[float], relevant: list[bool], grades: list[float] | None = None) -> Ranks:
    """Ranks of one case from scores, by counting; the order among relevant items left to Ranks."""
    hits = [score for score, hit in zip(scores, relevant, strict=True) if hit]
    rest = [score for score, hit in zip(scores, relevant, strict=True) if not hit]
    above = [sum(other > score for other in rest) for score in hits]
    tied = [sum(other == score for other in rest) for score in hits]
    grade = None if grades is None else [grade for grade, hit in zip(grades, relevant, strict=True) if hit]
    before = None if grades is None else [sum(other > score for other in hits) for score in hits]
    return Ranks(start=[0, len(hits)], above=above, tied=tied, pool=[len(rest)], relevant_above=before, grade=grade)


cases = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6).filter(
    lambda rows: any(hit for _, hit in rows)
)


def test_by_hand() -> None:
    # one case, two held-out items among 8 others:   - R - - R - - - - -
    ranks = Ranks(start=[0, 2], above=[1, 3], tied=[0, 0], pool=[8])
    found = [metric(ranks)[0] for metric in (recall @ 2, rr, ap, auc, precision @ 5, hit_rate @ 1, mean_rank)]
    assert found == approx([1 / 2, 1 / 2, (1 / 2 + 2 / 5) / 2, (7 / 8 + 5 / 8) / 2, 2 / 5, 0, 3.5])
    ideal = 1 + 1 / log2(3)
    assert ndcg(ranks)[0] == approx((1 / log2(3) + 1 / log2(6)) / ideal)
    assert adg(ranks)[0] == approx((1 / log2(3) + 1 / log2(6)) / 2)
    assert atop(ranks)[0] == approx((8 / 9 + 5 / 9) / 2)
    assert (topk @ 0.12)(ranks)[0] == approx(1 / 2)
    assert (topk @ 2)(ranks)[0] == approx(1 / 2)


@given(case=cases)
@settings(max_examples=300)
def test_against_definitions_with_every_tie_order(case: list[tuple[int, bool]]) -> None:
    scores, relevant = [float(score) for score, _ in case], [hit for _, hit in case]
    ranks = ranked(scores, relevant)
    for name, measure in brute.MEASURES.items():
        for k in CUTS[RANKED[name].cut]:
            metric = RANKED[name] if k is None else RANKED[name] @ k
            expected = brute.expectation(measure, scores, relevant, k)
            assert metric(ranks)[0] == approx(expected, abs=1e-12), str(metric)


@given(many=st.lists(cases, min_size=1, max_size=8))
def test_cases_together_are_as_alone(many: list) -> None:
    alone = [ranked([float(s) for s, _ in case], [hit for _, hit in case]) for case in many]
    together = Ranks.concat(alone)
    for name in brute.MEASURES:
        for k in CUTS[RANKED[name].cut]:
            metric = RANKED[name] if k is None else RANKED[name] @ k
            assert metric(together).tolist() == [metric(ranks)[0] for ranks in alone], str(metric)


@given(
    case=st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 4)), min_size=1, max_size=6).filter(
        lambda rows: any(hit for _, hit, _ in rows)
    ),
    k=st.sampled_from([None, 1, 2, 4]),
)
def test_graded_ndcg_by_definition(case: list, k: int | None) -> None:
    scores, relevant = [float(score) for score, _, _ in case], [hit for _, hit, _ in case]
    gains = [2.0**grade - 1 if hit else 0.0 for _, hit, grade in case]

    def dcg(listed: list[float]) -> float:
        return sum(gain / log2(place + 1) for place, gain in enumerate(listed[:k], 1))

    every = [dcg(listed) for listed in brute.orders(scores, gains)]  # type: ignore[arg-type]
    ideal = dcg(sorted(gains, reverse=True))
    expected = sum(every) / len(every) / ideal if ideal else 0.0
    metric = graded_ndcg if k is None else graded_ndcg @ k
    assert metric(ranked(scores, relevant, [float(g) for _, _, g in case]))[0] == approx(expected, abs=1e-12)


class TestPeersMistakes:
    def test_a_constant_scorer_is_random(self) -> None:
        """AUC .5 and the random expectation of everything, whatever the items (PEERS: Cornac gives 0)."""
        ranks = Ranks(start=[0, 2], above=[0, 0], tied=[98, 98], pool=[98])
        assert auc(ranks)[0] == 0.5
        assert atop(ranks)[0] == approx(0.5)
        assert (recall @ 10)(ranks)[0] == approx(0.1)
        assert (precision @ 10)(ranks)[0] == approx(0.02)
        assert (hit_rate @ 10)(ranks)[0] == approx(1 - (90 * 89) / (100 * 99))
        assert rr(ranks)[0] == approx(sum((2 / 100) * ((100 - j) / 99) / j for j in range(1, 100)))

    def test_a_perfect_ranking_scores_one(self) -> None:
        for held_out in (1, 3, 20):
            ranks = Ranks(start=[0, held_out], above=[0] * held_out, tied=[0] * held_out, pool=[50])
            for metric in (ndcg @ 10, ndcg, ap, ap @ 10, rr, auc, hit_rate @ 1, RANKED["capped_recall"] @ 10, r_score):
                assert metric(ranks)[0] == approx(1.0), (str(metric), held_out)

    def test_k_beyond_the_list_counts_no_padding(self) -> None:
        ranks = Ranks(start=[0, 1], above=[1], tied=[0], pool=[2])
        assert (precision @ 10)(ranks)[0] == approx(0.1)
        assert (recall @ 10)(ranks)[0] == (hit_rate @ 10)(ranks)[0] == 1.0
        assert (ndcg @ 10)(ranks)[0] == ndcg(ranks)[0]

    def test_spark_s_published_numbers(self) -> None:
        """RankingMetricsSuite: two users with truth, and one without, who counts as 0 there."""
        users = [([1, 6, 2, 7, 8, 3, 9, 10, 4, 5], {1, 2, 3, 4, 5}), ([4, 1, 5, 6, 2, 7, 3, 8, 9, 10], {1, 2, 3})]
        ranks = Ranks.concat(
            [ranked([-float(p) for p in range(10)], [item in truth for item in listed]) for listed, truth in users]
        )

        def mean(metric: Metric) -> float:
            return float(metric(ranks).sum() / 3)

        assert mean(ap) == approx(0.355026, abs=1e-6)
        assert mean(precision @ 4) == approx(0.25)
        assert mean(ndcg @ 3) == approx(1 / 3)
        assert mean(ndcg @ 5) == approx(0.328788, abs=1e-6)
        assert mean(ndcg @ 10) == approx(0.487913, abs=1e-6)
        assert mean(recall @ 5) == approx(16 / 45)

    def test_gorse_and_cornac_s_published_numbers(self) -> None:
        scores = [-float(place) for place in range(10)]
        assert ndcg(ranked(scores, [i in {1, 3, 5, 7} for i in range(10)]))[0] == approx(0.6766372989)
        assert ap(ranked(scores, [i in {1, 3, 7, 9} for i in range(10)]))[0] == approx(0.44375)
        assert auc(ranked([0.1, 0.4, 0.35, 0.8], [False, False, True, True]))[0] == approx(0.75)


def test_auc_and_atop_are_linked_as_s0_says() -> None:
    """AUC = (1 + (N+ - 1)/N-) ATOP - (N+ - 1)/(2 N-): Steck 2010, Eq. 8 with its sign corrected."""
    rng = np.random.default_rng(0)
    scores, relevant = rng.random(50), rng.random(50) < 0.2
    ranks = ranked(scores.tolist(), relevant.tolist())
    plus, minus = int(relevant.sum()), int((~relevant).sum())
    assert auc(ranks)[0] == approx((1 + (plus - 1) / minus) * atop(ranks)[0] - (plus - 1) / (2 * minus))
    assert mean_percentile(ranks)[0] == approx(1 - atop(ranks)[0])


def test_atop_is_the_area_under_topk() -> None:
    ranks = ranked([float(s) for s in range(40)], [n % 7 == 0 for n in range(40)])
    shares = (np.arange(20_000) + 0.5) / 20_000
    curve = np.array([(topk @ float(share))(ranks)[0] for share in shares])
    assert atop(ranks)[0] == approx(curve.mean(), abs=1e-3)
    assert (atop @ 0.25)(ranks)[0] == approx(curve[:5000].mean(), abs=1e-3)


@pytest.mark.parametrize("k", [0, -1, 2.5, "10", True, 0.5])
def test_bad_cut_offs(k: object) -> None:
    with pytest.raises(ParameterError, match=r"The cut-off of recall must be an integer >= 1. Got"):
        recall @ k  # type: ignore[operator]
    with pytest.raises(ParameterError, match="auc has no cut-off"):
        auc @ 3


@pytest.mark.parametrize(
    "k",
    [2**62, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, np.uint64(2**63), np.int64(2**62)],
    ids=["2^62", "2^63-1", "2^63", "2^64", "10^30", "10^400", "uint64", "int64"],
)
@pytest.mark.parametrize("name", [name for name, metric in RANKED.items() if metric.cut])
def test_a_cut_off_beyond_everything_is_the_whole_list(name: str, k: int) -> None:
    """However long: FAULTS E5. Only precision divides by it, and R-score has its half-life there."""
    ranks = Ranks([0, 2, 3], [1, 3, 0], [0, 2, 4], [8, 5], grade=[1, 2, 3])
    measure = RANKED[name] @ k
    assert str(measure) == f"{name}@{int(k)}"
    expected = {
        "precision": (ranks.sizes.astype(float) / float(min(int(k), 10**300))).tolist(),
        "r_score": [1.0, 1.0],  # nothing is lost by any position
        "atop": [1.0, 1.0],  # the area up to a width beside which all positions are on top
        "topk": [1.0, 1.0],
    }.get(name, RANKED[name](ranks).tolist())
    assert measure(ranks).tolist() == approx(expected, rel=1e-12)
    assert evaluate(ranks, [measure]).values[:, 0].tolist() == measure(ranks).tolist()


@pytest.mark.parametrize("k", [np.int8(3), np.uint16(3), np.int64(3)])
def test_integers_of_numpy_are_integers(k: int) -> None:
    assert recall @ k == recall @ 3
    assert topk @ k == topk @ 3


@pytest.mark.parametrize("k", [0, -1, 2.5, True, np.True_, -0.1, 1.1, float("nan"), None])
def test_shares_that_are_none(k: object) -> None:
    with pytest.raises(ParameterError, match=r"must be an integer >= 1 \(a list length\), or a float from 0 to 1"):
        topk @ k  # type: ignore[operator]


def exact_rr(low: int, size: int, relevant: int, last: int) -> Fraction:
    """Expected 1/position of the first of several relevant items in a tie group, 0 below `last`."""
    places = range(1, min(size - relevant + 1, last - low) + 1)
    return sum(
        (Fraction(comb(size - j, relevant - 1), comb(size, relevant) * (low + j)) for j in places), start=Fraction(0)
    )


@pytest.mark.parametrize("cells", [7, 1 << 20])
def test_reciprocal_rank_in_tie_groups_of_any_kind(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """All at once and one by one, in blocks of some terms or all: the same bits, and the exact fractions."""
    kinds = [(low, size, relevant) for low in (0, 3, 400) for size in (2, 40, 300) for relevant in (1, 2, 7, 39)]
    kinds = [(low, size, relevant) for low, size, relevant in kinds if relevant <= size]
    alone = [
        Ranks([0, relevant], [low] * relevant, [size - relevant] * relevant, [size + 500])
        for low, size, relevant in kinds
    ]
    whole = [rr(ranks)[0] for ranks in alone]
    monkeypatch.setattr("fullrank.metrics.positions.CELLS", cells)
    for k in (None, 2, 10, 100):
        metric = rr if k is None else rr @ k
        found = metric(Ranks.concat(alone)).tolist()
        assert found == [metric(ranks)[0] for ranks in alone]
        assert found == approx([float(exact_rr(*kind, k or 10**6)) for kind in kinds], rel=1e-13)
        assert k is not None or found == whole


def test_reciprocal_rank_in_a_huge_tie_group() -> None:
    """300,000 tied after s others: (H(s+m) - H(s))/m of one, 2/(m(m-1)) ((m+s)(H(s+m) - H(s)) - m) of two."""
    for s in (0, 5, 250_000):
        for r in (1, 2, 3000):
            m = 300_000
            harmonic = fsum(1 / place for place in range(s + 1, s + m + 1))
            found = rr(Ranks([0, r], [s] * r, [m - r] * r, [m + s]))[0]
            if r < 3:
                expected = (harmonic / m, 2 / (m * (m - 1)) * ((m + s) * harmonic - m))[r - 1]
                assert found == approx(expected, rel=1e-10)
            else:  # the first of many is nearly exponential: between 1/(mean place) and 1/(s+1)
                assert 1 / (s + (m + 1) / (r + 1)) < found < 1 / (s + 1)


def test_metrics_are_values() -> None:
    assert str(ndcg @ 10) == "ndcg@10"
    assert ndcg @ 10 == ndcg @ 10 != ndcg @ 5
    assert str(topk @ 0.02) == "topk@0.02"
    assert len({ndcg @ 10, ndcg @ 10, ap}) == 2
    unbiased = {"recall", "adg", "atop", "topk", "mean_rank", "mean_percentile"}
    assert {name for name, metric in RANKED.items() if metric.unbiased} == unbiased
    for metric in RANKED.values():
        assert len(metric.doc) > 20


def test_bad_ranks() -> None:
    for change, message in (
        ({"above": [9]}, "more candidates above"),
        ({"start": [0, 0, 1], "pool": [3, 3]}, "a row in every case"),
        ({"tied": [0, 0]}, "expected 1 ties"),
        ({"weight": [1.0, 2.0]}, "weight has shape"),
    ):
        with pytest.raises(DataError, match=message):
            Ranks(**({"start": [0, 1], "above": [1], "tied": [0], "pool": [3]} | change))
    with pytest.raises(DataError, match="needs grades"):
        graded_ndcg(Ranks(start=[0, 1], above=[1], tied=[0], pool=[3]))
    with pytest.raises(DataError, match="negative"):
        graded_ndcg(Ranks(start=[0, 1], above=[1], tied=[0], pool=[3], grade=[-1]))


@pytest.mark.parametrize("items", [10_000, 1_000_000])
def test_far_down_the_list_no_digit_is_lost(items: int) -> None:
    """Two relevant items tied with one other at the end: by fractions, in any catalogue (E14)."""
    s = items - 5
    ranks = Ranks(start=[0, 2], above=[s, s], tied=[1, 1], pool=[items], relevant_above=[0, 0])
    places = [Fraction(s + j) for j in (1, 2, 3)]
    first, second = (sum(1 / place for place in places) / 3, sum((j - 1) / place for j, place in enumerate(places, 1)))
    exact = (2 * first + second / 3) / 2
    assert ap(ranks)[0] == approx(float(exact), rel=0, abs=1e-15)
    gains = [1 / Decimal(s + j + 1).ln() * Decimal(2).ln() for j in (1, 2, 3)]
    assert adg(ranks)[0] == approx(float(sum(gains) / 3), rel=1e-12, abs=0)


def test_grades_of_items_with_nothing_between_them_are_taken_in_every_order() -> None:
    one, other = (
        graded_ndcg(Ranks(start=[0, 2], above=[0, 0], tied=[0, 0], pool=[3], grade=grades))[0]
        for grades in ([3, 1], [1, 3])
    )
    ideal = 7 + 1 / log2(3)
    assert one == other == approx(((7 + 1 / log2(3)) + (1 + 7 / log2(3))) / 2 / ideal)
