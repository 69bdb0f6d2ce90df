"""What exact ranks are measured against: products by BLAS, counted as if they were the scores themselves.

This is how ranks were counted before they had to be the same on every machine. Last bits decide ties and neighbours
here, and differ from processor to processor and from block to block.

Legend: s scores of one case over all items, t scores of its h held-out items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.evaluation.blocks import block_size
from fullrank.evaluation.cases import Cases
from fullrank.ranks import Ranks
from fullrank.runtime.compiling import kernel
from fullrank.runtime.threads import in_parallel, one_blas_thread

Array = NDArray[Any]


BUCKETS = 1024
LARGE = np.float32(3.4028235e38)  # the largest number that is not infinite
FEW = 32  # held-out items that are counted one by one


@kernel
def _count(s: Array, t: Array, above: Array, tied: Array) -> None:
    """How many of s are above and equal to each of t: a pass over s for each."""
    for i in range(t.shape[0]):
        higher, equal = np.int32(0), np.int32(0)
        for j in range(s.shape[0]):
            higher = np.int32(higher + np.int32(s[j] > t[i]))
            equal = np.int32(equal + np.int32(s[j] == t[i]))
        above[i], tied[i] = higher, equal


@kernel
def _count_many(
    s: Array, t: Array, above: Array, tied: Array, key: Array, place: Array, close: Array, bucket: Array
) -> bool:
    """The same in two passes for any number of t: buckets first, then exactly within the buckets that hold a t.

    Buckets are a monotone function of the score, so that all of a higher bucket are above, all of a lower one
    below. False, with nothing filled, where most scores share buckets with many t and `_count` is faster.
    `bucket` has rows: 0 scores and 1 t in it, 2 scores in higher ones, 3 where its t begin in `place`.
    """
    low, high = t[0], t[0]
    for i in range(t.shape[0]):
        low, high = min(low, t[i]), max(high, t[i])
    scale = np.float32((BUCKETS - 2) / max(np.float64(high) - np.float64(low), 1e-30))
    if not (scale > 0 and scale < np.float32(3e38)):
        return False
    bucket[:] = 0
    for j in range(s.shape[0]):
        key[j] = _bucket(s[j], low, scale)
    for j in range(s.shape[0]):
        bucket[0, key[j]] += np.uint32(1)
    for i in range(t.shape[0]):
        bucket[1, _bucket(t[i], low, scale)] += np.uint32(1)
    work, total, last = 0, np.uint32(0), np.uint32(0)
    for b in range(BUCKETS - 1, -1, -1):
        here, mine = bucket[0, b], bucket[1, b]
        bucket[2, b] = total
        work += here * mine
        total += here
        last += mine
        bucket[3, b] = last
    if 4 * work > s.shape[0] * t.shape[0]:
        return False
    for i in range(t.shape[0]):
        b = _bucket(t[i], low, scale)
        bucket[3, b] -= np.uint32(1)
        place[bucket[3, b]] = i
        above[i], tied[i] = bucket[2, b], 0
    near = np.uint32(0)
    for j in range(s.shape[0]):  # scores that share a bucket with some t, without a branch
        close[near] = j
        near += np.uint32(bucket[1, key[j]] > 0)
    for n in range(near):
        x, b = s[close[n]], key[close[n]]
        for m in range(bucket[3, b], bucket[3, b] + bucket[1, b]):
            i = place[m]
            above[i] += x > t[i]
            tied[i] += x == t[i]
    return True


@kernel
def _bucket(x: Any, low: Any, scale: Any) -> Any:
    return np.uint16(np.int32(min(max((x - low) * scale + np.float32(1), np.float32(0)), np.float32(BUCKETS - 1))))


@kernel
def count_block(
    scores: Array, users: Array, start: Array, held: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    above: Array, tied: Array, relevant_above: Array, pool: Array, leaks: Array,
) -> int:  # fmt: skip
    """Fill above, tied and relevant_above for every held-out item of these cases, pool and leaks for every case.

    `scores` has a row per case and is overwritten: who is no irrelevant candidate falls to -inf, so that
    counting needs no further look at lists. `users` are the cases' rows in the lists of excluded items. A
    held-out item that is excluded as well stays and counts as a leak. Returns the first case with a score
    that is not finite, or -1: irrelevant candidates are as many as finite scores are left.
    """
    n = scores.shape[1]
    gone = np.float32(-np.inf)
    longest = 0
    for case in range(scores.shape[0]):
        longest = max(longest, start[case + 1] - start[case])
    t = np.empty(longest, dtype=np.float32)
    key, close = np.empty(n, dtype=np.uint16), np.empty(n, dtype=np.uint32)
    place, bucket = np.empty(longest, dtype=np.uint32), np.empty((4, BUCKETS), dtype=np.uint32)
    for case in range(scores.shape[0]):
        s, user, first = scores[case], users[case], start[case]
        h = start[case + 1] - first
        hidden, sound = 0, True
        for i in range(h):
            t[i] = s[held[first + i]]
            sound &= abs(t[i]) <= LARGE
        for e in range(seen_start[user], seen_start[user + 1]):
            hidden += s[seen[e]] != gone
            sound &= s[seen[e]] <= LARGE
            s[seen[e]] = gone
        for e in range(more_start[user], more_start[user + 1]):
            hidden += s[more[e]] != gone
            sound &= s[more[e]] <= LARGE
            s[more[e]] = gone
        for i in range(h):
            leaks[case] += s[held[first + i]] == gone
            s[held[first + i]] = gone
        pool[case] = n - hidden - h + leaks[case]
        higher, equal, finite = np.int32(0), np.int32(0), np.int32(0)
        for j in range(n):
            higher = np.int32(higher + np.int32(s[j] > t[0]))
            equal = np.int32(equal + np.int32(s[j] == t[0]))
            finite = np.int32(finite + np.int32(abs(s[j]) <= LARGE))
        if finite != pool[case] or not sound:
            return case
        above[first], tied[first] = higher, equal
        rest = slice(first + 1, first + h)
        if h <= FEW or not _count_many(s, t[1:h], above[rest], tied[rest], key, place, close, bucket):
            _count(s, t[1:h], above[rest], tied[rest])
        for i in range(h):
            ahead = np.int32(0)
            for j in range(h):
                ahead = np.int32(ahead + np.int32(t[j] > t[i]))
            relevant_above[first + i] = ahead
    return -1


def direct(left: Array, right: Array, cases: Cases) -> Callable[[], Ranks]:
    """Product and counting for all cases, in blocks and threads as `rank` has them."""
    import threading

    own = threading.local()

    def run() -> Ranks:
        across, rows = np.ascontiguousarray(right.T), block_size(len(right))
        found = [np.empty(len(cases.item), dtype=np.int64) for _ in range(3)]
        pool, leaks = np.empty(len(cases), dtype=np.int64), np.zeros(len(cases), dtype=np.int64)

        def one(first: int) -> None:
            some = slice(first, min(first + rows, len(cases)))
            if not hasattr(own, "scores"):
                own.scores = np.empty((rows, len(right)), dtype=np.float32)
            scores = own.scores[: some.stop - first]
            np.matmul(left[cases.user[some]], across, out=scores)
            begin, end = cases.start[some.start], cases.start[some.stop]
            starts, rest = cases.start[some.start : some.stop + 1] - begin, slice(begin, end)
            given = (scores, cases.user[some], starts, cases.item[rest], *cases.seen, *cases.more)
            count_block(*given, *(part[rest] for part in found), pool[some], leaks[some])

        with one_blas_thread():
            in_parallel(one, range(0, len(cases), rows))
        above, tied, relevant_above = found
        return Ranks(
            start=cases.start, above=above, tied=tied, pool=pool, relevant_above=relevant_above,
            item=cases.item, user=cases.user,
            grade=cases.grade, full=pool,
        )  # fmt: skip

    return run
