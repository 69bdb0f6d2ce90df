"""EDRC: the thesis's example, a brute force with exact fractions, and the fast way against the long one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.errors import DataError, ParameterError
from fullrank.metrics.edrc import edrc, edrc_of_edges
from fullrank.metrics.partial_order import tau_ap
from tests.metrics.test_partial_order import columns, graded, random_cases, rows

# S2 Table 5.1, with the pair B > E that its calculation uses
TRUTH = [("A", "C"), ("A", "D"), ("A", "E"), ("B", "D"), ("B", "E"), ("C", "D")]
PREDICTED = [("C", "A"), ("C", "B"), ("C", "D"), ("A", "E"), ("B", "E"), ("D", "E")]
Edges = list[tuple[int, int]]


def less_one(rank: np.ndarray) -> np.ndarray:
    """With total orders this discount makes EDRC the AP correlation."""
    return rank - 1


DISCOUNTS = ["linear", "logarithmic", "exponential", less_one, lambda rank: rank**2]


def closure(n: int, edges: Edges) -> np.ndarray:
    reached = np.zeros((n, n), dtype=bool)
    for better, worse in edges:
        reached[better, worse] = True
    for middle in range(n):
        reached |= reached[:, [middle]] & reached[[middle], :]
    return reached


def brute(n: int, truth: Edges, predicted: Edges, discount: Callable[[int], Fraction]) -> Fraction | None:
    """The definition, word for word, on the closures."""
    before, said = closure(n, truth), closure(n, predicted)

    def longest(v: int) -> int:
        return 1 + max((longest(better) for better, worse in truth if worse == v), default=0)

    above, z = Fraction(0), Fraction(0)
    for v in range(n):
        if longest(v) == 1:
            continue
        d = discount(longest(v))
        for w in range(n):
            if w == v or before[v, w]:
                continue
            right = Fraction(1, 2)
            if before[w, v] and said[w, v] != said[v, w]:
                right = Fraction(int(said[w, v]))
            above, z = above + right / d, z + 1 / d
    return 2 * above / z - 1 if z else None


@st.composite
def partial_order(draw: st.DrawFn, n: int) -> Edges:
    place = draw(st.permutations(range(n)))
    possible = [(place[a], place[b]) for a, b in combinations(range(n), 2)]
    return draw(st.lists(st.sampled_from(possible), max_size=12)) if possible else []


# -- the definition


def test_the_thesis_example() -> None:
    assert edrc_of_edges(TRUTH, PREDICTED) == pytest.approx(5 / 29, abs=1e-15)
    printed = [pair for pair in TRUTH if pair != ("B", "E")]
    assert edrc_of_edges(printed, PREDICTED) == pytest.approx(2 / 29, abs=1e-15)


def test_the_example_with_the_other_discounts() -> None:
    # ranks: C 2, D 3, E 2; C(v) = 1, 2.5, 3; |W| = 3, 4, 4
    logs = 1 / np.log2(3), 1 / 2, 1 / np.log2(3)
    expected = 2 * np.dot([1, 2.5, 3], logs) / np.dot([3, 4, 4], logs) - 1
    assert edrc_of_edges(TRUTH, PREDICTED, discount="logarithmic") == pytest.approx(expected, abs=1e-15)
    expected = 2 * (1 / 4 + 2.5 / 8 + 3 / 4) / (3 / 4 + 4 / 8 + 4 / 4) - 1
    assert edrc_of_edges(TRUTH, PREDICTED, discount="exponential") == pytest.approx(expected, abs=1e-15)


def test_edges_may_be_codes_repeated_in_any_order_and_arrays() -> None:
    def code(pairs: list[tuple[str, str]]) -> Edges:
        return [("EACBD".index(better), "EACBD".index(worse)) for better, worse in pairs]

    value = edrc_of_edges(TRUTH, PREDICTED)
    assert edrc_of_edges(code(TRUTH), code(PREDICTED)) == pytest.approx(value, abs=1e-15)
    assert edrc_of_edges(np.array(code(TRUTH)), np.array(code(PREDICTED))) == pytest.approx(value, abs=1e-15)
    assert edrc_of_edges(TRUTH[::-1] * 2, iter(PREDICTED * 3)) == pytest.approx(value, abs=1e-15)


@given(st.data(), st.integers(2, 6))
def test_edges_against_brute_force(data: st.DataObject, n: int) -> None:
    truth, predicted = data.draw(partial_order(n)), data.draw(partial_order(n))
    if data.draw(st.booleans()):  # predictions may contradict themselves
        predicted += [(b, a) for a, b in predicted[::2]]
    exact = {"linear": Fraction, "exponential": lambda r: Fraction(2**r), less_one: lambda r: Fraction(r - 1)}
    for discount, fraction in exact.items():
        expected = brute(n, truth, predicted, fraction)
        value = edrc_of_edges(truth, predicted, items=range(n), discount=discount)
        assert np.isnan(value) if expected is None else value == pytest.approx(float(expected), abs=1e-12)


@given(st.data(), st.integers(2, 6))
def test_perfect_opposite_and_silent_predictions(data: st.DataObject, n: int) -> None:
    truth = data.draw(partial_order(n).filter(bool))
    best, silent = edrc_of_edges(truth, truth), edrc_of_edges(truth, [])
    worst = edrc_of_edges(truth, [(b, a) for a, b in truth])
    assert silent == pytest.approx(0, abs=1e-15)
    assert best == pytest.approx(-worst, abs=1e-15)
    assert 0 < best <= 1
    for order in list(permutations(dict.fromkeys(v for pair in truth for v in pair)))[:6]:
        assert worst - 1e-12 <= edrc_of_edges(truth, list(combinations(order, 2))) <= best + 1e-12


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_total_orders_reach_both_ends(discount: object) -> None:
    chain = [(v, v + 1) for v in range(9)]
    assert edrc_of_edges(chain, chain, discount=discount) == pytest.approx(1, abs=1e-15)
    assert edrc_of_edges(chain, [(b, a) for a, b in chain], discount=discount) == pytest.approx(-1, abs=1e-15)


def test_long_chains_need_no_recursion() -> None:
    chain = [(v, v + 1) for v in range(1500)]
    scores = {v: -float(v) for v in range(1501)}
    for discount in ("linear", "exponential"):  # 2^1500 is beyond floats: only its inverse is taken
        assert edrc_of_edges(chain, scores, discount=discount) == pytest.approx(1, abs=1e-12)


def test_items_outside_the_truth() -> None:
    # F is unordered against D, the only item below a source: half a point of |W| = 2
    assert edrc_of_edges([("A", "D")], [("A", "D")]) == 1
    assert edrc_of_edges([("A", "D")], [("A", "D")], items="ADF") == pytest.approx(2 / 2 * 1.5 - 1)
    with pytest.raises(DataError, match="item 'F' is not among the items of the truth; name all with items="):
        edrc_of_edges([("A", "D")], [("A", "F")])
    with pytest.raises(DataError, match="item 'D' is not among"):
        edrc_of_edges([("A", "D")], [], items="AF")


def test_scores_as_prediction() -> None:
    scores = {"A": 2.0, "B": 1.0, "C": 3.0, "D": 1.0, "E": 1.0}
    pairs = [(v, w) for v in scores for w in scores if scores[v] > scores[w]]
    assert edrc_of_edges(TRUTH, scores) == pytest.approx(edrc_of_edges(TRUTH, pairs), abs=1e-15)
    for wrong in ({**scores, "E": np.nan}, {name: value for name, value in scores.items() if name != "E"}):
        with pytest.raises(DataError, match="item 'E' has no finite score"):
            edrc_of_edges(TRUTH, wrong)


def test_shares_of_similar_users_for_what_the_truth_leaves_open() -> None:
    # C against B and E, D against E, E against C and D are open. Predicted: C > B, C > D > E and so C > E
    asked = []

    def share(better: str, worse: str) -> float:
        asked.append(better + worse)
        return {"CB": 0.9, "CE": 0.7, "DE": 0.2}[better + worse]

    value = edrc_of_edges(TRUTH, PREDICTED, share=share)
    c, d, e = 0 + 0.9 + 0.7, 0.5 + 0.5 + 1 + 0.2, 1 + 1 + 0.7 + 0.2
    assert value == pytest.approx(2 * (c / 2 + d / 3 + e / 2) / (29 / 6) - 1, abs=1e-15)
    assert sorted(asked) == ["CB", "CE", "CE", "DE", "DE"]
    assert edrc_of_edges(TRUTH, PREDICTED, share=lambda better, worse: 0.5) == pytest.approx(5 / 29, abs=1e-15)
    # what the prediction leaves open stays one half, whatever others prefer
    assert edrc_of_edges(TRUTH, [], share=share) == pytest.approx(0, abs=1e-15)
    with pytest.raises(ParameterError, match=r"'share' parameter .* Got 1.5"):
        edrc_of_edges(TRUTH, PREDICTED, share=lambda better, worse: 1.5)


def test_a_cycle_in_the_truth_is_named() -> None:
    with pytest.raises(DataError, match=r"cycle, 'A' > 'C' > 'D' > 'A'; remove one") as error:
        edrc_of_edges([*TRUTH, ("D", "A")], PREDICTED)
    assert "'B'" not in str(error.value)
    with pytest.raises(DataError, match=r"cycle, 1 > 1;"):
        edrc_of_edges([(1, 1)], [])
    with pytest.raises(DataError, match=r"cycle, (1 > 2 > 1|2 > 1 > 2);"):
        edrc_of_edges([(0, 1), (1, 2), (2, 1), (2, 3), (3, 4)], [])  # 3 and 4 are only below it


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_every_named_cycle_is_one(edges: Edges) -> None:
    try:
        edrc_of_edges(edges, [])
        assert not closure(6, edges).diagonal().any()
    except DataError as error:
        named = [int(v) for v in str(error).split("cycle, ")[1].split(";")[0].split(" > ")]
        assert len(named) > 1
        assert named[0] == named[-1]
        assert len(set(named)) == len(named) - 1
        assert set(pairwise(named)) <= set(edges)


def test_a_cycle_in_the_prediction_says_nothing() -> None:
    cycle = [("A", "C"), ("C", "D"), ("D", "A"), ("A", "E"), ("B", "E")]  # D > A > E follows
    pairs = [("A", "E"), ("C", "E"), ("D", "E"), ("B", "E")]
    assert edrc_of_edges(TRUTH, cycle) == pytest.approx(edrc_of_edges(TRUTH, pairs), abs=1e-15)


def test_no_preference_is_undefined() -> None:
    assert np.isnan(edrc_of_edges([], []))
    assert np.isnan(edrc_of_edges([], [("A", "B")], items="AB"))


@pytest.mark.parametrize("wrong", ["cubic", None, 2])
def test_unknown_discounts(wrong: object) -> None:
    with pytest.raises(ParameterError, match="'discount' parameter must be one of linear, logarithmic, exponential"):
        edrc(graded([2, 1]), [2.0, 1.0], wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'discount'"):
        edrc_of_edges(TRUTH, PREDICTED, discount=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [lambda r: 0 * r, lambda r: 2 - r, lambda r: np.nan * r, lambda r: 1.0])
def test_discounts_that_are_no_weights(wrong: Callable[[np.ndarray], np.ndarray]) -> None:
    with pytest.raises(ParameterError, match="must be positive finite numbers"):
        edrc(graded([3, 2, 1]), [2.0, 1.0, 0.0], wrong)


def test_pairs_that_are_no_pairs() -> None:
    with pytest.raises(DataError, match=r"\(better, worse\) pairs, got \(1, 2, 3\)"):
        edrc_of_edges([(0, 1), (1, 2, 3)], [])


# -- graded cases, the fast way


def long_way(cases: list[list[tuple[int, int]]], discount: object) -> list[float]:
    values = []
    for case in cases:
        n = range(len(case))
        truth = [(v, w) for v in n for w in n if case[v][0] > case[w][0]]
        predicted = [(v, w) for v in n for w in n if case[v][1] > case[w][1]]
        values.append(edrc_of_edges(truth, predicted, items=n, discount=discount))
    return values


@pytest.mark.parametrize("discount", DISCOUNTS)
@given(cases=rows(7))
def test_fast_way_equals_edges(discount: object, cases: list[list[tuple[int, int]]]) -> None:
    found, scores = columns(cases)
    np.testing.assert_allclose(edrc(found, scores, discount), long_way(cases, discount), rtol=0, atol=1e-12)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_fast_way_equals_edges_in_larger_cases(discount: object) -> None:
    found, scores = random_cases(11, cases=20, most=60)
    offers = list(zip(found.grade.tolist(), scores.tolist(), strict=True))
    cases = [offers[a:b] for a, b in zip(found.start, found.start[1:], strict=False)]
    np.testing.assert_allclose(edrc(found, scores, discount), long_way(cases, discount), rtol=0, atol=1e-12)


def test_by_hand() -> None:
    # classes {a}, {b, c}, {d}; predicted b a d c. R: 2, 2, 3
    case, scores = graded([5, 3, 3, 1]), [3.0, 4.0, 1.0, 2.0]
    b, c, d = 0 + 0.5, 1 + 0.5, 1 + 1 + 0
    assert edrc(case, scores) == pytest.approx(2 * (b / 2 + c / 2 + d / 3) / (2 / 2 + 2 / 2 + 3 / 3) - 1)


def test_ap_correlation_is_the_case_of_total_orders() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 100):
        case = graded(rng.permutation(n).tolist())
        for scores in (rng.normal(size=n), rng.integers(0, 4, n)):  # scores may tie
            expected = tau_ap(case, scores, along="truth")
            np.testing.assert_allclose(edrc(case, scores, less_one), expected, atol=1e-12)
