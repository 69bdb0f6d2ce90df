"""Counting who is above: one pass over a tile of scores, no sort.

Legend: s scores of one case over the items of a tile, c canonical scores of its h held-out items. Scores above `high`
are surely above c, those below `low` surely below; what lies between is too close to tell and asked for its canonical
score. Where s are the canonical scores, low and high are c, and what lies between is tied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.exact_dot import canonical
from fullrank.kernels.near import Near
from fullrank.kernels.within import within
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]


BUCKETS = 1024
FEW = 32  # held-out items that are counted one by one
RUN = 128  # items that are looked at together for some that are close


@kernel
def _count(s: Array, low: Array, high: Array, h: int, above: Array, tied: Array, ask: Array) -> Any:
    """How many are surely above each c, and how many too close to tell: a pass over s for each.

    The latter, (c, item), are put into `ask`, if there is any room in it at all; returns how many, or -1 where there
    is too little.
    """
    pending: Any = 0
    for i in range(h):
        higher, reached = np.int32(0), np.int32(0)
        for j in range(s.shape[0]):
            higher = np.int32(higher + np.int32(s[j] > high[i]))
            reached = np.int32(reached + np.int32(s[j] >= low[i]))
        above[i], tied[i] = higher, reached - higher
        left = tied[i] if ask.shape[1] > 0 else 0
        for first in range(0, s.shape[0], RUN):
            if left == 0:
                break
            close, some = np.int32(0), s[first : first + RUN]  # counted from 0, so that several are taken at a time
            for j in range(some.shape[0]):
                close = np.int32(close + np.int32(some[j] >= low[i]) * np.int32(some[j] <= high[i]))
            if close:
                if pending + RUN > ask.shape[1]:
                    return -1
                for j in range(some.shape[0]):  # without a branch: it would be guessed wrong for half of the scores
                    ask[0, pending], ask[1, pending] = i, first + j
                    pending += np.int32(some[j] >= low[i]) * np.int32(some[j] <= high[i])
                left -= close
    return pending


@kernel
def _count_many(
    s: Array, low: Array, high: Array, h: int, above: Array, tied: Array, ask: Array,
    beside: Array, key: Array, place: Array, bucket: Array,
) -> Any:  # fmt: skip
    """The same in two passes for any number of c: buckets first, then exactly within the buckets that hold a c.

    Buckets are a monotone function of the score, so that all of a higher bucket are above, all of a lower one
    below. A c is in the buckets of both low and high, and in those between. Returns -2, with nothing filled, where
    most scores share buckets with many c and `_count` is faster.
    `bucket` has rows: 0 scores and 1 c in it, 2 scores in higher ones, 3 where its c begin in `place`.
    """
    bottom, top = low[0], high[0]
    for i in range(h):
        bottom, top = min(bottom, low[i]), max(top, high[i])
    scale = s.dtype.type((BUCKETS - 2) / max(np.float64(top) - np.float64(bottom), 1e-30))
    if not (scale > 0 and scale < np.float32(3e38)):
        return -2
    bucket[:] = 0
    for j in range(s.shape[0]):
        key[j] = _bucket(s[j], bottom, scale)
    for j in range(s.shape[0]):
        bucket[0, key[j]] += np.uint32(1)
    for i in range(h):
        for b in range(_bucket(low[i], bottom, scale), _bucket(high[i], bottom, scale) + 1):
            bucket[1, b] += np.uint32(1)
    work, total, last = 0, np.uint32(0), np.uint32(0)
    for b in range(BUCKETS - 1, -1, -1):
        here, mine = bucket[0, b], bucket[1, b]
        bucket[2, b] = total
        work += here * mine
        total += here
        last += mine
        bucket[3, b] = last
    if last > place.shape[0] or 4 * work > s.shape[0] * h:
        return -2
    for i in range(h):
        for b in range(_bucket(low[i], bottom, scale), _bucket(high[i], bottom, scale) + 1):
            bucket[3, b] -= np.uint32(1)
            place[bucket[3, b]] = i
            above[i], tied[i] = bucket[2, b], 0
    pending: Any = 0
    many, any_room = np.uint32(0), ask.shape[1] > 0
    for j in range(s.shape[0]):  # scores that share a bucket with some c, without a branch
        beside[many] = j
        many += np.uint32(bucket[1, key[j]] > 0)
    for n in range(many):
        j, b = beside[n], key[beside[n]]
        if any_room and pending + bucket[1, b] > ask.shape[1]:
            return -1
        for m in range(bucket[3, b], bucket[3, b] + bucket[1, b]):
            i, x = place[m], s[j]
            close = np.int32(x >= low[i]) * np.int32(x <= high[i])
            above[i] += x > high[i]
            tied[i] += close
            if any_room:
                ask[0, pending], ask[1, pending] = i, j
                pending += close
    return pending


@kernel
def _bucket(x: Any, bottom: Any, scale: Any) -> Any:
    return np.uint16(np.int32(min(max((x - bottom) * scale + np.float32(1), np.float32(0)), np.float32(BUCKETS - 1))))


@kernel
def count_tile(
    begin: int, scores: Array, near: Near, c: Array, users: Array, start: Array, held: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    above: Array, tied: Array, relevant_above: Array, pool: Array, leaks: Array,
) -> int:  # fmt: skip
    """Count above and tied for every held-out item of these cases, pool and leaks for every case, among some items.

    `scores` has a row per case, of items `begin`, `begin` + 1, ...; the counts start with the tile of item 0, and
    relevant_above is filled there. `c` are the canonical scores of the held-out items, without offsets. `scores` is
    overwritten: who is no irrelevant candidate falls to -inf, so that counting needs no further look at lists. `users`
    are the cases' rows in the lists of excluded items, which are sorted, as held-out items of a case are. A held-out
    item that is excluded as well stays and counts as a leak. Returns the first case with a score that is not finite,
    or -1: irrelevant candidates are as many as finite scores are left.
    """
    n, exact = scores.shape[1], near.items.shape[0] == 0
    gone = scores.dtype.type(-np.inf)
    longest = 0
    for case in range(scores.shape[0]):
        longest = max(longest, start[case + 1] - start[case])
    low, high = np.empty(longest, dtype=scores.dtype), np.empty(longest, dtype=scores.dtype)
    higher, equal = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    key, beside = np.empty(n, dtype=np.uint16), np.empty(n, dtype=np.uint32)
    place, bucket = np.empty(2 * longest, dtype=np.uint32), np.empty((4, BUCKETS), dtype=np.uint32)
    no_room, ask = np.empty((2, 0), dtype=np.uint32), np.empty((2, 4 * longest + 4 * RUN), dtype=np.uint32)
    for case in range(scores.shape[0]):
        s, user, first = scores[case], users[case], start[case]
        h = start[case + 1] - first
        own = c[first : first + h]
        rest, leaked, sound = n, 0, True
        tau, slack, offset = np.float64(near.tau[case]), near.slack[case], near.offset[case]
        width = slack + tau * near.furthest
        if begin == 0:
            pool[case], leaks[case] = 0, 0
            _rank_held(own, offset, above[first:], tied[first:], relevant_above[first:])
        for i in range(h):
            away = width + near.unit * (abs(own[i]) + width)
            low[i], high[i] = own[i] - away, own[i] + away
            sound &= abs(own[i]) < np.inf
        here, until = within(seen, seen_start[user], seen_start[user + 1], begin, n)
        for e in range(here, until):
            rest -= s[seen[e] - begin] != gone
            sound &= s[seen[e] - begin] < np.inf
            s[seen[e] - begin] = gone
        here, until = within(more, more_start[user], more_start[user + 1], begin, n)
        for e in range(here, until):
            rest -= s[more[e] - begin] != gone
            sound &= s[more[e] - begin] < np.inf
            s[more[e] - begin] = gone
        here, until = within(held, first, first + h, begin, n)
        for e in range(here, until):
            leaked += s[held[e] - begin] == gone
            rest -= s[held[e] - begin] != gone
            s[held[e] - begin] = gone
        pool[case] += rest
        leaks[case] += leaked
        if exact:
            finite = np.int32(0)
            for j in range(n):
                finite = np.int32(finite + np.int32(abs(s[j]) < np.inf))
            sound &= finite == rest
        if not sound:
            return case
        pending = -1
        while pending < 0:
            room = no_room if exact or tau == 0 else ask  # of a vector of zeros, all products are 0 and exact
            pending = -2
            if h > FEW:
                pending = _count_many(s, low, high, h, higher, equal, room, beside, key, place, bucket)
            if pending == -2:
                pending = _count(s, low, high, h, higher, equal, room)
            if pending < 0:
                ask = np.empty((2, 4 * ask.shape[1]), dtype=np.uint32)
        for m in range(pending):
            i, j = ask[0, m], begin + ask[1, m]
            apart = np.float64(s[j - begin]) - own[i]
            if abs(apart) <= tau * near.reach[j] + slack:
                apart = canonical(near, case, j) - (own[i] + offset)
            higher[i] += apart > 0
            equal[i] -= apart != 0
        for i in range(h):
            above[first + i] += higher[i]
            tied[first + i] += equal[i]
    return -1


@kernel
def _rank_held(c: Array, offset: float, above: Array, tied: Array, relevant_above: Array) -> None:
    """Start the counts of a case, and fill how many of its held-out items are above each."""
    for i in range(c.shape[0]):
        ahead = np.int32(0)
        for j in range(c.shape[0]):
            ahead = np.int32(ahead + np.int32(c[j] + offset > c[i] + offset))
        above[i], tied[i], relevant_above[i] = 0, 0, ahead
