"""EDRC: the thesis's example, a brute force with exact fractions, and the fast way against the long one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fullrank
from fullrank.data.graded import Graded
from fullrank.errors import DataError, ParameterError
from fullrank.metrics.edrc import edrc, edrc_of_edges
from fullrank.metrics.ordered import edrc_by_similar
from fullrank.metrics.partial_order import tau_ap
from fullrank.metrics.similar_users import share_from
from fullrank.ranks import Ranks
from tests.metrics.test_partial_order import columns, graded, random_cases, rows

# Ackerman 2012, Table 5.1, with the pair B > E that its calculation uses
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


def half(better: int, worse: int) -> Fraction:
    return Fraction(1, 2)


def brute(
    n: int, truth: Edges, predicted: Edges, discount: Callable[[int], Fraction], share: Callable = half
) -> Fraction | None:
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
            ordered, silent = before[w, v], said[w, v] == said[v, w]
            if silent or (said[w, v] and not ordered):
                right = share(w, v)
            else:
                right = Fraction(int(said[w, v])) if ordered else share(v, w)
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


def shares(n: int, seed: int) -> list[list[Fraction]]:
    """Of every pair of items, some share and its rest."""
    table = [[Fraction(0)] * n for _ in range(n)]
    random = np.random.default_rng(seed)
    for a, b in combinations(range(n), 2):
        table[a][b] = Fraction(int(random.integers(0, 9)), 8)
        table[b][a] = 1 - table[a][b]
    return table


@given(st.data(), st.integers(2, 6), st.integers(0, 99))
def test_shares_against_brute_force(data: st.DataObject, n: int, seed: int) -> None:
    truth, predicted = data.draw(partial_order(n)), data.draw(partial_order(n))
    table = shares(n, seed)
    expected = brute(n, truth, predicted, Fraction, lambda better, worse: table[better][worse])
    value = edrc_of_edges(truth, predicted, items=range(n), share=lambda better, worse: float(table[better][worse]))
    assert np.isnan(value) if expected is None else value == pytest.approx(float(expected), abs=1e-12)


@given(cases=rows(6), seed=st.integers(0, 99))
def test_shares_of_graded_cases_against_edges(cases: list[list[tuple[int, int]]], seed: int) -> None:
    """Every case is of its own user, with shares of their own."""
    found, scores = columns(cases)
    tables = [np.array(shares(len(found.items), seed + user), dtype=float) for user in range(len(found.users))]

    def share(user: np.ndarray, better: np.ndarray, worse: np.ndarray) -> list[float]:
        return [tables[u][b, w] for u, b, w in zip(user, better, worse, strict=True)]

    for discount in ("linear", "exponential"):
        expected = []
        for case, (first, end) in enumerate(pairwise(found.start)):
            item, grade, score = found.item[first:end], found.grade[first:end], np.asarray(scores)[first:end]
            truth, said = ([(v, w) for v, a in zip(item, column, strict=True) for w, b in zip(item, column, strict=True)
                            if a > b] for column in (grade, score))  # fmt: skip
            table = tables[found.user[case]]
            mine = lambda better, worse, table=table: table[better, worse]  # noqa: E731
            expected.append(edrc_of_edges(truth, said, items=item.tolist(), discount=discount, share=mine))
        np.testing.assert_allclose(edrc(found, scores, discount, share), expected, rtol=0, atol=1e-12)
        none = edrc(found, scores, discount, lambda user, better, worse: np.full(len(better), 0.5))
        np.testing.assert_allclose(none, edrc(found, scores, discount), rtol=0, atol=1e-12)


def by_counting(data: Graded, user: int, better: int, worse: int, neighbours: int) -> float:
    """The share from its definition: sets of preferences of each user."""
    pairs = data.pairs()
    held = [
        {(b, w) for u, b, w in zip(pairs.user, pairs.better, pairs.worse, strict=True) if u == one}
        for one in range(len(data.users))
    ]
    common = {one: len(held[one] & held[user]) for one in range(len(held)) if one != user}
    least = sorted(common.values(), reverse=True)[:neighbours][-1] if common else 0
    similar = [one for one, count in common.items() if count and count >= least]
    so, otherwise = (sum(pair in held[one] for one in similar) for pair in ((better, worse), (worse, better)))
    return so / (so + otherwise) if so + otherwise else 0.5


@pytest.mark.parametrize("neighbours", [1, 3, 100])
def test_shares_from_data_against_counting(neighbours: int) -> None:
    random = np.random.default_rng(neighbours)
    user, item = np.nonzero(random.random((12, 7)) < 0.7)
    data = Graded.of(session=user, item=item, grade=random.integers(1, 4, len(user)), user=user)
    found = share_from(data, neighbours)
    rows = [(u, b, w) for u in range(len(data.users)) for b, w in permutations(range(7), 2)]
    expected = [by_counting(data, *row, neighbours) for row in rows]
    assert found(*np.array(rows).T).tolist() == pytest.approx(expected)
    assert len(set(expected)) > (2 if neighbours == 1 else 4)
    assert share_from(data.pairs(), neighbours)(*np.array(rows).T).tolist() == pytest.approx(expected)
    name = data.items.name
    assert found.of(data.users.name(3))(name(1), name(2)) == pytest.approx(by_counting(data, 3, 1, 2, neighbours))


def test_shares_from_data_in_edrc_of_sessions_and_of_their_ranks() -> None:
    random = np.random.default_rng(4)
    user, item = np.nonzero(random.random((15, 8)) < 0.8)
    data = Graded.of(session=user, item=item, grade=random.integers(1, 4, len(user)), user=user)
    scores = random.integers(0, 4, (15, 8)).astype(float)  # with ties
    found = share_from(data, 4)
    values = edrc(data, scores[data.user[data.case], data.item], share=found)
    ranks = fullrank.rank(scores, data, relevant=0)
    assert edrc_by_similar(found)(ranks) == pytest.approx(values, nan_ok=True)
    assert np.nanmax(np.abs(values - edrc(data, scores[data.user[data.case], data.item]))) > 0.01
    with pytest.raises(DataError, match="other users or items than these cases"):
        edrc(graded([2, 1]), [2.0, 1.0], share=found)
    with pytest.raises(DataError, match="'share' must give a number from 0 to 1"):
        edrc(data, np.zeros(len(data.item)), share=lambda user, better, worse: np.full(len(better), 2.0))
    with pytest.raises(ParameterError, match="'neighbours' parameter"):
        share_from(data, 0)
    with pytest.raises(DataError, match="needs grades, items and users"):
        edrc_by_similar(found)(Ranks([0, 1], [0], [0], [1]))


def test_shares_of_nobody_are_one_half() -> None:
    alone = Graded.of(session=[1, 1, 2], item=["a", "b", "a"], grade=[2, 1, 1])
    assert share_from(alone)([0, 1], [0, 0], [1, 1]).tolist() == [0.5, 0.5]  # nobody agrees with anybody
    nothing = Graded.of(session=[1, 1], item=["a", "b"], grade=[1, 1])
    assert share_from(nothing)([0], [0], [1]).tolist() == [0.5]


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


def test_shares_of_similar_users_for_what_is_left_open() -> None:
    # open in the truth: C against B and E, D against E; predicted: C > B, C > D > E and so C > E
    # in the truth but not predicted: A > D and B > D, for which Ackerman takes the share of users who prefer so
    asked = []

    def share(better: str, worse: str) -> float:
        asked.append(better + worse)
        return {"CB": 0.9, "CE": 0.7, "DE": 0.2, "AD": 0.8, "BD": 0.6}[better + worse]

    value = edrc_of_edges(TRUTH, PREDICTED, share=share)
    c, d, e = 0 + 0.9 + 0.7, 0.8 + 0.6 + 1 + 0.2, 1 + 1 + 0.7 + 0.2
    assert value == pytest.approx(2 * (c / 2 + d / 3 + e / 2) / (29 / 6) - 1, abs=1e-15)
    assert sorted(asked) == ["AD", "BD", "CB", "CE", "CE", "DE", "DE"]
    assert edrc_of_edges(TRUTH, PREDICTED, share=lambda better, worse: 0.5) == pytest.approx(5 / 29, abs=1e-15)
    # a prediction that says nothing is as good as those users are
    assert edrc_of_edges([("A", "B")], [], share=lambda better, worse: float(better == "A")) == 1
    assert edrc_of_edges([("A", "B")], [], share=lambda better, worse: float(better == "B")) == -1
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
