"""Items near each other in histories: what follows each item, the nearest of it.

Legend: sequences are (start, item, place), the rows of user u in the order of time at start[u] .. start[u+1]-1, places
in halves, rising; by_item is (start, user, at), of every row of an item its user and where it stands in `sequences`.
fade[d] is what a pair counts that is d halves of a place apart, 0 beyond; dot[j] is what item i and j have together.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fullrank.kernels.cooccurrence import choose
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]
Rows = tuple[Array, Array, Array]


@kernel
def _add(j: int, weight: float, m: int, dot: Array, mark: Array, touched: Array) -> int:
    """Add to dot[j]; how many items are touched then."""
    touched[m] = j
    m += mark[j] == 0
    mark[j] = 1
    dot[j] += weight
    return m


@kernel
def _follow(
    i: int, by_item: Rows, sequences: Rows, fade: Array, backward: float, dot: Array, mark: Array, touched: Array
) -> int:  # fmt: skip
    """Add to `dot` what stands near item i in all histories, outwards as far as it counts; how many items it is."""
    start, item, place = sequences
    m, far = 0, fade.shape[0]
    for e in range(by_item[0][i], by_item[0][i + 1]):
        u, at = by_item[1][e], by_item[2][e]
        for f in range(at + 1, start[u + 1]):
            d = place[f] - place[at]
            if d >= far:
                break
            m = _add(item[f], fade[d], m, dot, mark, touched)
        for f in range(at - 1, start[u] - 1, -1):
            d = place[at] - place[f]
            if d >= far:
                break
            m = _add(item[f], fade[d] * (1.0 if d == 0 else backward), m, dot, mark, touched)
    return m


@kernel
def followers_block(
    first: int, last: int, by_item: Rows, sequences: Rows, fade: Array, backward: float,
    length2: Array, shrink: float, k: int,
    dot: Array, key: Array, best: Array, mark: Array, touched: Array, near: Array,
    end: Array, which: Array, cosine2: Array, part: Array,
) -> int:  # fmt: skip
    """For items first..last-1 the k that follow them most, as `nearest_block` has it; ties share the places left."""
    total = 0
    for i in range(first, last):
        candidates = _follow(i, by_item, sequences, fade, backward, dot, mark, touched)
        until = choose(
            i, candidates, True, length2, shrink, k, False, True, dot, key, best, mark, touched, near,
            total, which, cosine2, part,
        )  # fmt: skip
        if until < 0:
            return i
        total = until
        end[i - first] = total
    return last
