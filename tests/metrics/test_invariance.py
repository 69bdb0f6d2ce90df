"""What metrics promise whatever the cases: their range, the ideal order, tails, shards, the order of scores alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.evaluation.rank import rank
from fullrank.metrics import RANKED
from fullrank.ranks import Ranks
from tests.metrics.oracle_cases import BINARY, CLOSE, METRICS, Case, counted

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
