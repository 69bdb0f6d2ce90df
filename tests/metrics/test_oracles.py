"""Relevance measures against oracles: definitions over every tie order, exact fractions, simulation, other libraries.

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
from fractions import Fraction
from functools import cache
from itertools import chain, permutations, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.evaluation.rank import rank
from fullrank.metrics import RANKED, Metric, ap, graded_ndcg, ndcg, precision, recall
from fullrank.ranks import Ranks
from fullrank.testing import brute

CLOSE = 1e-12
CUTS: dict[str, list] = {"length": [None, 1, 2, 3, 5, 10, 100], "half-life": [None, 1, 2, 5, 10], "": [None]}
CUTS["share or length"] = [*CUTS["length"], 0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]
METRICS = [found if k is None else found @ k for found in RANKED.values() for k in CUTS[found.cut]]
BINARY = [metric for metric in METRICS if metric.name != "graded_ndcg"]
GRADED = [metric for metric in METRICS if metric.name == "graded_ndcg"]


class Case(NamedTuple):
    """The candidates of a case: their scores, and grades of those that are relevant."""

    scores: tuple[float, ...]
    grades: tuple[float | None, ...]

    @property
    def relevant(self) -> list[bool]:
        return [grade is not None for grade in self.grades]

    def tie_groups(self, labels: Sequence[float]) -> tuple[tuple[float, ...], ...]:
        """Labels of items with equal scores, best first."""
        values = sorted(set(self.scores), reverse=True)
        pairs = list(zip(self.scores, labels, strict=True))
        return tuple(tuple(sorted(label for score, label in pairs if score == value)) for value in values)


def counted(cases: Sequence[Case], *, grades: bool = True) -> Ranks:
    """All cases as one Ranks, by comparing items one by one; without grades, `before` is left out too."""
    columns: dict[str, list] = {"start": [0], "above": [], "tied": [], "pool": [], "before": [], "grade": []}
    for case in cases:
        pairs = list(zip(case.scores, case.grades, strict=True))
        rest = [score for score, grade in pairs if grade is None]
        hits = [(score, grade) for score, grade in pairs if grade is not None]
        for score, grade in hits:
            columns["above"].append(sum(other > score for other in rest))
            columns["tied"].append(sum(other == score for other in rest))
            columns["before"].append(sum(other > score for other, _ in hits))
            columns["grade"].append(grade)
        columns["pool"].append(len(rest))
        columns["start"].append(len(columns["above"]))
    return Ranks(**(columns if grades else columns | {"before": None, "grade": None}))


def random_case(rng: np.random.Generator, n: int, *, levels: int, most: int = 99, whole: bool = False) -> Case:
    """n candidates with at most so many distinct scores (0: all distinct), and from 1 to `most` relevant ones."""
    scores = rng.permutation(n) if levels == 0 else rng.integers(0, levels, n)
    among = [0.0, 1.0, 2.0, 3.0] if whole else [0.0, 1.0, 2.0, 3.5]
    hits = set(rng.permutation(n)[: rng.integers(1, min(n, most) + 1)].tolist())
    grades = [float(rng.choice(among)) if item in hits else None for item in range(n)]
    return Case(tuple(scores.tolist()), tuple(grades))


def far_apart(metric: Metric, found: NDArray, expected: NDArray, cases: Sequence[Case]) -> str:
    """What to tell of the case in which found and expected values differ most; nothing where they agree."""
    assert found.shape == expected.shape == (len(cases),)
    apart = np.abs(found - expected)
    worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
    if apart[worst] <= CLOSE:
        return ""
    return f"{metric} is {found[worst]!r}, expected {expected[worst]!r}: {cases[worst]}"


# -- definitions, over every order of ties


@cache
def arrangements(group: tuple[float, ...]) -> list[tuple[float, ...]]:
    """The distinct orders of a tie group: equally likely, as equally many permutations look like each."""
    return list(dict.fromkeys(permutations(group)))


@cache
def binary_values(listed: tuple[bool, ...]) -> NDArray:
    return np.array([brute.MEASURES[metric.name](listed, metric.k) for metric in BINARY])


@cache
def graded_values(listed: tuple[float, ...]) -> NDArray:
    return np.array([brute.graded_ndcg(listed, metric.k) for metric in GRADED])


@cache
def mean_over_orders(values: Callable[[tuple], NDArray], groups: tuple[tuple[float, ...], ...]) -> NDArray:
    lists = product(*(arrangements(group) for group in groups))
    return np.mean([values(tuple(chain(*listed))) for listed in lists], axis=0)


@cache
def small_cases() -> tuple[list[Case], Ranks, dict[str, NDArray]]:
    """20,000 random cases of up to 7 candidates, their ranks, and what every metric should say."""
    rng = np.random.default_rng(20)
    sizes = rng.integers(1, 8, 20_000)
    cases = [random_case(rng, int(n), levels=int(rng.integers(0, n + 1))) for n in sizes]
    binary = [mean_over_orders(binary_values, case.tie_groups(case.relevant)) for case in cases]
    graded = [
        mean_over_orders(graded_values, case.tie_groups([grade or 0.0 for grade in case.grades])) for case in cases
    ]
    columns = np.hstack([binary, graded]).T
    return cases, counted(cases), dict(zip(map(str, BINARY + GRADED), columns, strict=True))


def test_the_random_cases_are_of_every_kind() -> None:
    cases, ranks, _ = small_cases()
    assert set(RANKED) == {*brute.MEASURES, "graded_ndcg"}  # nothing is left out
    tied_hits = np.array(
        [len(set(ranks.before[a:b])) < b - a for a, b in zip(ranks.start, ranks.start[1:], strict=False)]
    )
    tied_others = np.maximum.reduceat(ranks.tied, ranks.start[:-1]) > 0
    kinds = {
        "one item": ranks.candidates == 1,
        "no irrelevant candidates": (ranks.pool == 0) & (ranks.sizes > 1),
        "all tied": np.array([len(set(case.scores)) == 1 and len(case.scores) > 3 for case in cases]),
        "no ties": ~tied_hits & ~tied_others & (ranks.sizes > 2),
        "ties among relevant items only": tied_hits & ~tied_others,
        "ties with irrelevant items only": ~tied_hits & tied_others,
        "ties of both kinds": tied_hits & tied_others & (ranks.sizes > 2),
        "nothing gained": ranks.per_case(ranks.grade) == 0,
    }
    assert {kind: int(among.sum()) for kind, among in kinds.items() if among.sum() < 200} == {}


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_definitions_over_every_tie_order(metric: Metric) -> None:
    cases, ranks, expected = small_cases()
    assert not far_apart(metric, metric(ranks), expected[str(metric)], cases)


def test_the_order_of_relevant_items_need_not_be_told() -> None:
    cases, _, expected = small_cases()
    ranks = counted(cases, grades=False)
    for metric in BINARY:
        assert not far_apart(metric, metric(ranks), expected[str(metric)], cases)


# -- longer lists: exact chances, and simulation


def hit_chances(groups: Sequence[tuple[float, ...]]) -> NDArray:
    """P(position p holds a relevant item, with h others ahead of it), at [p-1, h]: drawn one by one, in fractions."""
    hits = sum(sum(group) for group in groups)
    chances = []
    for n, group in enumerate(groups):
        before, relevant = int(sum(map(sum, groups[:n]))), int(sum(group))
        now = {before: Fraction(1)}  # chances of having seen so many relevant items
        for left in range(len(group), 0, -1):
            here = {h: p * Fraction(relevant - (h - before), left) for h, p in now.items()}
            chances.append([float(here.get(h, 0)) for h in range(int(hits))])
            after = {h: p - here[h] for h, p in now.items()}
            for h, p in here.items():
                after[h + 1] = after.get(h + 1, Fraction(0)) + p
            now = {h: p for h, p in after.items() if p}
    return np.array(chances)  # (positions, relevant items)


def worth(metric: Metric, n: int, hits: int) -> NDArray:
    """What a relevant item at position p adds to the measure, if h others are ahead of it, at [p-1, h]."""
    p, h = np.arange(1, n + 1)[:, None], np.arange(hits)[None, :]
    k = metric.k
    lag, discount = (p - 1) / (n - 1), 1 / np.log2(p + 1)
    first = p <= (n if k is None else k)  # for k a length
    most = hits if k is None else min(hits, k)
    width = 1.0 if k is None else (k - 1) / (n - 1) if isinstance(k, int) else k
    decay = 0.5 ** ((p - 1) / max((5 if k is None else k) - 1, 1e-3))  # k = 1: only the first counts
    formulas: dict[str, Callable[[], NDArray]] = {
        "recall": lambda: first / hits,
        "capped_recall": lambda: first / most,
        "precision": lambda: first / (n if k is None else k),
        "hit_rate": lambda: first * (h == 0),
        "rr": lambda: first * (h == 0) / p,
        "ap": lambda: first * (h + 1) / p / most,
        "ndcg": lambda: first * discount / discount[: int(most)].sum(),
        "adg": lambda: discount / hits,
        "auc": lambda: ((n - hits) - (p - 1 - h)) / (n - hits) / hits,
        "topk": lambda: (first if k is None or isinstance(k, int) else lag <= k + 1e-12) / hits,
        "atop": lambda: (np.maximum(0, 1 - lag / width) if width > 0 else p == 1) / hits,
        "mean_rank": lambda: p / hits,
        "mean_percentile": lambda: lag / hits,
        "r_score": lambda: decay / decay[:hits].sum(),
    }
    return formulas[metric.name]() * np.ones_like(h)


@cache
def long_cases() -> list[Case]:
    """500 random cases of 20 to 60 candidates, with up to 12 relevant."""
    rng = np.random.default_rng(500)
    return [random_case(rng, int(n), levels=int(rng.choice([1, 3, 8, 25])), most=12) for n in rng.integers(20, 61, 500)]


def test_exact_chances_on_longer_lists() -> None:
    cases = long_cases()
    ranks = counted(cases)
    chances = [hit_chances(case.tie_groups(case.relevant)) for case in cases]
    assert np.allclose([chance.sum() for chance in chances], ranks.sizes)
    for metric in BINARY:
        expected = np.array([(chance * worth(metric, *chance.shape)).sum() for chance in chances])
        assert not far_apart(metric, metric(ranks), expected, cases)


def test_simulated_tie_breaking() -> None:
    """The mean of the definitions over 1,000 random orders is within 5 standard errors of the expectation."""
    rng = np.random.default_rng(1000)
    cases = [case for case in long_cases() if len(set(case.scores)) < 12][:8]
    ranks = counted(cases)
    cuts = {"length": 10, "half-life": 10, "share or length": 0.25}
    metrics = [*RANKED.values(), *(found @ cuts[found.cut] for found in RANKED.values() if found.cut)]
    values = np.empty((1000, len(cases), len(metrics)))
    for n, case in enumerate(cases):
        grades, relevant = np.array([grade or 0.0 for grade in case.grades]), np.array(case.relevant)
        for draw in range(1000):
            order = np.lexsort((rng.random(len(relevant)), -np.array(case.scores)))
            hits, gains = relevant[order].tolist(), grades[order].tolist()
            for m, metric in enumerate(metrics):
                of_list = brute.MEASURES.get(metric.name)
                values[draw, n, m] = of_list(hits, metric.k) if of_list else brute.graded_ndcg(gains, metric.k)
    expected = np.array([metric(ranks) for metric in metrics]).T
    error = values.std(axis=0, ddof=1) / np.sqrt(1000)
    assert (np.abs(values.mean(axis=0) - expected) <= 5 * error + CLOSE).all()
    assert (error > 1e-9).mean() > 0.7  # some are constant, as recall without a cut-off


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


def listed(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Runs in the form of trec_eval and ranx: item -> score, all distinct and exact in float32."""
    return {f"{n:05}": {str(i): float(score) for i, score in enumerate(case.scores)} for n, case in enumerate(cases)}


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


