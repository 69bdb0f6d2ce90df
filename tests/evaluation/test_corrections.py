"""Corrected metrics of cases: ties, several relevant items, enumerated samples.

Tables and equations are those of Krichene and Rendle 2020.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.analysis import expected_values
from fullrank.evaluation.corrections import Correction, corrected, lookup, tables
from fullrank.evaluation.methods import bias_variance, constrained, least_squares, rank_estimate
from fullrank.evaluation.sampling import channel, expected, values
from fullrank.metrics import RANKED, ap, auc, graded_ndcg, mean_rank, ndcg, recall, rr, topk
from fullrank.metrics.metric import Metric, metric
from fullrank.ranks import About, Ranks
from tests.evaluation.correction_cases import approx, sampled_ranks

ROWS = [metric for name, metric in RANKED.items() if name != "graded_ndcg"]
CUT = [metric @ 3 for metric in ROWS if metric.cut == "length"]


@pytest.mark.parametrize("method", [bias_variance(0.1), bias_variance(0.001), constrained(), rank_estimate()], ids=str)
def test_every_case_gets_its_own_n_and_ties_their_mean(method: object) -> None:
    """Hundreds of sizes from a few tables: to 1e-6, monotone ones to 1e-3."""
    ranks = sampled_ranks(60)
    found = corrected(ap, method)(ranks)
    for case in range(0, 60, 4):
        n, m = int(ranks.full[case]) + 1, 50
        if method == rank_estimate():
            table = values(ap, n)[(n - 1) * np.arange(m + 1) // m]
        else:
            table = tables(ap, method, n, m, False)[0]
        mean = table[ranks.above[case] : ranks.above[case] + ranks.tied[case] + 1].mean()
        close = 1e-3 if method == constrained() else 1e-6
        assert found[case] == approx(mean, abs=close * np.abs(table).max())


def test_few_tables_serve_many_sizes() -> None:
    tables.cache_clear()
    full = np.arange(900, 2500)
    for method in (bias_variance(0.1), constrained()):
        lookup(recall @ 10, method, 50, full, deepest=0, replace=False)
    assert 0 < tables.cache_info().misses < 100


def test_sizes_close_together_are_all_served() -> None:
    full = np.arange(1000, 1030)
    look = lookup(ap, bias_variance(0.1), 20, full, deepest=0, replace=False)
    for size in (1000, 1013, 1029):
        found = look(np.full(21, size), np.zeros(21, dtype=int), np.arange(21))
        assert found == approx(tables(ap, bias_variance(0.1), size + 1, 20, False)[0], abs=1e-6)


def test_metrics_that_jump_with_n_are_solved_for_every_n() -> None:
    look = lookup(topk @ 0.05, bias_variance(0.1), 5, np.arange(40, 80), deepest=0, replace=False)
    for size in (40, 55, 61, 79):
        found = look(np.full(6, size), np.zeros(6, dtype=int), np.arange(6))
        assert found == approx(tables(topk @ 0.05, bias_variance(0.1), size + 1, 5, False)[0], abs=1e-6)


@pytest.mark.parametrize("method", [bias_variance(0.1), constrained(), rank_estimate(), rank_estimate(True)], ids=str)
def test_all_candidates_sampled_gives_the_exact_metric(method: object) -> None:
    ranks = Ranks([0, 1, 2, 4], [3, 0, 2, 9], [0, 2, 0, 0], [7, 7, 12], full=[7, 7, 12], about=About(sampled=20))
    for measure in (recall @ 3, ndcg, ap, rr @ 2, auc):
        assert corrected(measure, method)(ranks) == approx(measure(ranks))
    if method not in (rank_estimate(), rank_estimate(True)):  # by solving, too: A is the identity
        assert tables(ndcg @ 3, method, 12, 11, False)[0] == approx(values(ndcg @ 3, 12), abs=1e-9)


def test_rank_estimate() -> None:
    table = values(corrected(ap, rank_estimate(), full=999), 11)
    assert table == approx(1 / (1 + np.arange(11) * 999 // 10))
    between = values(corrected(mean_rank, rank_estimate(interpolate=True), full=999), 11)
    assert between == approx(1 + np.arange(11) * 99.9)
    ranks = Ranks(np.arange(102), np.arange(101), np.zeros(101), np.full(101, 100), full=np.full(101, 3705))
    recalls, gains = (corrected(measure @ 10, rank_estimate())(ranks) for measure in (recall, ndcg))
    assert (recalls == gains).all()  # in the paper identical too, since all but the first estimate lie beyond 10


def samples_of(relevant: list[float], others: list[float], m: int) -> list[Ranks]:
    """Ranks of one case, by its scores, for every possible sample of m."""
    found = []
    for chosen in combinations(others, m):
        above = [sum(other > score for other in chosen) for score in relevant]
        tied = [sum(other == score for other in chosen) for score in relevant]
        before = [sum(mate > score for mate in relevant) for score in relevant]
        found.append(Ranks([0, len(relevant)], above, tied, [m], relevant_above=before, full=[len(others)]))
    return found


CASES = {
    "one": ([5.5], [9, 8, 7, 6, 5, 4, 3, 2, 1]),
    "one tied": ([5.0], [9, 8, 5, 5, 5, 4, 3, 2, 1]),
    "several": ([8.5, 5.5, 5.4], [9, 8, 7, 6, 5, 4, 3, 2, 1]),
    "several tied": ([8.0, 5.0, 5.0, 1.0], [9, 8, 7, 5, 5, 4, 2, 1]),
    "all equal": ([1.0, 1.0], [1, 1, 1, 1, 1, 1, 1]),
}


@pytest.mark.parametrize("case", list(CASES))
def test_expectation_over_all_samples(case: str) -> None:
    """Every sample of 4 enumerated: uncorrected and corrected means are the expected ones, for all metrics."""
    relevant, others = CASES[case]
    exact = samples_of(relevant, others, len(others))[0]
    samples = Ranks.concat(samples_of(relevant, others, 4))
    assert len(samples) == comb(len(others), 4)
    for measure in [*ROWS, *CUT]:
        found = measure(samples).mean()
        assert expected_values(measure, exact, 4)[0] == approx(found, abs=1e-12), str(measure)
        for method in (bias_variance(0.1), rank_estimate()):
            found = corrected(measure, method)(samples).mean()
            assert expected_values(measure, exact, 4, method=method)[0] == approx(found, abs=1e-12), str(measure)


def test_several_relevant_items_are_unbiased_where_one_is() -> None:
    """With n-1 <= m and replacement every table is exact in expectation: then so is the case, divided as usual."""
    exact = Ranks([0, 3, 5], [1, 1, 4, 0, 6], [0, 0, 0, 0, 0], [6, 6])
    for measure in [*ROWS, *CUT]:
        found = expected_values(measure, exact, 7, method=least_squares(), replace=True)
        assert found == approx(measure(exact), abs=1e-7), str(measure)


def test_sampling_more_brings_corrections_nearer() -> None:
    exact = Ranks([0, 2, 4, 5], [3, 90, 10, 400, 50], np.zeros(5), [900, 800, 700])
    off = [
        np.abs(expected_values(ndcg, exact, m, method=bias_variance(0.01)) - ndcg(exact)).max() for m in (10, 60, 300)
    ]
    assert off[0] > off[1] > off[2]


def test_large_and_small_pools_together() -> None:
    """Fewer candidates than samples are all ranked: exact beside corrected."""
    ranks = Ranks([0, 1, 2], [2, 2], [0, 0], [100, 30], full=[3000, 30], about=About(sampled=100))
    found = corrected(recall @ 10, bias_variance(0.1))(ranks)
    assert found[1] == 1
    assert found[0] == approx(tables(recall @ 10, bias_variance(0.1), 3001, 100, False)[0][2])


@pytest.mark.parametrize("replace", [False, True])
def test_a_case_without_candidates(replace: bool) -> None:
    exact = Ranks([0, 1, 2], [0, 3], [0, 0], [0, 50])
    for method in (None, rank_estimate(), bias_variance(0.1)):
        assert expected_values(ap, exact, 5, method=method, replace=replace)[0] == 1
    sampled = Ranks([0, 1, 2], [0, 3], [0, 0], [0, 5], full=[0, 50])
    assert corrected(ap, rank_estimate(), replace=replace)(sampled)[0] == 1


def test_items_drawn_and_scored_give_the_expected_means() -> None:
    """The whole path: rank among samples, correct, and compare with what exact ranks foretell."""
    from fullrank import holdout, simulate
    from fullrank.evaluation.candidates import Sampled
    from fullrank.evaluation.rank import rank

    split = holdout(simulate.ratings(users=100, items=200, density=0.1, seed=5).data, 0.3)
    scores = np.random.default_rng(1).integers(0, 50, (100, 200)).astype(np.float32)  # with ties
    exact = rank(scores, split)
    measures = [ndcg @ 10, ap, corrected(ndcg @ 10, bias_variance(0.1)), corrected(ap, rank_estimate())]
    means = [[m(found).mean() for m in measures] for found in (rank(scores, split, Sampled(30, s)) for s in range(40))]
    foretold = [
        expected_values(metric, exact, 30, method=method).mean()
        for metric, method in [(ndcg @ 10, None), (ap, None), (ndcg @ 10, bias_variance(0.1)), (ap, rank_estimate())]
    ]
    error = np.std(means, axis=0) / np.sqrt(40)
    assert (np.abs(np.mean(means, axis=0) - foretold) < 4 * error).all()


# names, notes, errors


def test_a_corrected_metric_is_a_metric() -> None:
    one = corrected(recall @ 10, bias_variance(0.1))
    assert isinstance(one, Metric)
    assert (str(one), one.unbiased, one.best) == ("recall@10, bv 0.1", False, 1)
    assert one == corrected(recall @ 10, bias_variance(0.1))
    assert one != corrected(recall @ 10, bias_variance(0.2))
    assert [str(corrected(ap, method())) for method in (rank_estimate, least_squares, constrained)] == [
        "ap, rank estimate",
        "ap, ls",
        "ap, cls",
    ]
    assert "full ranking" in one.doc
    assert isinstance(one.function, Correction)
    sampled = Ranks([0, 2], [1, 3], [0, 0], [100], full=[3000], about=About(sampled=100))
    assert one.function.title(sampled) == "recall@10 from 100, bv 0.1"
    assert "one by one" in one.function.notes(sampled)[-1]


def test_values_of_a_corrected_metric_are_its_table() -> None:
    table = values(corrected(ap, bias_variance(0.1), full=999), 21)
    assert table == approx(tables(ap, bias_variance(0.1), 1000, 20, False)[0])


def test_errors_say_what_to_do() -> None:
    ranks = Ranks([0, 1], [3], [0], [100])
    with pytest.raises(DataError, match=r"do not say how many candidates.*full="):
        corrected(ap, rank_estimate())(ranks)
    with pytest.raises(DataError, match="case 0 has 100 sampled of 50"):
        corrected(ap, rank_estimate(), full=50)(ranks)
    with pytest.raises(DataError, match="case 0 has 0 sampled of 50"):
        corrected(ap, rank_estimate(), full=50)(Ranks([0, 1], [0], [0], [0]))
    steep = bias_variance(0.1, lambda rank, n: np.exp(-rank / 5.0))
    with pytest.raises(DataError, match="the prior gives no chance"):
        corrected(ap, steep, full=5000)(Ranks([0, 1], [90], [0], [100]))
    with pytest.raises(ParameterError, match=r"'gamma' parameter must be a number from 0 to 1, or 'auto'. Got 2"):
        bias_variance(2)
    with pytest.raises(ParameterError, match="'m' parameter must be at most n-1 = 9 without replacement"):
        expected(ap, 10, 10)
    with pytest.raises(ParameterError, match=r"'ranks' parameter must be from 1 to n=10. Got \[11\]"):
        expected(ap, 5, 10, [1, 11])


def test_metrics_that_are_no_sums_are_refused_for_several_items() -> None:
    @metric("worst")
    def worst(ranks: Ranks, k: object) -> np.ndarray:
        """1 / position of the worst relevant item squared, plus that of the best."""
        position = ranks.positions()
        return 1 / np.maximum.reduceat(position, ranks.start[:-1]) ** 2 + 1 / position[ranks.start[:-1]]

    several = Ranks([0, 2], [1, 5], [0, 0], [20], full=[900])
    with pytest.raises(ParameterError, match="worst is not a sum over relevant items"):
        corrected(worst, bias_variance(0.1))(several)
    with pytest.raises(ParameterError, match=r"topk@0.1 is not a sum"):
        corrected(topk @ 0.1, bias_variance(0.1))(several)
    assert corrected(worst, bias_variance(0.1))(Ranks([0, 1], [1], [0], [20], full=[900])).shape == (1,)
    with pytest.raises(DataError, match="graded_ndcg needs grades"):
        corrected(graded_ndcg, bias_variance(0.1))(several)


def test_no_cases() -> None:
    nothing = Ranks([0], [], [], [], full=[], about=About(sampled=5))
    assert corrected(ap, bias_variance("auto"))(nothing).shape == (0,)


@pytest.mark.bench
def test_ten_million_candidates() -> None:
    table = tables(recall @ 10, bias_variance(0.1), 10_000_000, 100, False)[0]
    assert channel(10_000_000, 100).reach @ table == approx(1e-6, rel=1e-8)
