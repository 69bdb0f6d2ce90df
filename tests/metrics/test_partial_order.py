"""Measures of how scores order graded items: by hand, by brute force, against scipy, by invariance."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError, ParameterError
from fullrank.metrics.edrc import edrc
from fullrank.metrics.partial_order import (
    counted,
    fcp,
    kendall,
    ndpm,
    pair_errors,
    pairwise_loss,
    preference_errors,
    preference_loss,
    spearman,
    tau_ap,
)

ALL: dict[str, Callable[..., np.ndarray]] = {
    "loss": pairwise_loss,
    "loss, ties wrong": lambda g, s: pairwise_loss(g, s, ties="wrong"),
    "fcp": fcp,
    "ndpm": ndpm,
    "kendall": kendall,
    "spearman": spearman,
    "tau_ap": tau_ap,
    "tau_ap truth": lambda g, s: tau_ap(g, s, along="truth"),
    "tau_ap both": lambda g, s: tau_ap(g, s, along="both"),
    "edrc": edrc,
    "edrc logarithmic": lambda g, s: edrc(g, s, "logarithmic"),
    "edrc exponential": lambda g, s: edrc(g, s, "exponential"),
}
LOSSES = {"loss", "loss, ties wrong", "ndpm"}


def graded(*grades: list[float]) -> Graded:
    """One case per list; items 0, 1, ... in each."""
    sizes = [len(case) for case in grades]
    return Graded(
        start=np.cumsum([0, *sizes]),
        item=np.concatenate([np.arange(size) for size in sizes] or [np.zeros(0, dtype=int)]),
        grade=np.array([grade for case in grades for grade in case], dtype=np.float32),
        user=np.arange(len(sizes)),
        users=Ids.numbered(len(sizes)),
        items=Ids.numbered(max(sizes, default=0)),
    )


def rows(max_items: int) -> st.SearchStrategy[list[list[tuple[int, int]]]]:
    """Cases of (grade, score): empty ones, single items, many ties."""
    offer = st.tuples(st.integers(1, 4), st.integers(-2, 2))
    return st.lists(st.lists(offer, max_size=max_items), min_size=1, max_size=6)


def columns(cases: list[list[tuple[int, int]]]) -> tuple[Graded, np.ndarray]:
    return graded(*[[g for g, _ in case] for case in cases]), np.array(
        [s for case in cases for _, s in case], dtype=np.float64
    )


def random_cases(seed: int, cases: int = 40, most: int = 30) -> tuple[Graded, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, most + 1, cases)
    found = graded(*[rng.integers(1, 6, size).tolist() for size in sizes])
    return found, np.round(found.grade + rng.normal(0, 2, len(found.item)), rng.integers(0, 3))


def brute_pairs(case: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Concordant, discordant and all pairs of different grade."""
    signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in combinations(case, 2) if a[0] != b[0]]
    return sum(s > 0 for s in signs), sum(s < 0 for s in signs), len(signs)


# -- by hand


def test_the_thesis_example() -> None:
    # Ackerman 2012, Table 2.4: ratings 5 4 3 2, predicted order B A C D
    case, scores = graded([5, 4, 3, 2]), [3.0, 4.0, 2.0, 1.0]
    assert tau_ap(case, scores) == pytest.approx(1 / 3)  # Eq. 2.11
    assert pairwise_loss(case, scores) == pytest.approx(1 / 6)
    assert kendall(case, scores) == pytest.approx(4 / 6)
    assert spearman(case, scores) == pytest.approx(1 - 6 * 2 / (4 * 15))


def test_ap_correlation_is_not_symmetric() -> None:
    case, scores = graded([4, 3, 2, 1]), [4.0, 1.0, 3.0, 2.0]  # truth a b c d, predicted a c d b
    along_prediction = 2 / 3 * (1 / 1 + 2 / 2 + 1 / 3) - 1
    along_truth = 2 / 3 * (1 / 1 + 1 / 2 + 2 / 3) - 1
    assert tau_ap(case, scores) == pytest.approx(along_prediction)
    assert tau_ap(case, scores, along="truth") == pytest.approx(along_truth)
    assert tau_ap(case, scores, along="both") == pytest.approx((along_prediction + along_truth) / 2)


