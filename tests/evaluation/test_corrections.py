"""Sampled metrics and their corrections: S1's toy tables, exact fractions, dense solutions, enumerated samples."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.analysis import expected_values
from fullrank.evaluation.corrections import Correction, corrected, lookup, tables
from fullrank.evaluation.methods import bias_variance, constrained, least_squares, rank_estimate
from fullrank.evaluation.sampling import at, channel, expected, rank_distribution, values
from fullrank.metrics import RANKED, ap, auc, graded_ndcg, hit_rate, mean_rank, ndcg, recall, rr, topk
from fullrank.metrics.metric import Metric, metric
from fullrank.ranks import About, Ranks

approx = pytest.approx
ROWS = [metric for name, metric in RANKED.items() if name != "graded_ndcg"]
CUT = [metric @ 3 for metric in ROWS if metric.cut == "length"]

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


def dense(metric: Metric, n: int, m: int, replace: bool = False, prior: np.ndarray | None = None):
    """A, b and c as S1 defines them, all n rows."""
    p = np.full(n, 1 / n) if prior is None else prior / prior.sum()
    chance = rank_distribution(n, m, replace)
    return np.sqrt(p)[:, None] * chance, np.sqrt(p) * values(metric, n), p @ chance


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
    """S1 Eq. 19, and without replacement n/(r (m+1)) (1 - C(n-r, m+1)/C(n, m+1)), by the hockey stick."""
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


# corrections: tables


def test_least_squares_is_unbiased_where_it_can_be() -> None:
    """A polynomial of degree m passes through n <= m+1 points."""
    for n, m in [(5, 4), (5, 8), (9, 8)]:
        table = tables(ap, least_squares(), n, m, True)[0]
        assert rank_distribution(n, m, True) @ table == approx(values(ap, n), abs=1e-9)


def test_gamma_one_is_the_posterior_mean_and_gamma_zero_least_squares() -> None:
    a, b, c = dense(ndcg @ 10, 400, 9)
    assert tables(ndcg @ 10, bias_variance(1), 400, 9, False)[0] == approx(a.T @ b / c, abs=1e-13)
    free = np.linalg.lstsq(a, b, rcond=None)[0]
    assert tables(ndcg @ 10, bias_variance(0), 400, 9, False)[0] == approx(free, abs=1e-9)
    assert tables(ndcg @ 10, least_squares(), 400, 9, False)[0] == approx(free, abs=1e-9)


PRIORS = {
    "uniform": None,
    "harmonic": lambda ranks, n: 1 / ranks,
    "some ranks": lambda ranks, n: (ranks % 97 == 3) + 1e-6,
    "steep": lambda ranks, n: 1 / (30 + ranks) ** 2,
}


@pytest.mark.parametrize(("prior", "replace"), [(prior, False) for prior in PRIORS] + [("uniform", True)])
def test_bias_variance_against_all_ranks_at_once(prior: str, replace: bool) -> None:
    """S1 Eq. 25 with all 20,000 rows; ours from some hundreds, to 1e-9."""
    n, m, law = 20_000, 100, PRIORS[prior]
    weights = None if law is None else law(np.arange(1, n + 1), n)
    a, one, c = dense(recall, n, m, replace, weights)  # recall without k is 1: b is sqrt(p)
    goal = a.T @ np.column_stack([one * values(recall @ 10, n), one * values(ap, n)])
    normal = a.T @ a
    for gamma in (0.5, 0.1, 0.001):
        both = np.linalg.solve((1 - gamma) * normal + gamma * np.diag(c), goal).T
        for measure, s1 in zip((recall @ 10, ap), both, strict=True):
            found = tables(measure, bias_variance(gamma, law), n, m, replace)[0]
            assert found == approx(s1, abs=1e-9 * np.abs(s1).max())
    assert len(channel(n, m, replace, law).rows) < 600


def test_least_squares_against_all_ranks_at_once() -> None:
    for m in (3, 10):
        a, b, _ = dense(recall @ 10, 20_000, m)
        free = np.linalg.lstsq(a, b, rcond=None)[0]
        assert tables(recall @ 10, least_squares(), 20_000, m, False)[0] == approx(free, abs=1e-9)


@pytest.mark.parametrize("n", [1000, 1_000_000])
def test_the_mean_under_the_prior_is_right(n: int) -> None:
    """Summed over s, the equations of Eq. 25 say so for any gamma."""
    for gamma in (1, 0.1, 1e-4):
        table = tables(recall @ 10, bias_variance(gamma), n, 100, False)[0]
        assert channel(n, 100).reach @ table == approx(10 / n, rel=1e-9)


@pytest.mark.parametrize("n", [40, 3706, 200_000])
def test_singular_values_are_known(n: int) -> None:
    """Polynomials of degree j diagonalise a uniform share and its counts: s_j^2 = C(m, j) / C(m+j+1, j) for a
    binomial one, and a hypergeometric count of m from n-1 is the step from the one of n-1 to the one of m."""

    def law(m: int, j: int) -> Fraction:
        return Fraction(comb(m, j), comb(m + j + 1, j))

    m = 12
    assert channel(n, m).svd[1] ** 2 == approx([float(law(m, j) / law(n - 1, j)) for j in range(m + 1)], rel=1e-7)


@pytest.mark.parametrize("measure", [recall @ 10, ap, ndcg, mean_rank], ids=str)
@pytest.mark.parametrize("nonnegative", [True, False])
def test_constrained_against_a_general_solver(measure: Metric, nonnegative: bool) -> None:
    for n, m in [(300, 7), (2000, 15)]:
        a, b, _ = dense(measure, n, m)
        steps = np.tril(np.ones((m + 1, m + 1))).T  # column j: all places up to j
        if measure.best < measure.worst:
            steps = steps[::-1]  # all places from the end
        bounds = (np.append(np.zeros(m), 0 if nonnegative else -np.inf), np.inf)
        general = steps @ lsq_linear(a @ steps, b, bounds, method="bvls", tol=1e-14).x
        found = tables(measure, constrained(nonnegative=nonnegative), n, m, False)[0]
        falls = np.diff(found) if measure.best > measure.worst else -np.diff(found)
        assert (falls <= 1e-12).all()
        assert found.min() >= (0 if nonnegative else -np.inf)
        best = np.linalg.norm(a @ general - b)
        assert np.linalg.norm(a @ found - b) <= best + 1e-9 * np.linalg.norm(b)
        assert a @ found == approx(a @ general, abs=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("measure", [recall @ 10, ndcg @ 10, ap, ndcg], ids=str)
@pytest.mark.parametrize("nonnegative", [True, False])
def test_constrained_is_optimal(measure: Metric, nonnegative: bool) -> None:
    """Karush, Kuhn and Tucker at S1's size: no step can be made better, and those taken cannot be changed."""
    n, m = 3706, 100
    a, b, _ = dense(measure, n, m)
    found = tables(measure, constrained(nonnegative=nonnegative), n, m, False)[0]
    slope = np.cumsum(a.T @ (a @ found - b))
    down = -np.diff(found, append=0.0)  # the last is the constant
    assert (down[: None if nonnegative else -1] >= -1e-15).all()
    assert slope.min() > -1e-11
    assert np.abs(slope * down).max() < 1e-11


