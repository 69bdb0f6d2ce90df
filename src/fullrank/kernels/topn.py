"""The best items of every row, without sorting the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.exact_dot import canonical
from fullrank.kernels.kth_largest import kth_largest
from fullrank.kernels.near import Near
from fullrank.kernels.within import within
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]

RUN = 64  # scores that are looked at together for some that are high


@kernel
def top_tile(
    begin: int, scores: Array, near: Near, users: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    order: Array, best: Array, best_scores: Array,
) -> int:  # fmt: skip
    """Take the items of the highest canonical scores into `best` (rows, n), -1 where there are no more.

    `scores` are of items `begin`, `begin` + 1, ...; lists start with the tile of item 0, and are sorted, best first,
    with that of the last item. In between their last place has what would leave next. Excluded items, which are
    sorted, are left out; of equal scores the item with the smaller `order` is first. Where the scores are only near
    the canonical ones, all that may be among the n best so far are asked for theirs. `scores` are as before in the
    end. Returns the first row with a score that is not finite, or -1.
    """
    n, wide, exact = best.shape[1], scores.shape[1], near.items.shape[0] == 0
    gone = scores.dtype.type(-np.inf)
    saved, hold = np.empty(2 * wide, dtype=scores.dtype), np.empty(2 * min(n, wide) + RUN, dtype=scores.dtype)
    hits, c = np.empty(wide + n + 1, dtype=np.int32), np.empty(wide + n)
    for row in range(scores.shape[0]):
        s, user, codes, worth = scores[row], users[row], best[row], best_scores[row]
        if exact and not _finite(s):
            return row
        if begin == 0:
            codes[:], worth[:] = -1, 0
        a, b = within(seen, seen_start[user], seen_start[user + 1], begin, wide)
        d, e = within(more, more_start[user], more_start[user + 1], begin, wide)
        _hide(s, begin, seen[a:b], saved, gone)
        _hide(s, begin, more[d:e], saved[b - a :], gone)
        width, least, full = near.slack[row] + near.tau[row] * near.furthest, gone, codes[n - 1] >= 0
        if full:
            own = worth[n - 1] - near.offset[row]
            least = s.dtype.type(own - width - near.unit * (abs(own) + width))
        many = _at_least(s, least, hits) if full else wide
        if many > 2 * n + RUN or not full:
            bar = np.float64(_bar(s, n, hold))
            if bar > -np.inf:
                least = max(least, s.dtype.type(bar - 2 * width - near.unit * (abs(bar) + 2 * width)))
            many = _at_least(s, least, hits)
        for place in range(many):
            hits[place] += begin
            c[place] = s[hits[place] - begin] if exact else canonical(near, row, hits[place])
        if many:
            _join(c, hits, many, order, codes, worth)
        if begin + wide == order.shape[0]:
            size = _size(codes)
            _sort_down(worth[:size], codes[:size], order)
        _show(s, begin, more[d:e], saved[b - a :])  # the last hidden first: an item may be in both
        _show(s, begin, seen[a:b], saved)
    return -1


@kernel
def _hide(s: Array, begin: int, items: Array, saved: Array, gone: Any) -> None:
    for e in range(items.shape[0]):
        saved[e], s[items[e] - begin] = s[items[e] - begin], gone


@kernel
def _show(s: Array, begin: int, items: Array, saved: Array) -> None:
    for e in range(items.shape[0] - 1, -1, -1):
        s[items[e] - begin] = saved[e]


@kernel
def _size(codes: Array) -> Any:
    """How many places of a list are taken."""
    size: Any = 0
    while size < codes.shape[0] and codes[size] >= 0:
        size += 1
    return size


@kernel
def _join(c: Array, code: Array, many: int, order: Array, best: Array, worth: Array) -> None:
    """Take the first `many` of c and their codes into a list; of a full one, what comes last has the last place."""
    size, n = _size(best), best.shape[0]
    for place in range(size):
        c[many + place], code[many + place] = worth[place], best[place]
    size = _keep(c[: many + size], code[: many + size], n, order)
    last = 0
    for place in range(size):
        worth[place], best[place] = c[place], code[place]
        if _later(c[place], order[code[place]], c[last], order[code[last]]):
            last = place
    if size == n:
        worth[last], worth[n - 1] = worth[n - 1], worth[last]
        best[last], best[n - 1] = best[n - 1], best[last]


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
        some = s[first : first + RUN]  # counted from 0, or the compiler would not take several scores at a time
        higher = np.int32(0)
        for j in range(some.shape[0]):
            higher = np.int32(higher + np.int32(some[j] > bar))
        if higher:
            for j in range(some.shape[0]):
                hold[size] = some[j]
                size += some[j] > bar
            if size > hold.shape[0] - RUN:
                bar, size = kth_largest(hold[:size], n), n
    return kth_largest(hold[:size], n) if size > n else bar


@kernel
def _at_least(s: Array, least: Any, hits: Array) -> Any:
    """The places of scores at or above `least` and above -inf, in their order; how many they are."""
    many: Any = 0
    for first in range(0, s.shape[0], RUN):
        some = s[first : first + RUN]
        higher = np.int32(0)
        for j in range(some.shape[0]):
            higher = np.int32(higher + np.int32(some[j] >= least))
        if higher:
            for j in range(some.shape[0]):
                hits[many] = first + j
                many += np.int32(some[j] >= least) * np.int32(some[j] > -np.inf)
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
