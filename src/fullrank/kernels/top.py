"""The best items of every row, without sorting the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.compiling import kernel

Array = NDArray[Any]


@kernel
def top_block(
    scores: Array, users: Array, seen_start: Array, seen: Array, more_start: Array, more: Array,
    best: Array, best_scores: Array,
) -> int:  # fmt: skip
    """Fill `best` (rows, n) with the items of the highest scores, best first, -1 where there are no more.

    Excluded items are left out; of equal scores the item with the smaller code is first. Returns the
    first row with a score that is not finite, or -1.
    """
    n_items, n = scores.shape[1], best.shape[1]
    hidden = np.zeros(n_items, dtype=np.uint8)
    for row in range(scores.shape[0]):
        s, user = scores[row], users[row]
        for e in range(seen_start[user], seen_start[user + 1]):
            hidden[seen[e]] = 1
        for e in range(more_start[user], more_start[user + 1]):
            hidden[more[e]] = 1
        size = 0
        worst = np.float32(-np.inf)
        for j in range(n_items):
            if not abs(s[j]) <= np.float32(3.4028235e38):
                return row
            if (size < n or s[j] > worst) and not hidden[j]:
                place = min(size, n - 1)
                while place > 0 and best_scores[row, place - 1] < s[j]:
                    best_scores[row, place] = best_scores[row, place - 1]
                    best[row, place] = best[row, place - 1]
                    place -= 1
                best_scores[row, place], best[row, place] = s[j], j
                size = min(size + 1, n)
                worst = best_scores[row, size - 1]
        for place in range(size, n):
            best[row, place], best_scores[row, place] = -1, 0
        for e in range(seen_start[user], seen_start[user + 1]):
            hidden[seen[e]] = 0
        for e in range(more_start[user], more_start[user + 1]):
            hidden[more[e]] = 0
    return -1