# -- properties


@st.composite
def one_case(draw: st.DrawFn) -> Case:
    grade = st.sampled_from([None, 0.0, 0.5, 1.0, 3.0])
    items = draw(st.lists(st.tuples(st.integers(0, 8), grade), max_size=11))
    scores, grades = zip(*[(draw(st.integers(0, 8)), draw(st.sampled_from([0.0, 2.0]))), *items], strict=True)
    return Case(scores, grades)


some_cases = st.lists(one_case(), min_size=1, max_size=6)


@given(cases=some_cases)
def test_values_are_in_their_range(cases: list[Case]) -> None:
    ranks = counted(cases)
    for metric in METRICS:
        low, high = sorted((metric.best, metric.worst))
        values, high = metric(ranks), np.minimum(high, ranks.candidates if metric.name == "mean_rank" else np.inf)
        assert np.isfinite(values).all()
        assert ((low - CLOSE <= values) & (values <= high + CLOSE)).all(), str(metric)


@given(cases=some_cases)
def test_the_ideal_order_scores_one(cases: list[Case]) -> None:
    """And its reverse is the worst there is."""
    ideal = counted(
        [Case(tuple(-1.0 if grade is None else grade for grade in case.grades), case.grades) for case in cases]
    )
    best = {"ap", "ndcg", "graded_ndcg", "rr", "hit_rate", "capped_recall", "r_score", "auc"}
    for metric in METRICS:
        defined = {"auc": ideal.pool > 0, "graded_ndcg": ideal.per_case(ideal.grade) > 0}.get(
            metric.name, ideal.pool >= 0
        )
        if metric.name in best:
            assert metric(ideal)[defined] == pytest.approx(1.0, abs=CLOSE), str(metric)
    worst = counted([Case(tuple(float(grade is None) for grade in case.grades), case.grades) for case in cases])
    assert (RANKED["auc"](worst)[worst.pool > 0] == 0).all()
    assert (RANKED["hit_rate"] @ 2)(worst)[worst.pool > 1] == pytest.approx(0.0, abs=CLOSE)
    assert RANKED["rr"](worst) == pytest.approx(1 / (worst.pool + 1))


