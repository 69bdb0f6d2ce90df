"""Lists by scoring everything, filtering and sorting, one person at a time: what rules mean, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fullrank.data.ids import Name
from fullrank.data.interactions import Interactions
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.linear import exact_scores_of
from fullrank.models.kinds.model import Model

Labels = Sequence[Sequence[str]]  # of every item, by code
Worth = Callable[[int, list[int]], float]  # of a place beside those chosen
Fits = Callable[[list[int]], bool]  # whether these places may be in one list


def rank_all(model: Model, user: Name) -> tuple[list[float], bool]:
    """The scores of all items as somebody is served, and whether they are those of what is popular."""
    train = model.train
    if user in train.users:
        code = np.array([train.users.code(user)], dtype=np.int32)
        if model.knows(code)[0]:
            return [float(score) for score in exact_scores_of(model, code)[0]], False
    elif isinstance(model, ItemScores):
        return [float(score) for score in model.items], True
    return [float(count) for count in train.popularity], True


def candidates(
    model: Model, user: Name, keep: Callable[[int], bool], *, repeat: bool = False,
    allow: Sequence[tuple[Name, Name]] = (), deny: Sequence[tuple[Name, Name]] = (),
) -> tuple[list[int], list[float], bool]:  # fmt: skip
    """Codes, best first, their scores, and whether these are of what is popular."""
    scores, popular = rank_all(model, user)
    train, items = model.train, model.train.items
    own = {item for who, item in allow if who == user}
    not_his = {item for who, item in deny if who == user}
    left = [
        code
        for code in range(train.n_items)
        if keep(code)
        and (repeat or not has(train, user, code))
        and (not own or items.name(code) in own)
        and items.name(code) not in not_his
    ]
    counts = train.popularity
    if not popular and len(left) > 1 and len({scores[code] for code in left}) == 1:
        scores, popular = [float(count) for count in counts], True
    left.sort(key=lambda code: (-scores[code], -counts[code], code))
    return left, [scores[code] for code in left], popular


def has(train: Interactions, user: Name, item: int) -> bool:
    if user not in train.users:
        return False
    code = train.users.code(user)
    return item in train.item[train.starts[code] : train.starts[code + 1]]


def scaled(scores: Sequence[float]) -> list[float]:
    span = scores[0] - scores[-1] if scores else 0.0
    return [(score - scores[-1]) / span if span > 0 else 0.0 for score in scores]


def greedy(
    pool: Sequence[int], n: int, worth: Callable[[int, list[int]], float], fits: Callable[[list[int]], bool]
) -> list[int]:
    """One place of the pool after the other, the one worth most beside those chosen; of equal ones the first."""
    chosen: list[int] = []
    while len(chosen) < n:
        free = [place for place in range(len(pool)) if place not in chosen and fits([*chosen, place])]
        if not free:
            break
        chosen.append(max(free, key=lambda place: (worth(place, chosen), -place)))
    return chosen


def is_greedy(pool: Sequence[int], places: list[int], worth: Worth, fits: Fits) -> bool:
    """Whether every place was, up to rounding, worth most when it was chosen."""
    for step, place in enumerate(places):
        chosen = places[:step]
        free = [other for other in range(len(pool)) if other not in chosen and fits([*chosen, other])]
        best, own = max(worth(other, chosen) for other in free), worth(place, chosen)
        if place not in free or own < best - 1e-12:
            return False
    return True


def mmr(pool: Sequence[int], scores: Sequence[float], share: float, alike: Callable[[int, int], float]) -> Any:
    relevance = scaled(scores)

    def worth(place: int, chosen: list[int]) -> float:
        nearest = max((alike(pool[place], pool[other]) for other in chosen), default=0.0)
        return (1 - share) * relevance[place] - share * nearest

    return worth


def calibrated(pool: Sequence[int], scores: Sequence[float], share: float, labels: Labels, past: Sequence[int]) -> Any:
    relevance, p = scaled(scores), spread(past, labels)

    def worth(place: int, chosen: list[int]) -> float:
        q = spread([pool[other] for other in (*chosen, place)], labels)
        kl = sum(x * math.log(x / (0.99 * q.get(word, 0.0) + 0.01 * x)) for word, x in p.items())
        return (1 - share) * sum(relevance[other] for other in (*chosen, place)) - share * kl

    return worth


def spread(items: Sequence[int], labels: Labels) -> dict[str, float]:
    """The distribution of words over the items that have some."""
    having = [item for item in items if labels[item]]
    words = {word for item in having for word in labels[item]}
    return {word: sum((word in labels[item]) / len(labels[item]) for item in having) / len(having) for word in words}


def within(pool: Sequence[int], labels: Labels, most: int) -> Callable[[list[int]], bool]:
    def fits(places: list[int]) -> bool:
        words = [word for place in places for word in labels[pool[place]]]
        return all(words.count(word) <= most for word in words)

    return fits


def cosine(labels: Labels) -> Callable[[int, int], float]:
    def alike(one: int, other: int) -> float:
        a, b = set(labels[one]), set(labels[other])
        return len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0

    return alike
