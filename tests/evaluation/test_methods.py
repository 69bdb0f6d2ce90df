"""Tables of corrections: against dense solutions, general solvers and conditions of optimality.

Tables and equations are those of Krichene and Rendle 2020.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from fullrank.errors import ParameterError
from fullrank.evaluation.analysis import expected_values
from fullrank.evaluation.corrections import corrected, tables
from fullrank.evaluation.methods import bias_variance, constrained, least_squares, rank_estimate
from fullrank.evaluation.sampling import channel, rank_distribution, values
from fullrank.metrics import ap, auc, mean_rank, ndcg, recall
from fullrank.metrics.metric import Metric
from fullrank.ranks import Ranks
from tests.evaluation.correction_cases import approx, sampled_ranks


def dense(metric: Metric, n: int, m: int, replace: bool = False, prior: np.ndarray | None = None):
    """A, b and c as the paper defines them, all n rows."""
    p = np.full(n, 1 / n) if prior is None else prior / prior.sum()
    chance = rank_distribution(n, m, replace)
    return np.sqrt(p)[:, None] * chance, np.sqrt(p) * values(metric, n), p @ chance


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
    """Eq. 25 with all 20,000 rows; ours from some hundreds, to 1e-9."""
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
    """Karush, Kuhn and Tucker at the paper's size: no step can be made better, and those taken cannot be changed."""
    n, m = 3706, 100
    a, b, _ = dense(measure, n, m)
    found = tables(measure, constrained(nonnegative=nonnegative), n, m, False)[0]
    slope = np.cumsum(a.T @ (a @ found - b))
    down = -np.diff(found, append=0.0)  # the last is the constant
    assert (down[: None if nonnegative else -1] >= -1e-15).all()
    assert slope.min() > -1e-11
    assert np.abs(slope * down).max() < 1e-11


def test_monotone_only_may_fall_below_0() -> None:
    """Which is why non-negative is the default: the paper's numbers for recall and nDCG come out only so."""
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


TABLE_3 = {  # of the paper: exact, then mean and deviation for gamma 1, .1, .01, .001; 6040 cases
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


def test_gamma_auto_is_the_best_of_those_published() -> None:
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
