"""Metrics against their definitions over every tie order, exact chances and simulated tie-breaking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank.metrics import RANKED, Metric
from fullrank.ranks import Ranks
from fullrank.testing import brute
from tests.metrics.oracle_cases import BINARY, CLOSE, METRICS, Case, counted, far_apart, random_case

GRADED = [metric for metric in METRICS if metric.name == "graded_ndcg"]


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
        [len(set(ranks.relevant_above[a:b])) < b - a for a, b in zip(ranks.start, ranks.start[1:], strict=False)]
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
