"""Ranks among candidates that are drawn: for a case (Krichene and Rendle 2020), or for a pair (Steck 2010).

Legend: as in `counting`; with vectors only what was drawn is scored, by canonical scores, and `scores` has no rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.exact_dot import canonical
from fullrank.kernels.near import Near
from fullrank.kernels.random import mixed
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]


@kernel
def sample_block(
    scores: Array, near: Near, users: Array, start: Array, held: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    m: int, seed: int, replace: bool,
    above: Array, tied: Array, relevant_above: Array, pool: Array, full: Array, leaks: Array,
) -> int:  # fmt: skip
    """What `count_block` fills, among m irrelevant candidates drawn for every case; `full` counts all there are.

    Draws depend on (seed, user, number of the draw) only: every model meets the same ones. Where there
    are no more than m without replacement, all are taken.
    """
    exact = near.items.shape[0] == 0
    n = scores.shape[1] if exact else near.items.shape[0]
    longest = 0
    for case in range(users.shape[0]):
        longest = max(longest, start[case + 1] - start[case])
    c, drawn_c = np.empty(longest), np.empty(m)
    state = np.zeros(n, dtype=np.uint8)  # 1: no candidate, 2: drawn already
    drawn = np.empty(m, dtype=np.int64)
    for case in range(users.shape[0]):
        s = scores[case] if exact else scores[0]
        user, first, last = users[case], start[case], start[case + 1]
        _mark(state, seen[seen_start[user] : seen_start[user + 1]], 1)
        _mark(state, more[more_start[user] : more_start[user + 1]], 1)
        for row in range(first, last):
            leaks[case] += state[held[row]] == 1
            state[held[row]] = 1
        rest = 0
        for j in range(n):
            rest += state[j] == 0
        full[case] = rest
        taken = _draw(state, rest, m, mixed(mixed(np.uint64(seed)) + np.uint64(user)), replace, drawn)
        pool[case] = taken
        sound = True
        for d in range(taken):
            drawn_c[d] = _score(s, near, case, drawn[d])
            sound &= abs(drawn_c[d]) < np.inf
            state[drawn[d]] = 0
        for row in range(first, last):
            c[row - first] = _score(s, near, case, held[row])
            sound &= abs(c[row - first]) < np.inf
            state[held[row]] = 0
        _mark(state, seen[seen_start[user] : seen_start[user + 1]], 0)
        _mark(state, more[more_start[user] : more_start[user + 1]], 0)
        if not sound:
            return case
        for row in range(first, last):
            own = c[row - first]
            higher, equal, ahead = 0, 0, 0
            for d in range(taken):
                higher += drawn_c[d] > own
                equal += drawn_c[d] == own
            for other in range(last - first):
                ahead += c[other] > own
            above[row], tied[row], relevant_above[row] = higher, equal, ahead
    return -1


@kernel
def sample_pairs_block(
    scores: Array, near: Near, users: Array, start: Array, held: Array,
    seen_start: Array, seen: Array, more_start: Array, more: Array,
    m: int, seed: int, replace: bool,
    above: Array, tied: Array, pool: Array, full: Array, leaks: Array,
) -> int:  # fmt: skip
    """The same for every held-out item by itself, among m drawn of all others that are not excluded (Steck 2010, 2.3).

    Other held-out items of the case are among these. Draws depend on (seed, user, item, number of the draw) only.
    All but `leaks` are filled for every held-out item.
    """
    exact = near.items.shape[0] == 0
    n = scores.shape[1] if exact else near.items.shape[0]
    state, drawn = np.zeros(n, dtype=np.uint8), np.empty(m, dtype=np.int64)
    for case in range(users.shape[0]):
        s = scores[case] if exact else scores[0]
        user, first, last = users[case], start[case], start[case + 1]
        _mark(state, seen[seen_start[user] : seen_start[user + 1]], 1)
        _mark(state, more[more_start[user] : more_start[user + 1]], 1)
        for row in range(first, last):
            leaks[case] += state[held[row]] == 1
            state[held[row]] = 0
        others = -1
        for j in range(n):
            others += state[j] == 0
        key = mixed(mixed(np.uint64(seed)) + np.uint64(user))
        sound = True
        for row in range(first, last):
            state[held[row]] = 1
            taken = _draw(state, others, m, mixed(key + np.uint64(held[row])), replace, drawn)
            state[held[row]] = 0
            own, higher, equal = _score(s, near, case, held[row]), 0, 0
            sound &= abs(own) < np.inf
            for d in range(taken):
                state[drawn[d]] = 0
                other = _score(s, near, case, drawn[d])
                sound &= abs(other) < np.inf
                higher += other > own
                equal += other == own
            above[row], tied[row], pool[row], full[row] = higher, equal, taken, others
        _mark(state, seen[seen_start[user] : seen_start[user + 1]], 0)
        _mark(state, more[more_start[user] : more_start[user + 1]], 0)
        if not sound:
            return case
    return -1


@kernel
def _mark(state: Array, items: Array, value: int) -> None:
    for j in range(items.shape[0]):
        state[items[j]] = value


@kernel
def _draw(state: Array, rest: int, m: int, key: Any, replace: bool, drawn: Array) -> Any:
    """Draw m of the `rest` items whose state is 0, all where there are no more without replacement; returns how many.

    Without replacement the state of what was drawn may be left at 2.
    """
    n, taken = state.shape[0], 0
    if not replace and rest <= m:
        for j in range(n):
            if state[j] == 0:
                drawn[taken] = j
                taken += 1
    elif rest > 0:
        count = np.uint64(0)
        while taken < m:
            count += np.uint64(1)
            j = int(np.float64(mixed(key + count) >> np.uint64(11)) * 2.0**-53 * n)
            if state[j] == 0:
                drawn[taken] = j
                taken += 1
                if not replace:
                    state[j] = 2
    return taken


@kernel
def _score(s: Array, near: Near, case: int, item: int) -> Any:
    """The canonical score of an item for a case."""
    if near.items.shape[0] == 0:
        return np.float64(s[item])
    return canonical(near, case, item)
