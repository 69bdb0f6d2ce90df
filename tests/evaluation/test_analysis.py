"""What sampling does to comparisons: toy curves, thinning against its law, consistency.

Sections and figures are those of Krichene and Rendle 2020.
"""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.analysis import (
    against_samples,
    characteristic,
    expected_values,
    histogram,
    thinned,
)
from fullrank.evaluation.cases import cases_of
from fullrank.evaluation.consistency import consistency, consistency_apart
from fullrank.evaluation.corrections import corrected
from fullrank.evaluation.methods import bias_variance, constrained, rank_estimate
from fullrank.evaluation.rank import rank
from fullrank.evaluation.sampling import expected, rank_distribution, values
from fullrank.metrics import ap, auc, ndcg, recall, rr
from fullrank.ranks import Ranks

approx = pytest.approx


def one_each(ranks: list[int] | np.ndarray, n: int = 10_000) -> Ranks:
    cases = len(ranks)
    return Ranks(np.arange(cases + 1), np.array(ranks) - 1, np.zeros(cases), np.full(cases, n - 1))


TOY = {
    "A": one_each([100] * 5),
    "B": one_each([40, 40, 8437, 9266, 4482]),
    "C": one_each([212, 2, 743, 5342, 1548]),
}


def order(models: dict[str, Ranks], metric: object, m: int) -> str:
    curves = against_samples(models, metric, [m])
    return "".join(sorted(curves, key=lambda name: -curves[name][0]))


def test_toy_curves_cross_as_in_figure_2() -> None:
    """By AP: A C B below 50 samples, A B C around 200, C A B around 500; AUC is the same for all m."""
    assert [order(TOY, ap, m) for m in (20, 49, 200, 500)] == ["ACB", "ACB", "ABC", "CAB"]
    assert [order(TOY, recall @ 10, m) for m in (100, 1000)] == ["ACB", "ABC"]
    exact = {name: (recall @ 10)(ranks).mean() for name, ranks in TOY.items()}
    curves = against_samples(TOY, recall @ 10, [5000, 9999])
    assert {name: curve[1] for name, curve in curves.items()} == exact
    assert all(curve[0] == approx(exact[name], abs=0.001) for name, curve in curves.items())
    for name, curve in against_samples(TOY, auc, [1, 10, 1000]).items():
        assert curve == approx(auc(TOY[name]).mean())


def test_corrected_curves_are_nearer() -> None:
    plain = against_samples(TOY, ap, [30, 99], replace=True)
    better = against_samples(TOY, ap, [30, 99], method=bias_variance(0.1), replace=True)
    for name, ranks in TOY.items():
        exact = ap(ranks).mean()
        assert (np.abs(better[name] - exact) < np.abs(plain[name] - exact)).all()


def test_characteristic_curves() -> None:
    """Fig. 3 and 4: sampled AP of 10,000 is far from AP; corrected, the mean squared distance is smaller."""
    exact = values(ap, 10_000)
    assert characteristic(ap, 10_000, 100) == approx(expected(ap, 100, 10_000))
    off = np.mean((characteristic(ap, 10_000, 100) - exact) ** 2)
    for method in (rank_estimate(), constrained(), bias_variance(1), bias_variance(0.1)):
        assert np.mean((characteristic(ap, 10_000, 100, method=method) - exact) ** 2) < off
    some = characteristic(ndcg, 10_000, 100, [1, 10], method=bias_variance(0.1), replace=True)
    table = values(corrected(ndcg, bias_variance(0.1), full=9999, replace=True), 101)
    assert some == approx(rank_distribution(10_000, 100, True, [1, 10]) @ table)


def test_small_samples_see_a_straight_line() -> None:
    """Section 4.4.4: for m = 1 every metric is linear in the rank."""
    for metric in (ap, ndcg, recall @ 1):
        assert np.diff(characteristic(metric, 500, 1), 2) == approx(np.zeros(498), abs=1e-12)


def test_histogram_in_log_buckets() -> None:
    found = histogram(one_each([1, 1, 2, 4, 5, 10, 9999, 10_000]))
    assert found.edges[:6].tolist() == [1, 2, 5, 10, 20, 50]
    assert found.counts.sum() == 8
    assert found.counts[:4].tolist() == [2, 2, 1, 1]
    assert found.edges[-2:].tolist() == [5000, 10_001]  # not beyond the last candidate
    assert found.counts[-2:].tolist() == [0, 2]
    coarse = histogram(TOY["C"], edges=[1, 11, 1001, 10_001])
    assert coarse.counts.tolist() == [1, 2, 2]
    ties = histogram(Ranks([0, 2], [0, 0], [2, 2], [9]), edges=[1, 3, 5])
    assert ties.counts.tolist() == [1, 1]
    with pytest.raises(ParameterError, match="two or more rising integers"):
        histogram(TOY["A"], edges=[5])


