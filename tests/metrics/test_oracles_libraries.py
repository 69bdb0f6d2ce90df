"""Metrics against independent libraries: trec_eval, ranx, scikit-learn, Spark.

Where the other libraries' definitions are not ours, cases are chosen or values rescaled so that they are:

trec_eval        ties by descending id, scores as float32 (it gets distinct small integers); map_cut divides by |R|,
                 ours by min(|R|, k); ndcg has gain = grade, ours 2^grade - 1; recip_rank has no cut-off
ranx             ties in sorting order; map@k divides by |R|; ndcg has gain = grade, ndcg_burges ours
scikit-learn     ndcg_score averages over ties as we do, with gain = grade, and refuses lists of one; of ties
                 average_precision_score makes one threshold and label_ranking_average_precision_score the worst
                 rank, ours are expectations; roc_auc_score is undefined without irrelevant items, ours is .5
Spark            the ideal of graded nDCG has the labels as they are given, ours in descending order; a user
                 without relevant items counts as 0, ours is no case
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank.metrics import RANKED, ap, graded_ndcg, ndcg, precision, recall
from fullrank.ranks import Ranks
from tests.metrics.oracle_cases import CLOSE, METRICS, Case, counted, far_apart, listed, random_case

# -- other libraries


LENGTHS = [1, 2, 3, 5, 10, 100]


@cache
def untied_cases() -> tuple[list[Case], Ranks]:
    """5,000 random cases of up to 40 candidates without ties, with grades 0 to 3."""
    rng = np.random.default_rng(5000)
    cases = [random_case(rng, int(n), levels=0, most=15, whole=True) for n in rng.integers(1, 41, 5000)]
    return cases, counted(cases)


def judged(cases: Sequence[Case], gain: Callable[[float], int]) -> dict[str, dict[str, int]]:
    """Judgements in the form of trec_eval and ranx: item -> gain of every relevant item."""
    rows = ({str(i): gain(grade) for i, grade in enumerate(case.grades) if grade is not None} for case in cases)
    return {f"{n:05}": row for n, row in enumerate(rows)}


def of_all_to_of_possible(ranks: Ranks, k: int) -> NDArray:
    """AP@k over |R| times this is over min(|R|, k)."""
    return ranks.sizes / np.minimum(ranks.sizes, k)


def test_trec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    cases, ranks = untied_cases()
    cuts = ",".join(map(str, LENGTHS))
    wanted = {"recip_rank", "map", "ndcg", *(f"{m}.{cuts}" for m in ("ndcg_cut", "P", "recall", "map_cut", "success"))}

    def values(gain: Callable[[float], int]) -> dict[str, NDArray]:
        found = pytrec_eval.RelevanceEvaluator(judged(cases, gain), wanted).evaluate(listed(cases))
        return {name: np.array([found[case][name] for case in sorted(found)]) for name in found["00000"]}

    binary, gains = values(lambda grade: 1), values(lambda grade: 2 ** int(grade) - 1)
    pairs = {"rr": binary["recip_rank"], "ap": binary["map"], "ndcg": binary["ndcg"], "graded_ndcg": gains["ndcg"]}
    same = {"precision": "P", "recall": "recall", "hit_rate": "success", "ndcg": "ndcg_cut"}
    for k in LENGTHS:
        pairs |= {f"{name}@{k}": binary[f"{theirs}_{k}"] for name, theirs in same.items()}
        pairs[f"ap@{k}"] = binary[f"map_cut_{k}"] * of_all_to_of_possible(ranks, k)
        pairs[f"graded_ndcg@{k}"] = gains[f"ndcg_cut_{k}"]
    for name, expected in pairs.items():
        metric = next(metric for metric in METRICS if str(metric) == name)
        assert not far_apart(metric, metric(ranks), expected, cases)


@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64:numba.core.errors.NumbaTypeSafetyWarning")
def test_ranx() -> None:
    """Not installed with the tests: it compiles for a minute when first used."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    cases, ranks = untied_cases()
    run = ranx.Run(listed(cases))
    binary, gains = ranx.Qrels(judged(cases, lambda grade: 1)), ranx.Qrels(judged(cases, int))
    names = {"recall": "recall", "precision": "precision", "hit_rate": "hit_rate", "rr": "mrr", "ap": "map",
             "ndcg": "ndcg", "graded_ndcg": "ndcg_burges"}  # fmt: skip
    for name, theirs in names.items():
        for k in (None, *LENGTHS):
            metric, asked = (RANKED[name], theirs) if k is None else (RANKED[name] @ k, f"{theirs}@{k}")
            expected = ranx.evaluate(gains if name == "graded_ndcg" else binary, run, asked, return_mean=False)
            if name == "ap" and k is not None:
                expected = expected * of_all_to_of_possible(ranks, k)
            assert not far_apart(metric, metric(ranks), expected, cases)


