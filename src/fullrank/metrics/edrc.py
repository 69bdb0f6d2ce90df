"""Expected discounted rank correlation: partial orders compared, mistakes near the top weighing more.

Ackerman 2012, chapter 5.

    EDRC = (2/Z) sum_v C(v)/D(v) - 1,     Z = sum_v |W(v)|/D(v),     over items v that are no source of G

G is the truth and R(v) = 1 + the longest path from a source of G to v. The discount D is linear R,
logarithmic log2(1+R), exponential 2^R, or any function of R. W(v) holds all items but v and what is
reachable from v in G; C(v) adds up, over w in W(v), how far the prediction agrees:

    prediction says       w before v in G        unordered in G
    w before v            1                      1/2, or the share of similar users who prefer w to v
    v before w            0                      1/2, or the share who prefer v to w
    neither               1/2, or the share who prefer w to v

The thesis has such shares where the prediction says nothing; `share_from` finds them in data, and 1/2 is the default.
Range -1 to 1 (best). Pairs that G leaves unordered are in W, so that a partial G keeps the best value below 1.
Z takes D where the thesis prints R (Eq. 5.3), and sources have rank 1 where its Algorithm 2 gives 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fullrank.arrays import Doubles, Ints
from fullrank.data.graded import Graded
from fullrank.errors import DataError, ParameterError, check, shown
from fullrank.metrics.elementary import exp2, log2
from fullrank.metrics.partial_order import Levels, checked_scores, levels
from fullrank.metrics.similar_users import Share, Shares, SimilarUsers, checked_shares, share_from

__all__ = ["Discount", "Edges", "Share", "Shares", "edrc", "edrc_of_edges", "inverse_discount", "share_from"]

Discount: TypeAlias = Literal["linear", "logarithmic", "exponential"] | Callable[[Doubles], ArrayLike]
Item: TypeAlias = Any  # a code or a name
Edges: TypeAlias = Iterable[Iterable[Item]]  # (better, worse) pairs, or an array of two columns

INVERSE: dict[str, Callable[[Doubles], Doubles]] = {
    "linear": lambda rank: 1 / rank,
    "logarithmic": lambda rank: 1 / log2(1 + rank),
    "exponential": lambda rank: exp2(-rank),
}


def edrc(graded: Graded, scores: ArrayLike, discount: Discount = "linear", share: Shares | None = None) -> Doubles:
    """EDRC of each graded case, expected discounted rank correlation (Ackerman 2012); NaN where all grades are equal.

        (2/Z) sum_v C(v)/D(v) - 1,   Z = sum_v |W(v)|/D(v),   over items v below the best class

    C(v) counts the items of W(v) that the scores put on the right side of v, D is the discount of the rank R(v).
    Grades order all pairs of different classes, so that R(v) is the place of v's class, W(v) is everything
    outside v itself and lower classes, and counts per class suffice: n log n per case, no pairs, no closure.
    Equal scores predict nothing (1/2). Range -1 to 1 (best).

    `discount` may be a function of the ranks 2, 3, ...
    `share(user, better, worse)`, of columns of codes, is the share of similar users who prefer so, from 0 to 1: that
    of `share_from`, or your own. It is asked about pairs of equal grade or score, case by case, n^2 of a case at most.

    >>> case = Graded.of(session=[1, 1, 1], item=["a", "b", "c"], grade=[5, 3, 3])
    >>> edrc(case, [0.9, 0.5, 0.1])      # C(b) = C(c) = 1 + 1/2 of 2
    array([0.5])
    """
    values = checked_scores(graded, scores)
    truth, predicted = levels(graded, graded.grade), levels(graded, values)
    agreeing, tied = truth.agreeing_with(predicted)
    above, sizes = truth.all_above(), truth.sizes()
    place = np.arange(len(above)) - (np.cumsum(truth.groups) - truth.groups)[truth.case]
    weight = np.where(above > 0, inverse_discount(place + 1, discount), 0.0)
    left_open = (tied + sizes * (sizes - 1)) / 2 if share is None else _open(graded, values, truth, share)
    right = agreeing + left_open
    z = truth.per_case(sizes * (above + sizes - 1) * weight)
    mean: Doubles = np.divide(truth.per_case(right * weight), z, out=np.full(len(graded), np.nan), where=z > 0)
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
    of the items on it (1/2). `share(better, worse)` is the share of similar users who prefer so, from 0 to 1: your
    own function, or `share_from(data).of(user)`.
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
    before = _transpose(after)
    said_after = _predict_bits(predicted, names)
    said_before = _transpose(said_after)
    lower = [v for v in range(len(names)) if rank[v] > 1]
    right, size = np.zeros(len(lower)), np.zeros(len(lower))
    for at, v in enumerate(lower):
        above, behind = said_before[v] & ~said_after[v], said_after[v] & ~said_before[v]
        agreeing = (before[v] & above).bit_count()
        silent = before[v] & ~(above | behind)
        unordered = ((1 << len(names)) - 1) & ~(before[v] | after[v] | 1 << v)
        size[at] = before[v].bit_count() + unordered.bit_count()
        right[at] = agreeing + _left_open(v, silent | unordered, unordered & behind, names, share)
    weight = inverse_discount(np.array([rank[v] for v in lower]), discount)
    return float(2 * (right @ weight) / (size @ weight) - 1)


def inverse_discount(rank: Ints, discount: Discount) -> Doubles:
    """1 / D(R) for ranks R >= 2; whatever a function gives for the first rank (R - 1 is 0) is not used."""
    if not callable(discount):
        check("discount", discount, discount in INVERSE, f"one of {', '.join(INVERSE)}, or a function of the rank")
        return INVERSE[discount](rank.astype(np.float64))
    table = np.arange(2, int(rank.max(initial=2)) + 1, dtype=np.float64)
    divisor = np.asarray(discount(table), dtype=np.float64)
    if divisor.shape != table.shape or not ((divisor > 0) & np.isfinite(divisor)).all():
        raise ParameterError(
            f"The 'discount' of ranks 2, 3, ... must be positive finite numbers. Got {shown(divisor)} instead."
        )
    return np.concatenate([[0, 0], 1 / divisor])[rank]


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
    for v in order:  # grows as it is read, by rank, so that the last item above w has the highest
        for w in below[v]:
            waiting[w] -= 1
            if not waiting[w]:
                rank[w] = rank[v] + 1
                order.append(w)
    return order, rank


def _cycle(below: list[list[int]], free: set[int]) -> list[int]:
    """One cycle among the items that are not free, its first item again at the end.

    Each of them has a better one that is not free either, so that going up must come back.
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