@given(cases=some_cases, tail=st.integers(1, 30))
def test_an_irrelevant_tail_changes_nothing_on_top(cases: list[Case], tail: int) -> None:
    longer = [Case((*case.scores, *[-1.0] * tail), (*case.grades, *[None] * tail)) for case in cases]
    before, after = counted(cases), counted(longer)
    for metric in METRICS:
        by_length = metric.name in ("topk", "atop") and isinstance(metric.k, int)
        of_all = metric.name in ("auc", "topk", "atop", "mean_percentile") and not by_length
        if metric.name == "precision" and metric.k is None:
            assert (metric(after) < metric(before)).all()
        elif not of_all:
            assert np.array_equal(metric(after), metric(before)), str(metric)
        elif metric.name != "topk":
            better = metric(after) - metric(before) if metric.best else metric(before) - metric(after)
            assert (better[before.pool > 0] >= -CLOSE).all(), str(metric)


@given(case=one_case(), by=st.integers(1, 9))
def test_a_better_place_of_a_relevant_item_is_never_worse(case: Case, by: int) -> None:
    """Moving up the first of the relevant items, past irrelevant and relevant ones, into ties and out of them."""
    moved = case.relevant.index(True)
    scores = tuple(score + by * (n == moved) for n, score in enumerate(case.scores))
    ranks = counted([case, Case(scores, case.grades)])
    for metric in BINARY:  # of graded items, one may pass a better one
        before, after = metric(ranks)
        assert (after - before) * (-1 if metric.worst > metric.best else 1) >= -CLOSE, str(metric)


