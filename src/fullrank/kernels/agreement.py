"""How far two orders of a case's items agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel


@kernel
def count_agreeing(
    first: NDArray[np.int64], case: NDArray[np.int64], level: NDArray[Any], levels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of a group's items and items of better groups of its case, by a second order.

    Groups hold the items first[g] .. first[g+1]-1, those of a case best first. `level` is an item's
    place in the second order, 0 the best, one of the `levels` of its case. Returns for every group how
    many of its pairs have the item of the better group also ahead in the second order, and how many tied.
    """
    agreeing, tied = np.zeros(len(case), dtype=np.int64), np.zeros(len(case), dtype=np.int64)
    width = 0
    for groups in levels:
        width = max(width, groups)
    seen = np.zeros(width, dtype=np.int64)  # items at each level
    tree = np.zeros(width, dtype=np.int64)  # their prefix sums, as Fenwick keeps them, without the last
    current = -1
    for group in range(len(case)):
        if case[group] != current:
            current = case[group]
            width = levels[current]
            for node in range(width):
                seen[node] = 0
                tree[node] = 0
        for row in range(first[group], first[group + 1]):
            tied[group] += seen[level[row]]
            node = int(level[row])
            while node > 0:
                agreeing[group] += tree[node]
                node &= node - 1
        for row in range(first[group], first[group + 1]):
            seen[level[row]] += 1
            node = int(level[row]) + 1
            while node < width:
                tree[node] += 1
                node += node & -node
    return agreeing, tied