@pytest.mark.parametrize(
    ("candidates", "edges"), [(1, [1, 2]), (2, [1, 3]), (10, [1, 2, 5, 11]), (11, [1, 2, 5, 10, 12])]
)
def test_the_last_bucket_ends_with_the_last_candidate(candidates: int, edges: list[int]) -> None:
    found = histogram(Ranks([0, 1], [candidates - 1], [0], [candidates - 1]))
    assert found.edges.tolist() == edges
    assert found.counts.tolist() == [0] * (len(edges) - 2) + [1]


@pytest.mark.parametrize("replace", [False, True])
def test_thinning_follows_the_law(replace: bool) -> None:
    """Two relevant items of a case, one of them tied: counts above and tied against their marginal distributions."""
    cases, pool, m = 20_000, 60, 8
    start = np.arange(0, 2 * cases + 1, 2)
    exact = Ranks(start, np.tile([5, 20], cases), np.tile([0, 6], cases), np.full(cases, pool))
    found = thinned(exact, m, np.random.default_rng(3), replace=replace)
    assert (found.pool == m).all()
    assert (found.full == pool).all()
    assert found.about.sampled == m
    assert (found.above[0::2] <= found.above[1::2]).all()
    for counts, of in ((found.above[0::2], 5), (found.above[1::2], 20), (found.above[1::2] + found.tied[1::2], 26)):
        law = rank_distribution(pool + 1, m, replace, [of + 1])[0]
        share = np.bincount(counts, minlength=m + 1) / cases
        assert (np.abs(share - law) < 4 * np.sqrt(law * (1 - law) / cases) + 1e-9).all()


def test_thinning_to_everything_changes_nothing() -> None:
    exact = Ranks([0, 2, 3], [1, 4, 3], [0, 2, 1], [9, 5], about=TOY["A"].about)
    found = thinned(exact, 20, np.random.default_rng(0))
    assert found == exact


def test_expected_values_against_thinning() -> None:
    rng = np.random.default_rng(5)
    exact = Ranks([0, 1, 3, 4], [3, 10, 40, 120], [0, 0, 3, 2], [150, 90, 400])
    many = Ranks.concat([exact] * 2000)
    for metric, method in [(ndcg, None), (ap, bias_variance(0.1)), (rr, rank_estimate())]:
        measure = metric if method is None else corrected(metric, method)
        draws = measure(thinned(many, 12, rng)).reshape(-1, len(exact))
        error = draws.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(draws.mean(axis=0) - expected_values(metric, exact, 12, method=method)) < 4 * error + 1e-9).all()


def worlds(cases: int = 1500) -> dict[str, Ranks]:
    """Three models as in the paper: Z is best on top and worst below, X the other way round, Y in between."""
    rng = np.random.default_rng(0)
    n = rng.integers(1500, 3000, size=cases)

    def model(top: float, power: float) -> Ranks:
        share = np.where(rng.random(cases) < top, 10 / n * rng.random(cases), 0.01 + 0.99 * rng.random(cases) ** power)
        return Ranks(np.arange(cases + 1), (share * (n - 1)).astype(int), np.zeros(cases), n - 1)

    return {"X": model(0.04, 3.0), "Y": model(0.10, 2.0), "Z": model(0.16, 1.2)}


def test_consistency_of_sampled_and_corrected_metrics() -> None:
    models, methods = worlds(), [None, bias_variance(0.1)]
    found = consistency_apart(models, [recall @ 10, auc], 100, methods=methods, repeats=20, seed=1)
    assert found.models == ("X", "Y", "Z")
    assert found.pairs == [("X", "Y"), ("X", "Z"), ("Y", "Z")]
    assert found.columns == (("recall@10", ""), ("recall@10", "bv 0.1"), ("auc", ""), ("auc", "bv 0.1"))
    uncorrected, better, *areas = found.agreement()
    assert uncorrected[1] == 0  # X looks better than Z in every sample
    assert better[1] > 0.9
    assert np.array(areas) == approx(np.ones((2, 3)))
    mean = [expected_values(recall @ 10, models["Z"], 100, method=method).mean() for method in methods]
    error = found.sampled[:, :2, 2].std(axis=0) / np.sqrt(20)
    assert (np.abs(found.sampled[:, :2, 2].mean(axis=0) - mean) < 4 * error).all()
    row = found.to_rows()[1]
    assert (row["metric"], row["method"]) == ("recall@10", "bv 0.1")
    assert row["agreement"]["X", "Z"] == better[1]
    assert row["exact"]["Z"] == approx((recall @ 10)(models["Z"]).mean())