class TestScikitLearn:
    @pytest.mark.parametrize("graded", [False, True])
    def test_ties_in_ndcg(self, graded: bool) -> None:
        metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
        rng = np.random.default_rng(int(graded))
        sizes = rng.integers(2, 31, 1500)
        cases = [random_case(rng, int(n), levels=int(rng.integers(1, n + 1))) for n in sizes]
        ranks = counted(cases)
        gains = [[0.0 if grade is None else 2**grade - 1 if graded else 1.0 for grade in case.grades] for case in cases]
        cuts = rng.choice([0, *LENGTHS], len(cases))  # another in every case, as each call takes a millisecond
        expected = np.array(
            [
                metrics.ndcg_score([gain], [case.scores], k=int(k) or None)
                for gain, case, k in zip(gains, cases, cuts, strict=True)
            ]
        )
        for k in (0, *LENGTHS):
            metric, here = (graded_ndcg if graded else ndcg), np.flatnonzero(cuts == k)
            metric = metric @ k if k else metric
            assert not far_apart(metric, metric(ranks)[here], expected[here], [cases[n] for n in here])

    @pytest.mark.parametrize("levels", [1, 4, 12, 0])
    def test_auc_and_average_precision(self, levels: int) -> None:
        metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
        rng = np.random.default_rng(levels)
        cases = [random_case(rng, 25, levels=levels, most=24) for _ in range(500)]
        scores, relevant = np.array([case.scores for case in cases]).T, np.array([case.relevant for case in cases]).T
        ranks = counted(cases)
        expected = metrics.roc_auc_score(relevant, scores, average=None)
        assert not far_apart(RANKED["auc"], RANKED["auc"](ranks), expected, cases)
        if levels == 0:
            expected = metrics.average_precision_score(relevant, scores, average=None)
            assert not far_apart(ap, ap(ranks), expected, cases)
            mean = metrics.label_ranking_average_precision_score(relevant.T, scores.T)
            assert ap(ranks).mean() == pytest.approx(mean, abs=CLOSE)


class TestSpark:
    """The published numbers of RankingMetricsSuite that test_relevance does not have."""

    LISTS = ([1, 6, 2, 7, 8, 3, 9, 10, 4, 5], [4, 1, 5, 6, 2, 7, 3, 8, 9, 10])
    TRUTH = ({1: 3.0, 2: 2.0, 3: 1.0, 4: 1.0, 5: 1.0}, {1: 2.0, 2: 0.0, 3: 0.0})

    def ranks(self) -> Ranks:
        pairs = zip(self.LISTS, self.TRUTH, strict=True)
        return counted([Case(tuple(range(10, 0, -1)), tuple(map(truth.get, items))) for items, truth in pairs])

    def test_graded_ndcg(self) -> None:
        """A third user has no relevant items, and counts as 0."""
        for k, expected in ((3, 0.511959), (5, 0.487806), (10, 0.518700), (15, 0.518700)):
            assert (graded_ndcg @ k)(self.ranks()).sum() / 3 == pytest.approx(expected, abs=1e-6)

    def test_map_with_a_cut_off(self) -> None:
        for k, expected in ((1, 1 / 3), (2, 0.25), (3, 0.24074)):
            assert (ap @ k)(self.ranks()).sum() / 3 == pytest.approx(expected, abs=1e-5)

    def test_few_predictions(self) -> None:
        """SPARK-14886: one list of three, whose unlisted relevant items come after it, and an empty one, 0."""
        ranks = counted([Case((3, 2, 1, 0, 0, 0), (1.0, None, 1.0, 1.0, 1.0, 1.0))])
        published = {precision @ 1: 0.5, precision @ 2: 0.25, ndcg @ 1: 0.5, ndcg @ 2: 0.30657, recall @ 2: 0.1}
        for metric, expected in published.items():
            assert metric(ranks)[0] / 2 == pytest.approx(expected, abs=1e-5)