def test_ties_of_scores_count_half_or_wrong() -> None:
    case = graded([5, 3, 3, 1])  # 5 preferences; wrong: 1 > 3; tied: 5 = 3
    scores = [2.0, 2.0, 0.0, 1.0]
    assert pair_errors(case, scores).wrong.tolist() == [1.5]
    assert pair_errors(case, scores, ties="wrong").wrong.tolist() == [2]
    assert pair_errors(case, scores).total.tolist() == [5]
    assert fcp(case, scores) == pytest.approx(0.7)
    assert ndpm(case, scores) == pytest.approx((2 * 1 + 1) / (2 * 5))


def test_pooled_and_per_case_average_over_the_same_cases() -> None:
    case = graded([3, 2, 1], [1, 2], [4, 4], [5])
    scores = [3.0, 2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 0.0]
    errors = pair_errors(case, scores)
    assert errors.pooled() == 1 / 4
    np.testing.assert_array_equal(errors.per_case(), [0, 1, np.nan, np.nan])
    # two users with 3 concordant pairs, one with 1 discordant: Surprise averages each count over the users
    # that have any, 3 / (3 + 1)
    more = graded([3, 2, 1], [3, 2, 1], [1, 2])
    assert 1 - pair_errors(more, [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 2.0, 1.0]).pooled() == pytest.approx(6 / 7)


def test_cases_without_preference_are_counted_by_reason() -> None:
    cases = graded([3, 2, 1], [], [4, 4], [5], [4, 4, 4])
    mask, skipped = counted(cases)
    assert mask.tolist() == [True, False, False, False, False]
    assert skipped == {"fewer than two items": 2, "all grades equal": 2}
    assert counted(graded([2, 1])).skipped == {}


# -- by brute force


@given(rows(7))
def test_pairs_against_brute_force(cases: list[list[tuple[int, int]]]) -> None:
    found, scores = columns(cases)
    expected = [brute_pairs(case) for case in cases]
    errors, strict = pair_errors(found, scores), pair_errors(found, scores, ties="wrong")
    assert errors.total.tolist() == [total for _, _, total in expected]
    assert errors.wrong.tolist() == [(total - right + wrong) / 2 for right, wrong, total in expected]
    assert strict.wrong.tolist() == [total - right for right, _, total in expected]


def orders(values: list[int]) -> list[tuple[int, ...]]:
    """All orders of the items that put higher values first."""
    return [p for p in permutations(range(len(values))) if all(values[a] >= values[b] for a, b in pairwise(p))]


def brute_tau_ap(listed: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
    place = {item: at for at, item in enumerate(other)}
    shares = [
        Fraction(sum(place[w] < place[listed[p]] for w in listed[:p]), p) for p in range(1, len(listed))
    ]  # p items ahead of position p + 1
    return 2 * sum(shares, Fraction(0)) / (len(listed) - 1) - 1


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=4))
def test_ap_correlation_is_the_expectation_over_broken_ties(case: list[tuple[int, int]]) -> None:
    found, scores = columns([case])
    truths, predictions = orders([g for g, _ in case]), orders([s for _, s in case])
    both = [(p, t) for p in predictions for t in truths]
    if len(set(found.grade.tolist())) == 1:
        assert np.isnan(tau_ap(found, scores)).all()
        return
    along = sum(brute_tau_ap(p, t) for p, t in both) / len(both)
    back = sum(brute_tau_ap(t, p) for p, t in both) / len(both)
    assert tau_ap(found, scores)[0] == pytest.approx(float(along), abs=1e-12)
    assert tau_ap(found, scores, along="truth")[0] == pytest.approx(float(back), abs=1e-12)
    assert tau_ap(found, scores, along="both")[0] == pytest.approx(float(along + back) / 2, abs=1e-12)


@given(rows(9))
def test_correlations_against_scipy(cases: list[list[tuple[int, int]]]) -> None:
    found, scores = columns(cases)
    for name, oracle in (("kendall", stats.kendalltau), ("spearman", stats.spearmanr)):
        values = ALL[name](found, scores)
        for value, case in zip(values, cases, strict=True):
            grades, predicted = {g for g, _ in case}, {s for _, s in case}
            if len(grades) < 2:
                assert np.isnan(value)
            elif len(predicted) < 2:
                assert value == 0  # a constant scorer stays in the mean
            else:
                assert value == pytest.approx(oracle(*zip(*case, strict=True)).statistic, abs=1e-12)