def test_consistency_is_deterministic_and_by_model() -> None:
    models = worlds(300)
    one, again = (consistency_apart(models, [ap], 50, repeats=4, seed=7) for _ in range(2))
    assert (one.sampled == again.sampled).all()
    fewer = consistency_apart({"Z": models["Z"], "Y": models["Y"]}, [ap], 50, repeats=3, seed=7)
    assert (fewer.sampled == one.sampled[:3, :, [2, 1]]).all()
    assert (consistency_apart(models, [ap], 50, repeats=4, seed=8).sampled != one.sampled).any()


def paired_models() -> tuple[dict[str, object], Split[Interactions]]:
    """A model, one that differs from it a little, and one that knows nothing of it."""
    rng = np.random.default_rng(2)
    near = rng.standard_normal((80, 200))
    relevant = rng.permuted(np.tile(np.arange(200), (80, 1)), axis=1)[:, :2].ravel()
    held = Interactions.of(np.repeat(np.arange(80), 2), relevant, users=Ids.numbered(80), items=Ids.numbered(200))
    close, far = near + 0.02 * rng.standard_normal(near.shape), rng.standard_normal(near.shape)
    return {"one": near, "close": close, "far": far, "twin": near}, Split(held.where(held.user < 0), held)


def test_all_models_are_ranked_among_the_same_samples() -> None:
    """Each repetition is `Sampled` with one seed: twins get the same numbers, and close models differ by little."""
    models, split = paired_models()
    found = consistency(models, split, [recall @ 10, ap], 20, repeats=30, seed=3)
    assert (found.sampled[:, :, 0] == found.sampled[:, :, 3]).all()
    exact = {name: rank(model, split) for name, model in models.items()}
    assert found.exact.tolist() == [[m(r).mean() for r in exact.values()] for m in (recall @ 10, ap)]
    apart = consistency_apart(exact, [recall @ 10, ap], 20, repeats=30, seed=3)
    spread, spread_apart = ((f.sampled[:, 1, 0] - f.sampled[:, 1, 1]).std() for f in (found, apart))
    assert spread < 0.4 * spread_apart
    expected = [expected_values(ap, exact[name], 20).mean() for name in models]
    error = found.sampled[:, 1].std(axis=0) / np.sqrt(30)
    assert (np.abs(found.sampled[:, 1].mean(axis=0) - expected) < 4 * error).all()
    assert len(np.unique(found.sampled[:, 1, 0])) == 30


def test_consistency_depends_on_the_seed_only(monkeypatch: pytest.MonkeyPatch) -> None:
    models, split = paired_models()
    one = consistency(models, split, [ap], 20, repeats=5, seed=3, methods=[None, rank_estimate()])
    fewer = consistency({"far": models["far"]}, cases_of(split), [ap], 20, repeats=3, seed=3)
    assert (fewer.sampled[:, 0, 0] == one.sampled[:3, 0, 2]).all()
    monkeypatch.setattr("fullrank.evaluation.consistency.KEPT", 1)  # one repetition at a time
    again = consistency(models, split, [ap], 20, repeats=5, seed=3, methods=[None, rank_estimate()])
    assert (again.sampled == one.sampled).all()
    other = consistency(models, split, [ap], 20, repeats=5, seed=4)
    assert not np.isin(other.sampled[:, 0, 0], one.sampled[:, 0, 0]).any()
    with pytest.raises(ParameterError, match="'repeats' parameter"):
        consistency(models, split, [ap], 20, repeats=0)
    with pytest.raises(ParameterError, match=r"write rank_estimate\(\)"):
        consistency(models, split, [ap], 20, methods=[rank_estimate])  # type: ignore[list-item]


def test_equal_models_have_no_order() -> None:
    ranks = one_each([5, 9, 30], 100)
    found = consistency_apart({"a": ranks, "b": ranks}, [recall @ 10], 20, repeats=5)
    assert np.isnan(found.agreement()).all()


def test_models_on_other_cases_are_refused() -> None:
    with pytest.raises(DataError, match="different cases or candidates"):
        consistency_apart({"a": one_each([5, 9], 100), "b": one_each([5, 9], 101)}, [ap], 10)
