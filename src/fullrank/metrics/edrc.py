"""Expected discounted rank correlation: partial orders compared, mistakes near the top weighing more (S2 ch. 5).

    EDRC = (2/Z) sum_v C(v)/D(v) - 1,     Z = sum_v |W(v)|/D(v),     over items v that are no source of G

G is the truth and R(v) = 1 + the longest path from a source of G to v. The discount D is linear R,
logarithmic log2(1+R), exponential 2^R, or any function of R. W(v) holds all items but v and what is
reachable from v in G; C(v) adds up, over w in W(v), how far the prediction agrees:

    w before v in G:      1 if the prediction says so, 0 if it says the opposite, 1/2 if neither
    unordered in G:       1/2, or the share of similar users who prefer as predicted

Range -1 to 1 (best). Pairs that G leaves unordered are in W, so that a partial G keeps the best value below 1.
Z takes D where S2 prints R (Eq. 5.3), and sources have rank 1 where its Algorithm 2 gives 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fullrank.data.graded import Graded
from fullrank.errors import DataError, ParameterError, check, shown
from fullrank.metrics.elementary import exp2, log2
from fullrank.metrics.partial_order import checked_scores, levels
from fullrank.ranks import Floats, Ints

Discount: TypeAlias = Literal["linear", "logarithmic", "exponential"] | Callable[[Floats], ArrayLike]
Item: TypeAlias = Any  # a code or a name
Edges: TypeAlias = Iterable[Iterable[Item]]  # (better, worse) pairs, or an array of two columns
Share: TypeAlias = Callable[[Item, Item], float]

INVERSE: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda rank: 1 / rank,
    "logarithmic": lambda rank: 1 / log2(1 + rank),
    "exponential": lambda rank: exp2(-rank),
}


def edrc(graded: Graded, scores: ArrayLike, discount: Discount = "linear") -> Floats:
    """EDRC of each graded case; NaN where all grades are equal.

    Grades order all pairs of different classes, so that R(v) is the place of v's class, W(v) is everything
    outside v itself and lower classes, and counts per class suffice: n log n per case, no pairs, no closure.
    Equal scores predict nothing (1/2). `discount` may be a function of the ranks 2, 3, ...

    >>> case = Graded.of(session=[1, 1, 1], item=["a", "b", "c"], grade=[5, 3, 3])
    >>> edrc(case, [0.9, 0.5, 0.1])      # C(b) = C(c) = 1 + 1/2 of 2
    array([0.5])
    """
    truth, predicted = levels(graded, graded.grade), levels(graded, checked_scores(graded, scores))
    agreeing, tied = truth.agreeing_with(predicted)
    above, sizes = truth.ahead(), truth.sizes()
    place = np.arange(len(above)) - (np.cumsum(truth.groups) - truth.groups)[truth.case]
    weight = np.where(above > 0, inverse_discount(place + 1, discount), 0.0)
    right = agreeing + (tied + sizes * (sizes - 1)) / 2
    z = truth.per_case(sizes * (above + sizes - 1) * weight)
    mean: Floats = np.divide(truth.per_case(right * weight), z, out=np.full(len(graded), np.nan), where=z > 0)
    return 2 * mean - 1


def edrc_of_edges(
    truth: Edges,
    predicted: Edges | Mapping[Item, float],
    *,
    items: Iterable[Item] | None = None,
    discount: Discount = "linear",
    share: Share | None = None,
) -> float:
    """EDRC of one case whose truth and prediction are (better, worse) pairs: any partial orders.

    `predicted` may also give every item a score. `items` names all items where some are in no pair of the
    truth. A cycle in the truth is an error that names it; in the prediction it says nothing about the order
    of the items on it (1/2). `share(better, worse)` is the share of similar users who prefer so, from 0 to 1.
    NaN where the truth has no pair. Time and memory grow with the pairs times the items.

    >>> truth = [("A", "C"), ("A", "D"), ("A", "E"), ("B", "D"), ("B", "E"), ("C", "D")]
    >>> predicted = [("C", "A"), ("C", "B"), ("C", "D"), ("A", "E"), ("B", "E"), ("D", "E")]
    >>> round(29 * edrc_of_edges(truth, predicted), 9)
    5.0
    """
    names, below = _graph(truth, items)
    order, rank = _topological(below)
    if len(order) < len(names):
        cycle = " > ".join(repr(names[v]) for v in _cycle(below, set(order)))
        raise DataError(f"the ground truth has a cycle, {cycle}; remove one of these preferences.")
    if max(rank, default=1) == 1:
        return float("nan")
    after = _reachable(below, order)
    before = _transposed(after)
    said_after = _predicted(predicted, names)
    said_before = _transposed(said_after)
    lower = [v for v in range(len(names)) if rank[v] > 1]
    right, size = np.zeros(len(lower)), np.zeros(len(lower))
    for at, v in enumerate(lower):
        ahead, behind = said_before[v] & ~said_after[v], said_after[v] & ~said_before[v]
        agreeing = (before[v] & ahead).bit_count()
        silent = (before[v] & ~(ahead | behind)).bit_count()
        unordered = ((1 << len(names)) - 1) & ~(before[v] | after[v] | 1 << v)
        size[at] = before[v].bit_count() + unordered.bit_count()
        right[at] = agreeing + silent / 2 + _unordered(v, unordered, (ahead, behind), names, share)
    weight = inverse_discount(np.array([rank[v] for v in lower]), discount)
    return float(2 * (right @ weight) / (size @ weight) - 1)


def inverse_discount(rank: Ints, discount: Discount) -> Floats:
    """1 / D(R) for ranks R >= 2; whatever a function gives for the first rank (R - 1 is 0) is not used."""
    if not callable(discount):
        check("discount", discount, discount in INVERSE, f"one of {', '.join(INVERSE)}, or a function of the rank")
        return INVERSE[discount](rank.astype(np.float64))
    table = np.arange(2, int(rank.max(initial=2)) + 1, dtype=np.float64)
    found = np.asarray(discount(table), dtype=np.float64)
    if found.shape != table.shape or not ((found > 0) & np.isfinite(found)).all():
        raise ParameterError(
            f"The 'discount' of ranks 2, 3, ... must be positive finite numbers. Got {shown(found)} instead."
        )
    return np.concatenate([[0, 0], 1 / found])[rank]


def _graph(edges: Edges, items: Iterable[Item] | None) -> tuple[list[Item], list[list[int]]]:
    """The items, and for each the items that are worse by an edge."""
    pairs = [tuple(edge) for edge in (edges.tolist() if isinstance(edges, np.ndarray) else edges)]
    if any(len(pair) != 2 for pair in pairs):
        raise DataError(
            f"preferences must be (better, worse) pairs, got {shown(next(p for p in pairs if len(p) != 2))}."
        )
    named = dict.fromkeys(item for pair in pairs for item in pair) if items is None else dict.fromkeys(items)
    code = {name: at for at, name in enumerate(named)}
    below: list[list[int]] = [[] for _ in code]
    for pair in pairs:
        for name in pair:
            if name not in code:
                raise DataError(f"item {shown(name)} is not among the items of the truth; name all with items=.")
        below[code[pair[0]]].append(code[pair[1]])
    return list(code), below


def _topological(below: list[list[int]]) -> tuple[list[int], list[int]]:
    """Items in an order that respects the edges, and R of each; what is on or after a cycle is left out."""
    waiting, rank = [0] * len(below), [1] * len(below)
    for v in range(len(below)):
        for w in below[v]:
            waiting[w] += 1
    order = [v for v, edges in enumerate(waiting) if not edges]
    for v in order:  # grows as it is read, by rank, so that the last item ahead of w has the highest
        for w in below[v]:
            waiting[w] -= 1
            if not waiting[w]:
                rank[w] = rank[v] + 1
                order.append(w)
    return order, rank


def _cycle(below: list[list[int]], free: set[int]) -> list[int]:
    """One cycle among the items that are not free, its first item again at the end.

    Each of them has a better one that is not free either, so that walking up must come back.
    """
    better = {w: v for v, edges in enumerate(below) if v not in free for w in edges}
    path = [next(v for v in range(len(below)) if v not in free)]
    met = {path[0]: 0}
    while (up := better[path[-1]]) not in met:
        met[up] = len(path)
        path.append(up)
    return [up, *reversed(path[met[up] :])]


def _reachable(below: list[list[int]], order: list[int]) -> list[int]:
    """What each item is better than, by edges and what follows from them, as bits of an integer."""
    after = [sum({1 << w for w in edges}) for edges in below]
    if len(order) == len(below):
        for v in reversed(order):
            for w in below[v]:
                after[v] |= after[w]
        return after
    for middle in range(len(below)):  # cycles: as Warshall does
        for v, reached in enumerate(after):
            if reached >> middle & 1:
                after[v] = reached | after[middle]
    return after


def _transposed(after: list[int]) -> list[int]:
    before = [0] * len(after)
    for v, worse in enumerate(after):
        for w in _bits(worse):
            before[w] |= 1 << v
    return before


def _bits(number: int) -> list[int]:
    return [at for at, bit in enumerate(reversed(f"{number:b}")) if bit == "1"]


def _predicted(predicted: Edges | Mapping[Item, float], names: list[Item]) -> list[int]:
    """What each item is predicted to be better than, as bits."""
    if not isinstance(predicted, Mapping):
        _, below = _graph(predicted, names)
        return _reachable(below, _topological(below)[0])
    missing = [name for name in names if name not in predicted or not np.isfinite(predicted[name])]
    if missing:
        raise DataError(f"item {shown(missing[0])} has no finite score; score every item of the case.")
    value = [predicted[name] for name in names]
    after, tied, worse, last = [0] * len(names), 0, 0, None
    for v in sorted(range(len(names)), key=value.__getitem__):
        if value[v] != last:
            worse, tied, last = worse | tied, 0, value[v]
        after[v], tied = worse, tied | 1 << v
    return after


def _unordered(v: int, unordered: int, said: tuple[int, int], names: list[Item], share: Share | None) -> float:
    """Expected agreement with unknown preferences: the share of users who prefer as predicted, else 1/2."""
    if share is None:
        return unordered.bit_count() / 2
    ahead, behind = (unordered & side for side in said)
    shares = [share(names[w], names[v]) for w in _bits(ahead)] + [share(names[v], names[w]) for w in _bits(behind)]
    for found in shares:
        check("share", found, 0 <= found <= 1, "a function to numbers from 0 to 1")
    return sum(shares) + (unordered & ~(ahead | behind)).bit_count() / 2