def test_large_cases_against_scipy() -> None:
    found, scores = random_cases(5, cases=3, most=2000)
    for case, (begin, end) in enumerate(zip(found.start, found.start[1:], strict=False)):
        truth, predicted = found.grade[begin:end], scores[begin:end]
        assert kendall(found, scores)[case] == pytest.approx(stats.kendalltau(truth, predicted).statistic, abs=1e-12)
        assert spearman(found, scores)[case] == pytest.approx(stats.spearmanr(truth, predicted).statistic, abs=1e-12)


def test_pairs_are_never_enumerated() -> None:
    n = 200_000  # 2 x 10^10 pairs
    case = graded(np.arange(n).tolist())
    scores = np.arange(n)
    assert pairwise_loss(case, scores) == 0
    assert pairwise_loss(case, -scores) == 1
    assert kendall(case, scores) == 1
    assert tau_ap(case, scores) == pytest.approx(1, abs=1e-12)
    assert edrc(case, scores) == pytest.approx(1, abs=1e-12)


# -- invariance


@pytest.mark.parametrize("name", ALL)
def test_nan_exactly_where_the_truth_orders_nothing(name: str) -> None:
    for seed in range(5):
        found, scores = random_cases(seed, most=4)
        undefined = ~counted(found).cases
        assert undefined.any()
        for tried in (scores, np.zeros(len(scores))):
            np.testing.assert_array_equal(np.isnan(ALL[name](found, tried)), undefined)