@given(cases=some_cases, seed=st.integers(0, 99))
def test_cases_in_any_order_and_in_shards(cases: list[Case], seed: int) -> None:
    """To the bit, also with grades."""
    order = np.random.default_rng(seed).permutation(len(cases))
    whole, moved = counted(cases), counted([cases[n] for n in order])
    cut = seed % len(cases)
    shards = Ranks.concat([counted(part) for part in (cases[:cut], cases[cut:]) if part])
    assert shards == whole
    for metric in METRICS:
        assert np.array_equal(metric(moved), metric(whole)[order]), str(metric)
        assert np.array_equal(metric(shards), metric(whole)), str(metric)


@given(
    scores=st.lists(st.lists(st.integers(-9, 9), min_size=8, max_size=8), min_size=2, max_size=4),
    change=st.sampled_from([lambda s: 3 * s - 7, lambda s: s**3, lambda s: np.exp(s / 2), lambda s: -np.exp2(-s)]),
    seed=st.integers(0, 99),
)
def test_only_the_order_of_scores_matters(scores: list[list[int]], change: Callable, seed: int) -> None:
    plain = np.array(scores, dtype=np.float32)
    part = np.random.default_rng(seed).integers(0, 3, plain.shape)  # nothing, train, held out
    part[0, 0] = 2

    def of(which: int) -> Interactions:
        user, item = np.nonzero(part == which)
        values = (1 + item % 5).astype(np.float32)
        return Interactions(user, item, values, None, Ids.numbered(len(part)), Ids.numbered(8))

    split = Split(of(1), of(2))
    assert rank(change(plain).astype(np.float32), split) == rank(plain, split)
