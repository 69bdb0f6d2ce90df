"""Items beside each other: products of all pairs of item columns, the nearest of each, and scores from them.

Legend: lists are (start, code, value) of a sparse matrix, by item or by user; where `binary` holds, every entry
counts 1 and `value` is not read. weight[u] is what user u counts in the products.
dot[j] = sum over u of weight[u] x_ui x_uj, length2[j] = <x_j, x_j> (1 for items without any).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.kth_largest import kth_largest
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]
Lists = tuple[Array, Array, Array]


@kernel
def add_dense(
    users: Array, start: Array, item: Array, value: Array, binary: bool, similar: Array, out: Array
) -> None:  # fmt: skip
    """out[row] = sum over the items j of users[row] of (1 or value) similar[j], four rows of `similar` at a time."""
    one, n = np.float32(1), similar.shape[1]
    for row in range(users.shape[0]):
        first, last = start[users[row]], start[users[row] + 1]
        for x in range(n):
            out[row, x] = 0
        fours = last - (last - first) % 4
        for e in range(first, fours, 4):
            a, b, c, d = one, one, one, one
            if not binary:
                a, b, c, d = value[e], value[e + 1], value[e + 2], value[e + 3]
            p, q, r, s = item[e], item[e + 1], item[e + 2], item[e + 3]
            for x in range(n):
                out[row, x] += (a * similar[p, x] + b * similar[q, x]) + (c * similar[r, x] + d * similar[s, x])
        for e in range(fours, last):
            a, p = one if binary else value[e], item[e]
            for x in range(n):
                out[row, x] += a * similar[p, x]


@kernel
def add_sparse(
    users: Array, start: Array, item: Array, value: Array, binary: bool,
    indptr: Array, indices: Array, data: Array, out: Array,
) -> None:  # fmt: skip
    """The same where `similar` has few entries in a row."""
    for row in range(users.shape[0]):
        for x in range(out.shape[1]):
            out[row, x] = 0
        for e in range(start[users[row]], start[users[row] + 1]):
            weight, j = np.float32(1) if binary else value[e], item[e]
            for f in range(indptr[j], indptr[j + 1]):
                out[row, np.uint32(indices[f])] += weight * data[f]


@kernel
def _dots(i: int, by_item: Lists, by_user: Lists, binary: bool, weight: Array, dot: Array) -> None:
    """Add to `dot` the products of item i with all items: its users, and their items."""
    start, item, value = by_user
    for e in range(by_item[0][i], by_item[0][i + 1]):
        u = by_item[1][e]
        mine = weight[u]
        if binary:
            for f in range(start[u], start[u + 1]):
                dot[np.uint32(item[f])] += mine
        else:
            mine *= by_item[2][e]
            for f in range(start[u], start[u + 1]):
                dot[np.uint32(item[f])] += mine * value[f]


@kernel
def dots_block(first: int, by_item: Lists, by_user: Lists, binary: bool, weight: Array, out: Array) -> None:
    """Rows first, first + 1, ... of X'X, dense."""
    out[:] = 0
    for row in range(out.shape[0]):
        _dots(first + row, by_item, by_user, binary, weight, out[row])


@kernel
def _touch(i: int, by_item: Lists, by_user: Lists, mark: Array, touched: Array) -> int:
    """Put the items that share a user with item i into `touched`; how many they are."""
    m = 0
    for e in range(by_item[0][i], by_item[0][i + 1]):
        u = by_item[1][e]
        for f in range(by_user[0][u], by_user[0][u + 1]):
            j = np.uint32(by_user[1][f])
            touched[m] = j
            m += mark[j] == 0
            mark[j] = 1
    return m


@kernel
def _bar(key: Array, k: int, best: Array) -> float:
    """The k-th largest of key in one pass; `best` holds those that may still be among the largest."""
    bar, size = -1.0, 0
    for t in range(key.shape[0]):
        if key[t] > bar:
            best[size] = key[t]
            size += 1
            if size == best.shape[0]:
                bar, size = kth_largest(best, k), k
    return float(kth_largest(best[:size], k))


