"""Measures straight from their definitions: slow, and therefore to be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from math import exp, log, log2

Listed = Sequence[bool]  # a ranked list: relevant or not, best first
Measure = Callable[[Listed, float | int | None], float]


def orders(scores: Sequence[float], relevant: Sequence[bool]) -> Iterator[list[bool]]:
    """Every list that the scores allow: items of equal scores in every order, each equally likely."""
    values = sorted(set(scores), reverse=True)
    groups = [[hit for score, hit in zip(scores, relevant, strict=True) if score == value] for value in values]
    for arrangement in product(*(permutations(group) for group in groups)):
        yield [hit for group in arrangement for hit in group]


def expectation(
    measure: Measure, scores: Sequence[float], relevant: Sequence[bool], k: float | int | None = None
) -> float:
    """The mean of a measure over every order of ties.

    >>> expectation(reciprocal_rank, [1, 1], [True, False])
    0.75
    """
    values = [measure(listed, k) for listed in orders(scores, relevant)]
    return sum(values) / len(values)


def _positions(listed: Listed) -> list[int]:
    return [place for place, hit in enumerate(listed, 1) if hit]


def _first(listed: Listed, k: float | int | None) -> Listed:
    return listed if k is None else listed[: int(k)]


def recall(listed: Listed, k: float | int | None) -> float:
    """hits / |R|"""
    return sum(_first(listed, k)) / sum(listed)


def capped_recall(listed: Listed, k: float | int | None) -> float:
    """hits / min(k, |R|)"""
    return sum(_first(listed, k)) / (sum(listed) if k is None else min(int(k), sum(listed)))


def precision(listed: Listed, k: float | int | None) -> float:
    """hits / k"""
    return sum(_first(listed, k)) / (len(listed) if k is None else int(k))


def hit_rate(listed: Listed, k: float | int | None) -> float:
    """1 if any of the first k is relevant"""
    return float(any(_first(listed, k)))


def reciprocal_rank(listed: Listed, k: float | int | None) -> float:
    """1 / position of the first relevant item among the first k"""
    places = _positions(_first(listed, k))
    return 1 / places[0] if places else 0.0


def average_precision(listed: Listed, k: float | int | None) -> float:
    """mean precision at the relevant positions up to k, over min(|R|, k)"""
    places = _positions(_first(listed, k))
    total = sum(n / place for n, place in enumerate(places, 1))
    return total / (sum(listed) if k is None else min(int(k), sum(listed)))


def ndcg(listed: Listed, k: float | int | None) -> float:
    """DCG / ideal DCG"""
    gain = sum(1 / log2(place + 1) for place in _positions(_first(listed, k)))
    ideal = sum(1 / log2(place + 1) for place in range(1, min(sum(listed), len(_first(listed, k))) + 1))
    return gain / ideal


def graded_ndcg(grades: Sequence[float], k: float | int | None) -> float:
    """DCG / ideal DCG with gains 2^grade - 1, of grades in the order of the list, 0 for irrelevant items

    >>> round(graded_ndcg([0, 3, 1], None), 4)
    0.6443
    """
    last = None if k is None else int(k)

    def dcg(listed: Sequence[float]) -> float:
        return sum((2**grade - 1) / log2(place + 1) for place, grade in enumerate(listed[:last], 1))

    ideal = dcg(sorted(grades, reverse=True))
    return dcg(grades) / ideal if ideal else 0.0


def adg(listed: Listed, k: float | int | None) -> float:
    """mean of 1/log2(position + 1)"""
    return sum(1 / log2(place + 1) for place in _positions(listed)) / sum(listed)


def auc(listed: Listed, k: float | int | None) -> float:
    """share of (relevant, irrelevant) pairs in the right order; .5 without any"""
    pairs = [(a, b) for a in _positions(listed) for b in range(1, len(listed) + 1) if not listed[b - 1]]
    return sum(a < b for a, b in pairs) / len(pairs) if pairs else 0.5


def topk(listed: Listed, k: float | int | None) -> float:
    """share of relevant items with Nrank >= 1 - k (k a share), or among the first k (an integer)"""
    if k is None or isinstance(k, int):
        return recall(listed, k)
    n = len(listed)
    inside = [place for place in _positions(listed) if n == 1 or (place - 1) / (n - 1) <= k + 1e-12]
    return len(inside) / sum(listed)


def atop(listed: Listed, k: float | int | None) -> float:
    """mean Nrank, or the area under TOPK up to k over its width"""
    n = len(listed)
    lags = [(place - 1) / (n - 1) if n > 1 else 0.0 for place in _positions(listed)]
    width = 1.0 if k is None else (k - 1) / (n - 1) if isinstance(k, int) and n > 1 else float(k)
    if width <= 0 or (isinstance(k, int) and k == 1):
        return topk(listed, 0.0)
    return sum(max(0.0, 1 - lag / width) for lag in lags) / len(lags)


def mean_rank(listed: Listed, k: float | int | None) -> float:
    """mean position"""
    return sum(_positions(listed)) / sum(listed)


def mean_percentile(listed: Listed, k: float | int | None) -> float:
    """mean of (position - 1) / (N - 1), of 0 where there is one item"""
    places = _positions(listed)
    return sum((place - 1) / max(len(listed) - 1, 1) for place in places) / len(places)


def r_score(listed: Listed, k: float | int | None) -> float:
    """sum of 2^(-(position-1)/(k-1)) over that of the ideal list"""
    half = 5 if k is None else int(k)
    if half == 1:
        return float(listed[0])

    def worth(place: int) -> float:
        return exp(-log(2) * (place - 1) / (half - 1))

    return sum(map(worth, _positions(listed))) / sum(worth(place) for place in range(1, sum(listed) + 1))


MEASURES: dict[str, Measure] = {
    "recall": recall,
    "capped_recall": capped_recall,
    "precision": precision,
    "hit_rate": hit_rate,
    "rr": reciprocal_rank,
    "ap": average_precision,
    "ndcg": ndcg,
    "adg": adg,
    "auc": auc,
    "topk": topk,
    "atop": atop,
    "mean_rank": mean_rank,
    "mean_percentile": mean_percentile,
    "r_score": r_score,
}