def _transpose(after: list[int]) -> list[int]:
    before = [0] * len(after)
    for v, worse in enumerate(after):
        for w in _bits(worse):
            before[w] |= 1 << v
    return before


def _bits(number: int) -> list[int]:
    return [at for at, bit in enumerate(reversed(f"{number:b}")) if bit == "1"]


def _predict_bits(predicted: Edges | Mapping[Item, float], names: list[Item]) -> list[int]:
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


def _left_open(v: int, some: int, behind: int, names: list[Item], share: Share | None) -> float:
    """Expected agreement on what truth or prediction leave open: 1/2, or the share of users who prefer w to v.

    Of the `behind`, which are predicted so and open in the truth, those who prefer v to w.
    """
    if share is None:
        return some.bit_count() / 2
    shares = [share(names[w], names[v]) for w in _bits(some & ~behind)]
    shares += [share(names[v], names[w]) for w in _bits(behind)]
    for part in shares:
        check("share", part, 0 <= part <= 1, "a function to numbers from 0 to 1")
    return sum(shares)


def _open(graded: Graded, scores: Any, truth: Levels, share: Shares) -> Doubles:
    """The same summed over each class of the truth, all pairs of a case at a time."""
    if isinstance(share, SimilarUsers) and (share.users, share.items) != (graded.users, graded.items):
        raise DataError("the similar users are from data with other users or items than these cases; use its own ids.")
    sums = np.zeros(len(graded.item))
    for case, (first, end) in enumerate(pairwise(graded.start.tolist())):
        grade, score, item = (column[first:end] for column in (graded.grade, scores, graded.item))
        same = (grade[:, None] == grade) & ~np.eye(end - first, dtype=bool)  # v down, w across
        v, w = np.nonzero(same | (grade[:, None] < grade) & (score[:, None] == score))
        behind = same[v, w] & (score[v] > score[w])
        pairs = np.where(behind, item[v], item[w]), np.where(behind, item[w], item[v])
        agreeing = checked_shares(share, np.full(len(v), graded.user[case]), *pairs)
        sums[first:end] = np.bincount(v, agreeing, minlength=end - first)
    return np.add.reduceat(sums[truth.order], truth.first[:-1]) if len(sums) else np.zeros(0)