def test_monotone_only_may_fall_below_0() -> None:
    """Which is why non-negative is the default: S1's numbers for recall and nDCG come out only so."""
    lowest = {
        (str(measure), nonnegative): tables(measure, constrained(nonnegative=nonnegative), 3706, 100, False).min()
        for measure in (recall @ 10, ndcg @ 10)
        for nonnegative in (True, False)
    }
    assert [low < -1e-6 for low in lowest.values()] == [False, True] * 2
    assert lowest["recall@10", True] == lowest["ndcg@10", True] == 0


def test_measures_that_can_be_negative_are_not_held_above_0() -> None:
    signed = Metric("signed", lambda ranks, k: 2 * auc(ranks) - 1, cut="", best=1.0, worst=-1.0)
    assert tables(signed, constrained(), 300, 8, False)[0] == approx(values(signed, 9), abs=1e-6)


@pytest.mark.parametrize("method", [rank_estimate, least_squares, constrained, bias_variance])
def test_methods_without_parentheses(method: type) -> None:
    ranks = sampled_ranks(3)
    for wrong in (
        lambda: corrected(recall @ 10, method),  # type: ignore[arg-type]
        lambda: expected_values(recall @ 10, ranks, 5, method=method),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError, match=rf"Got the class {method.__name__} instead; write \w+\(.*\)\.$"):
            wrong()
    with pytest.raises(ParameterError, match=r"must be one of rank_estimate\(\), .* Got 'bv' instead\.$"):
        corrected(recall @ 10, "bv")  # type: ignore[arg-type]


@pytest.mark.parametrize("prior", [None, lambda ranks, n: 1 / ranks])
def test_monotone_only_where_asked(prior: object) -> None:
    free = tables(recall @ 10, bias_variance(0.001, prior), 3000, 50, False)[0]
    assert (np.diff(free) > 0).any()


def test_what_rounding_would_spoil_is_refused() -> None:
    for method in (least_squares(), bias_variance(0), bias_variance(1e-12)):
        with pytest.raises(ParameterError, match=r"lost in rounding.*gamma >= 1e-07"):
            tables(recall @ 10, method, 10_000, 100, False)
    with pytest.raises(ParameterError, match="at most 5,000"):
        tables(recall @ 10, constrained(), 100_000, 6000, False)


def test_smallest_gammas_accepted_are_right() -> None:
    n, m, gamma = 3000, 60, 1e-6
    a, b, c = dense(recall @ 10, n, m)
    system = np.vstack([np.sqrt(1 - gamma) * a, np.diag(np.sqrt(gamma * c))]) / np.sqrt(c)
    goal = np.concatenate([np.sqrt(1 - gamma) * b, np.sqrt(gamma / c) * (a.T @ b)])
    s1 = np.linalg.lstsq(system, goal, rcond=None)[0] / np.sqrt(c)
    assert tables(recall @ 10, bias_variance(gamma), n, m, False)[0] == approx(s1, abs=1e-6)


