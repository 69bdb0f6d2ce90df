"""The best items of every row, without sorting the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.exact_dot import canonical
from fullrank.kernels.kth_largest import kth_largest
from fullrank.kernels.near import Near
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]

RUN = 64  # scores that are looked at together for some that are high


@kernel
def top_block(
    scores: Array, near: Near, users: Array, seen_start: Array, seen: Array, more_start: Array, more: Array,
    order: Array, best: Array, best_scores: Array,
) -> int:  # fmt: skip
    """Fill `best` (rows, n) with the items of the highest canonical scores, best first, -1 where there are no more.

    Excluded items are left out; of equal scores the item with the smaller `order` is first. Where the scores are only
    near the canonical ones, all that may be among the n best are asked for theirs. `scores` are as before in the
    end. Returns the first row with a score that is not finite, or -1.
    """
    n, exact = best.shape[1], near.items.shape[0] == 0
    gone = scores.dtype.type(-np.inf)
    longest = 0
    for row in range(scores.shape[0]):
        user = users[row]
        here = seen_start[user + 1] - seen_start[user] + more_start[user + 1] - more_start[user]
        longest = max(longest, here)
    saved = np.empty(longest, dtype=scores.dtype)
    hold = np.empty(2 * min(n, scores.shape[1]) + RUN, dtype=scores.dtype)
    hits = np.empty(scores.shape[1] + 1, dtype=np.int32)
    for row in range(scores.shape[0]):
        s, user = scores[row], users[row]
        if exact and not _finite(s):
            return row
        size = 0
        for e in range(seen_start[user], seen_start[user + 1]):
            saved[size], s[seen[e]] = s[seen[e]], gone
            size += 1
        for e in range(more_start[user], more_start[user + 1]):
            saved[size], s[more[e]] = s[more[e]], gone
            size += 1
        bar = np.float64(_bar(s, n, hold))
        width = near.slack[row] + near.tau[row] * near.furthest
        least = s.dtype.type(bar - 2 * width - near.unit * (abs(bar) + 2 * width))
        many = _at_least(s, least if bar > -np.inf else gone, hits)
        c = np.empty(many)
        if exact:
            for place in range(many):
                c[place] = s[hits[place]]
        else:
            for place in range(many):
                c[place] = canonical(near, row, hits[place])
        many = _keep(c, hits[:many], n, order)
        _sort_down(c[:many], hits[:many], order)
        for place in range(n):
            best[row, place] = hits[place] if place < many else -1
            best_scores[row, place] = c[place] if place < many else 0
        for e in range(more_start[user + 1] - 1, more_start[user] - 1, -1):  # backwards: an item may be in both
            size -= 1
            s[more[e]] = saved[size]
        for e in range(seen_start[user + 1] - 1, seen_start[user] - 1, -1):
            size -= 1
            s[seen[e]] = saved[size]
    return -1


@kernel
def _finite(s: Array) -> bool:
    finite = np.int32(0)
    for j in range(s.shape[0]):
        finite = np.int32(finite + np.int32(abs(s[j]) < np.inf))
    return bool(finite == s.shape[0])


@kernel
def _bar(s: Array, n: int, hold: Array) -> Any:
    """The n-th largest of s, -inf where there are no more than n; `hold` has room for 2 n + RUN."""
    bar, size = s.dtype.type(-np.inf), 0
    for first in range(0, s.shape[0], RUN):
        last, higher = min(first + RUN, s.shape[0]), np.int32(0)
        for j in range(first, last):
            higher = np.int32(higher + np.int32(s[j] > bar))
        if higher:
            for j in range(first, last):
                hold[size] = s[j]
                size += s[j] > bar
            if size > hold.shape[0] - RUN:
                bar, size = kth_largest(hold[:size], n), n
    return kth_largest(hold[:size], n) if size > n else bar


@kernel
def _at_least(s: Array, least: Any, hits: Array) -> Any:
    """The places of scores at or above `least` and above -inf, in their order; how many they are."""
    many: Any = 0
    for first in range(0, s.shape[0], RUN):
        last, higher = min(first + RUN, s.shape[0]), np.int32(0)
        for j in range(first, last):
            higher = np.int32(higher + np.int32(s[j] >= least))
        if higher:
            for j in range(first, last):
                hits[many] = j
                many += np.int32(s[j] >= least) * np.int32(s[j] > -np.inf)
    return many


@kernel
def _keep(c: Array, code: Array, n: int, order: Array) -> Any:
    """Move the n largest of c and their codes to the front, of equal ones the first by order; how many there are."""
    if c.shape[0] <= n:
        return c.shape[0]
    bar, above, level, kept = kth_largest(c.copy(), n), 0, 0, 0
    for place in range(c.shape[0]):
        above += c[place] > bar
        level += c[place] == bar
    last = -np.inf  # of the order of those at the bar, with its sign turned
    if above + level > n:
        turned, level = np.empty(level), 0
        for place in range(c.shape[0]):
            if c[place] == bar:
                turned[level] = -order[code[place]]
                level += 1
        last = kth_largest(turned, n - above)
    for place in range(c.shape[0]):
        if c[place] > bar or (c[place] == bar and -order[code[place]] >= last):
            c[kept], code[kept] = c[place], code[place]
            kept += 1
    return kept


@kernel
def _sort_down(c: Array, code: Array, order: Array) -> None:
    """Sort both by falling c, of equal ones by rising order, in place: a heap whose root is what comes last."""
    n = c.shape[0]
    for step in range(n + n // 2):
        root, end = n // 2 - 1 - step, n
        if root < 0:
            root, end = 0, n - 1 - (step - n // 2)
            c[0], c[end] = c[end], c[0]
            code[0], code[end] = code[end], code[0]
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and _later(c[child + 1], order[code[child + 1]], c[child], order[code[child]]):
                child += 1
            if not _later(c[child], order[code[child]], c[root], order[code[root]]):
                break
            c[root], c[child] = c[child], c[root]
            code[root], code[child] = code[child], code[root]
            root = child


@kernel
def _later(x: float, i: int, y: float, j: int) -> bool:
    return x < y or (x == y and i > j)