@kernel
def _sort(x: Array) -> None:
    """Sort in place, by a heap (NumPy's sort takes seconds to compile)."""
    n = x.shape[0]
    for step in range(n + n // 2):
        root, end = n // 2 - 1 - step, n
        if root < 0:
            root, end = 0, n - 1 - (step - n // 2)
            x[0], x[end] = x[end], x[0]
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and x[child + 1] > x[child]:
                child += 1
            if x[root] >= x[child]:
                break
            x[root], x[child] = x[child], x[root]
            root = child


@kernel
def _square(d: float, one: float, other: float, shrink: float) -> float:
    """The square of d / (sqrt(one other) + shrink); without a shrink equal fractions have equal bits."""
    if shrink == 0:
        return d * d / (one * other)
    s: float = d / (np.sqrt(one * other) + shrink)
    return s * s


@kernel
def choose(
    i: int, candidates: int, few: bool, length2: Array, shrink: float, k: int, keep_self: bool, share: bool,
    dot: Array, key: Array, best: Array, mark: Array, touched: Array, near: Array,
    total: int, which: Array, cosine2: Array, part: Array,
) -> int:  # fmt: skip
    """Write the k nearest of item i from `total` on, and clear `dot` and `mark`; where they end, or -1 without room.

    Candidates are those `touched` where they are `few`, else all items. Of those tied at the k-th place each gets an
    equal part of the places left (its chance under random choice) where `share` holds, else the first by code get them.
    Without a shrink cosines are compared as dot_j^2 / length2_j: equal fractions of whole numbers have equal bits, so
    that ties are exact. With one, or with weighted users, equal sums of equal numbers are ties.
    """
    m, own = 0, length2[i] if shrink > 0 else 1.0
    for c in range(candidates):
        j = touched[c] if few else np.int32(c)
        d = dot[j]
        near[m], key[m] = j, _square(d, own, length2[j], shrink)
        m += d > 0 and (keep_self or j != i)
    bar = _bar(key[:m], k, best) if m > k else -1.0
    kept, above = 0, 0
    for c in range(m):
        above += key[c] > bar
        near[kept] = near[c]
        kept += key[c] >= bar
    fits = total + kept <= which.shape[0]
    if fits:
        if few:
            _sort(near[:kept])
        left = k - above
        chance = np.float32(left / (kept - above)) if share and kept > above else np.float32(1)
        for c in range(kept):
            j = near[c]
            d = dot[j]
            tied = _square(d, own, length2[j], shrink) == bar
            which[total], cosine2[total] = j, _square(d, length2[i], length2[j], shrink)
            part[total] = chance if tied else np.float32(1)
            total += share or not tied or left > 0
            left -= tied
    for c in range(candidates):
        j = touched[c] if few else np.int32(c)
        dot[j], mark[j] = 0, 0
    return total if fits else -1


@kernel
def nearest_block(
    first: int, last: int, by_item: Lists, by_user: Lists, binary: bool, weight: Array, length2: Array, shrink: float,
    k: int, keep_self: bool, share: bool,
    dot: Array, key: Array, best: Array, mark: Array, touched: Array, near: Array,
    end: Array, which: Array, cosine2: Array, part: Array,
) -> int:  # fmt: skip
    """For items first..last-1 the k of largest cosine above 0, sorted by code: which, squared cosine, part.

    How they are chosen and what a part is: `choose`. Neighbours of item i end at end[i - first]. Returns the item to
    go on with once `which`, which has room for one item at least, is full.
    `dot` and `mark` (items) come and stay 0; `key`, `touched`, `near` (items + 1) and `best` (2 k) are for work.
    """
    n, total = length2.shape[0], 0
    for i in range(first, last):
        steps = 0
        for e in range(by_item[0][i], by_item[0][i + 1]):
            steps += by_user[0][by_item[1][e] + 1] - by_user[0][by_item[1][e]]
        few = 8 * steps < n
        _dots(i, by_item, by_user, binary, weight, dot)
        candidates = _touch(i, by_item, by_user, mark, touched) if few else n
        until = choose(
            i, candidates, few, length2, shrink, k, keep_self, share, dot, key, best, mark, touched, near,
            total, which, cosine2, part,
        )  # fmt: skip
        if until < 0:
            return i
        total = until
        end[i - first] = total
    return last