@pytest.mark.parametrize("name", ALL)
def test_a_constant_scorer_gets_what_a_random_order_gets(name: str) -> None:
    found, scores = random_cases(1)
    values = ALL[name](found, np.zeros(len(scores)))[counted(found).cases]
    random = {"fcp": 0.5, "loss": 0.5, "ndpm": 0.5, "loss, ties wrong": 1.0}.get(name, 0.0)
    np.testing.assert_allclose(values, random, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_only_the_order_of_scores_matters(name: str) -> None:
    found, scores = random_cases(2)
    expected = ALL[name](found, scores)
    for transformed in (3 * scores - 70, np.exp(scores / 4), np.arctan(scores), scores.astype(np.float32)):
        np.testing.assert_array_equal(ALL[name](found, transformed), expected)
    per_case = scores + np.random.default_rng(0).normal(0, 99, len(found))[found.case]  # each case its own scale
    np.testing.assert_allclose(ALL[name](found, np.round(per_case, 9)), expected, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_items_may_be_renamed_and_cases_shuffled(name: str) -> None:
    found, scores = random_cases(3)
    rng = np.random.default_rng(0)
    label, place = rng.permutation(len(found.items)), rng.permutation(len(found))
    order = np.lexsort((label[found.item], place[found.case]))
    shuffled = Graded(
        start=np.concatenate([[0], np.cumsum(np.bincount(place[found.case], minlength=len(found)))]),
        item=label[found.item][order],
        grade=found.grade[order],
        user=np.argsort(place),
        users=found.users,
        items=found.items,
    )
    np.testing.assert_array_equal(ALL[name](shuffled, scores[order])[place], ALL[name](found, scores))


@pytest.mark.parametrize("name", ALL)
def test_a_case_does_not_depend_on_its_neighbours(name: str) -> None:
    found, scores = random_cases(4)
    some = np.arange(len(found)) % 3 == 0
    expected = ALL[name](found, scores)[some]
    np.testing.assert_array_equal(ALL[name](found.where(some), scores[some[found.case]]), expected)


@pytest.mark.parametrize("name", ALL)
def test_range_and_reversal(name: str) -> None:
    found, scores = random_cases(6)
    low, high = (0, 1) if name in LOSSES | {"fcp"} else (-1, 1)
    values, reversed_values = ALL[name](found, scores), ALL[name](found, -scores)
    kept = counted(found).cases
    assert (values[kept] >= low).all()
    assert (values[kept] <= high).all()
    if name in {"loss", "fcp", "ndpm", "kendall", "spearman"}:
        np.testing.assert_allclose(values[kept] + reversed_values[kept], low + high, atol=1e-12)
    best, worst = ALL[name](found, found.grade)[kept], ALL[name](found, -found.grade)[kept]
    if name in LOSSES:
        best, worst = worst, best
    assert (best >= values[kept] - 1e-12).all()
    assert (worst <= values[kept] + 1e-12).all()
    if "tau_ap" not in name and "edrc" not in name:  # these average over what the truth leaves open
        assert (best == high).all()
        assert (worst == low).all()


def test_integers_negative_zero_and_many_types_of_scores() -> None:
    case = graded([3, 2, 1])
    assert pairwise_loss(case, [0.0, -0.0, 0.0]) == 0.5
    assert pairwise_loss(case, np.array([2**60 + 1, 2**60, 0])) == 0  # as floats the first two would tie
    assert pairwise_loss(case, np.array([3, 2, 1], dtype=np.uint8)) == 0
    assert pairwise_loss(case, [True, False, False]) == pytest.approx(1 / 6)


def test_no_cases_at_all() -> None:
    nothing = graded()
    assert all(measure(nothing, np.zeros(0)).shape == (0,) for measure in ALL.values())
    only_empty = graded([], [])
    assert all(np.isnan(measure(only_empty, np.zeros(0))).all() for measure in ALL.values())
    with pytest.raises(DataError, match="no case has a ground-truth preference"):
        pair_errors(only_empty, []).pooled()


# -- explicit preferences


def test_preferences_any_partial_order_even_cycles() -> None:
    # sorted: u1 a>b, u1 b>c, u1 c>a, u2 a>c
    cyclic = Preferences.of(user=["u1"] * 3 + ["u2"], better=["a", "b", "c", "a"], worse=["b", "c", "a", "c"])
    better, worse = np.array([3.0, 2, 1, 5]), np.array([2.0, 1, 3, 5])
    assert preference_loss(cyclic, better, worse) == pytest.approx([1 / 3, 1 / 2])
    assert preference_loss(cyclic, better, worse, ties="wrong") == pytest.approx([1 / 3, 1])
    assert preference_errors(cyclic, better, worse).pooled() == pytest.approx(1.5 / 4)


@given(rows(6))
def test_preferences_of_graded_cases_have_the_same_loss(cases: list[list[tuple[int, int]]]) -> None:
    found, scores = columns(cases)
    pairs = found.pairs()
    row = {(int(c), int(i)): at for at, (c, i) in enumerate(zip(found.case, found.item, strict=True))}
    sides = [
        [scores[row[int(u), int(i)]] for u, i in zip(pairs.user, side, strict=True)]
        for side in (pairs.better, pairs.worse)
    ]
    better, worse = (np.array(side, dtype=float) for side in sides)
    np.testing.assert_array_equal(preference_loss(pairs, better, worse), pairwise_loss(found, scores))
    some = counted(pairs)
    np.testing.assert_array_equal(some.cases, counted(found).cases)
    assert sum(some.skipped.values()) == (~some.cases).sum()


# -- errors


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_name_the_case(name: str, bad: float) -> None:
    shop = Graded.of(session=["s1", "s1", "s2", "s2"], item=["x", "y", "x", "y"], grade=[1, 2, 2, 1])
    with pytest.raises(DataError, match=rf"case 's2', item 'y': the score is {bad}; .* regularisation"):
        ALL[name](shop, [1.0, 2.0, 3.0, bad])
    with pytest.raises(DataError, match=r"case 1 \(user 1\), item 0"):
        ALL[name](graded([2, 1], [2, 1]), [1.0, 2.0, bad, 1.0])


def test_wrong_shapes_and_options() -> None:
    case = graded([2, 1])
    with pytest.raises(DataError, match=r"one score per offer \(2\), got float64 of shape \(3,\)"):
        pairwise_loss(case, [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match=r"shape \(1, 2\)"):
        kendall(case, [[1.0, 2.0]])
    with pytest.raises(DataError, match="one score per offer"):
        spearman(case, ["a", "b"])
    with pytest.raises(ParameterError, match="'ties' parameter must be 'half' or 'wrong'"):
        pairwise_loss(case, [1.0, 2.0], ties="none")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'along' parameter"):
        tau_ap(case, [1.0, 2.0], along="nothing")  # type: ignore[arg-type]
    likes = Preferences.of(user=["ann"], better=["tea"], worse=["jam"])
    with pytest.raises(DataError, match="user 'ann', 'tea' over 'jam': the score is nan"):
        preference_loss(likes, [1.0], [np.nan])
    with pytest.raises(DataError, match=r"one score per preference \(1\)"):
        preference_loss(likes, [1.0, 2.0], [1.0])
    with pytest.raises(ParameterError, match="'ties'"):
        preference_loss(likes, [1.0], [1.0], ties="")  # type: ignore[arg-type]