def test_prior_as_an_array() -> None:
    weights = 1 / np.arange(1, 501)
    given = tables(ap, bias_variance(0.1, weights), 500, 20, False)
    assert given == approx(tables(ap, bias_variance(0.1, lambda ranks, n: 1 / ranks), 500, 20, False))
    with pytest.raises(ParameterError, match="weights for 500 ranks, and a case has 501"):
        tables(ap, bias_variance(0.1, weights), 501, 20, False)
    with pytest.raises(ParameterError, match="finite weights >= 0"):
        tables(ap, bias_variance(0.1, -weights), 500, 20, False)


# gamma


def test_gamma_auto_follows_the_number_of_cases() -> None:
    assert bias_variance("auto").resolved(6040).gamma == approx(1 / np.sqrt(6040))
    sampled = Ranks(np.arange(101), np.arange(100) % 40, np.zeros(100), np.full(100, 40), full=np.full(100, 1000))
    auto, same = corrected(ap, bias_variance("auto")), corrected(ap, bias_variance(0.1))
    assert auto(sampled) == approx(same(sampled))
    assert str(auto) == "ap, bv auto"


TABLE_3 = {  # S1: exact, then mean and deviation for gamma 1, .1, .01, .001; 6040 cases
    "recall X": (7.60, (4.71, 0.07), (6.49, 0.25), (7.18, 0.59), (7.32, 1.17)),
    "recall Y": (8.84, (4.60, 0.07), (6.95, 0.21), (8.18, 0.51), (8.54, 1.07)),
    "recall Z": (9.42, (4.97, 0.07), (7.44, 0.24), (8.63, 0.59), (9.08, 1.20)),
    "ndcg X": (3.76, (2.16, 0.04), (3.00, 0.12), (3.34, 0.32), (3.41, 0.71)),
    "ndcg Y": (4.59, (2.12, 0.03), (3.24, 0.10), (3.85, 0.28), (4.03, 0.66)),
    "ndcg Z": (4.79, (2.29, 0.04), (3.46, 0.12), (4.05, 0.32), (4.31, 0.74)),
    "ap X": (3.75, (2.44, 0.03), (3.13, 0.09), (3.37, 0.21), (3.42, 0.49)),
    "ap Y": (4.32, (2.32, 0.03), (3.19, 0.07), (3.62, 0.18), (3.73, 0.45)),
    "ap Z": (4.44, (2.45, 0.03), (3.38, 0.08), (3.79, 0.21), (3.97, 0.51)),
}


def test_gamma_auto_is_the_best_of_those_s1_published() -> None:
    gammas = np.array([1, 0.1, 0.01, 0.001])
    ours = np.abs(np.log(gammas / bias_variance("auto").resolved(6040).gamma)).argmin()
    for exact, *published in TABLE_3.values():
        error = [(mean - exact) ** 2 + deviation**2 for mean, deviation in published]
        assert np.argmin(error) == ours


@pytest.mark.parametrize("head", [1.5, 2.0])
def test_gamma_auto_is_near_the_best(head: float) -> None:
    """Ranks crowded towards the top, n u^head: within 1.7 of the best gamma's error, for 100 to 10^5 cases."""
    n, m = 3000, 100
    chance, share = rank_distribution(n, m), np.diff((np.arange(n + 1) / n) ** (1 / head))

    def error(measure: Metric, gamma: float, cases: int) -> float:
        table = tables(measure, bias_variance(gamma), n, m, False)[0]
        mean = chance @ table
        bias, variance = share @ (mean - values(measure, n)), share @ (chance @ table**2 - mean**2)
        return float(np.sqrt(bias**2 + variance / cases))

    for measure in (recall @ 10, ndcg @ 10, ap):
        for cases in (100, 6000, 100_000):
            best = min(error(measure, gamma, cases) for gamma in 10.0 ** np.arange(-6, 0.1, 0.5))
            assert error(measure, 1 / np.sqrt(cases), cases) < 1.7 * best


# corrected metrics of ranks


def sampled_ranks(cases: int = 400, m: int = 50, seed: int = 0) -> Ranks:
    rng = np.random.default_rng(seed)
    full = rng.integers(900, 2500, size=cases)
    above = rng.integers(0, m + 1, size=cases)
    tied = rng.integers(0, m + 1 - above)
    return Ranks(np.arange(cases + 1), above, tied, np.full(cases, m), full=full)


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
    assert (recalls == gains).all()  # S1: identical, since all but the first estimate lie beyond 10


def samples_of(relevant: list[float], others: list[float], m: int) -> list[Ranks]:
    """Ranks of one case, by its scores, for every possible sample of m."""
    found = []
    for chosen in combinations(others, m):
        above = [sum(other > score for other in chosen) for score in relevant]
        tied = [sum(other == score for other in chosen) for score in relevant]
        before = [sum(mate > score for mate in relevant) for score in relevant]
        found.append(Ranks([0, len(relevant)], above, tied, [m], before=before, full=[len(others)]))
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
    assert (str(one), one.ubm, one.best) == ("recall@10, bv 0.1", False, 1)
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
