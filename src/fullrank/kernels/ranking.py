"""Counting who is above: one pass over a block of scores, no sort.

Legend: s scores of one case over all items, t the score of a held-out item; a case's held-out items and
its two lists of excluded ones are sorted by item.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.compiling import kernel

Array = NDArray[Any]


@kernel
def count_block(
    scores: Array, users: Array, start: Array, held: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    above: Array, tied: Array, before: Array, pool: Array, leaks: Array,
) -> int:  # fmt: skip
    """Fill above, tied and before for every held-out item of these cases, pool and leaks for every case.

    `scores` has a row per case. `users` are their rows in the lists of excluded items. A held-out item
    that is excluded as well stays a candidate and counts as a leak. Returns the first case with a score
    that is not finite, or -1.
    """
    n = scores.shape[1]
    for case in range(scores.shape[0]):
        s = scores[case]
        finite = np.int32(0)
        for j in range(n):
            finite = np.int32(finite + np.int32(abs(s[j]) <= np.float32(3.4028235e38)))
        if finite != n:
            return case
        user = users[case]
        first, last = start[case], start[case + 1]
        for row in range(first, last):
            t = s[held[row]]
            higher, equal = np.int32(0), np.int32(0)
            for j in range(n):
                higher = np.int32(higher + np.int32(s[j] > t))
                equal = np.int32(equal + np.int32(s[j] == t))
            above[row], tied[row], before[row] = higher, equal, 0
        excluded = 0
        for part in range(2):
            starts, items = (seen_start, seen) if part == 0 else (more_start, more)
            place, twin = first, seen_start[user]
            for e in range(starts[user], starts[user + 1]):
                item = items[e]
                if part == 1:  # in both lists it counts once
                    while twin < seen_start[user + 1] and seen[twin] < item:
                        twin += 1
                    if twin < seen_start[user + 1] and seen[twin] == item:
                        continue
                while place < last and held[place] < item:
                    place += 1
                if place < last and held[place] == item:
                    leaks[case] += 1
                    continue
                excluded += 1
                for row in range(first, last):
                    t = s[held[row]]
                    above[row] -= s[item] > t
                    tied[row] -= s[item] == t
        for row in range(first, last):
            t = s[held[row]]
            for other in range(first, last):
                above[row] -= s[held[other]] > t
                tied[row] -= s[held[other]] == t
                before[row] += s[held[other]] > t
        pool[case] = n - excluded - (last - first)
    return -1


@kernel
def _mixed(x: Any) -> Any:
    """SplitMix64's finaliser."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def sample_block(
    scores: Array, users: Array, start: Array, held: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    m: int, seed: int, replace: bool,
    above: Array, tied: Array, before: Array, pool: Array, full: Array, leaks: Array,
) -> int:  # fmt: skip
    """The same among m irrelevant candidates drawn for every case; `full` counts all it could have drawn.

    Draws depend on (seed, user, number of the draw) only: every model meets the same ones. Where there
    are no more than m without replacement, all are taken.
    """
    n = scores.shape[1]
    state = np.zeros(n, dtype=np.uint8)  # 1: no candidate, 2: drawn already
    drawn = np.empty(m, dtype=np.int64)
    for case in range(scores.shape[0]):
        s, user = scores[case], users[case]
        first, last = start[case], start[case + 1]
        for e in range(seen_start[user], seen_start[user + 1]):
            state[seen[e]] = 1
        for e in range(more_start[user], more_start[user + 1]):
            state[more[e]] = 1
        for row in range(first, last):
            leaks[case] += state[held[row]] == 1
            state[held[row]] = 1
        rest = 0
        for j in range(n):
            rest += state[j] == 0
        full[case] = rest
        taken = 0
        if not replace and rest <= m:
            for j in range(n):
                if state[j] == 0:
                    drawn[taken] = j
                    taken += 1
        elif rest > 0:
            count = np.uint64(0)
            key = _mixed(_mixed(np.uint64(seed)) + np.uint64(user))
            while taken < m:
                count += np.uint64(1)
                j = int(np.float64(_mixed(key + count) >> np.uint64(11)) * 2.0**-53 * n)
                if state[j] == 0:
                    drawn[taken] = j
                    taken += 1
                    if not replace:
                        state[j] = 2
        pool[case] = taken
        for row in range(first, last):
            t = s[held[row]]
            higher, equal, ahead = 0, 0, 0
            for d in range(taken):
                higher += s[drawn[d]] > t
                equal += s[drawn[d]] == t
            for other in range(first, last):
                ahead += s[held[other]] > t
            above[row], tied[row], before[row] = higher, equal, ahead
        wrong = False
        for d in range(taken):
            state[drawn[d]] = 0
            wrong |= not np.isfinite(s[drawn[d]])
        for row in range(first, last):
            state[held[row]] = 0
            wrong |= not np.isfinite(s[held[row]])
        for e in range(seen_start[user], seen_start[user + 1]):
            state[seen[e]] = 0
        for e in range(more_start[user], more_start[user + 1]):
            state[more[e]] = 0
        if wrong:
            return case
    return -1
