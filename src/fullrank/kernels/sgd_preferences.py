"""Opportunity cost by the procedure of Ackerman 2012 (GPW-OPT, GPW-HVS): feature after feature.

Legend: p = phi_u[f], q = phi_i[f], a = alpha_u; b = rest + p q, where `rest` is what all other features give; eps the
error of an update. Users of a batch go through all their preferences with a copy of the items' q of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.random import shuffle, stream
from fullrank.runtime.compiling import summing_kernel

Array = NDArray[Any]


@summing_kernel
def descend_preferences(
    batch: Array, start: Array, item: Array, user_case: Array, case_run: Array, run_row: Array, row_entry: Array,
    rest: Array, rate: Any, reg: Any, heaviside: bool, seed: int, number: int, part: int, parts: int,
    users: Array, items: Array, alpha: Array, moved: Array, loss: Array, low: int, high: int,
) -> None:  # fmt: skip
    """Users batch[low .. high-1] through their preferences (Ackerman 2012, Algorithm 1, 3.6); how far each q moved.

    The rows of a case stand in a circle in random order, and every one meets the d-th after it, for d = 1, 2, ..: all
    pairs once, none long after the other. Of the parts of a pass each takes every so manyth d. Where one row is
    compared with all others, as in lists of preferences, it meets them one by one, in one of the parts.
    """
    for s in range(low, high):
        u = batch[s]
        first, p, a, total = start[u], users[u], alpha[u], 0.0
        q = np.empty(start[u + 1] - first, dtype=items.dtype)
        for t in range(q.shape[0]):
            q[t] = items[item[first + t]]
        own = rest[first : first + q.shape[0]]
        for case in range(user_case[u], user_case[u + 1]):
            begin, n = run_row[case_run[case]], run_row[case_run[case + 1]] - run_row[case_run[case]]
            ahead = run_row[case_run[case] + 1] - begin
            star = case_run[case + 1] - case_run[case] == 2 and (ahead == 1 or ahead == n - 1)
            if star and case % parts != part:
                continue
            circle, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
            for run in range(case_run[case], case_run[case + 1]):
                for row in range(run_row[run], run_row[run + 1]):
                    circle[row - begin] = row - begin
                    place[row - begin] = run
            if star:
                circle[0], circle[0 if ahead == 1 else n - 1] = circle[0 if ahead == 1 else n - 1], circle[0]
            shuffle(stream(seed, number, case), circle[1 if star else 0 :])
            for d in range(1 if star else 1 + part, n if star else n // 2 + 1, 1 if star else parts):
                for k in range(1 if star else n if 2 * d < n else d):
                    one, other = circle[k], circle[k + d if k + d < n else k + d - n]
                    if place[one] == place[other]:
                        continue
                    if place[one] > place[other]:
                        one, other = other, one
                    i, j = row_entry[begin + one] - first, row_entry[begin + other] - first
                    x, y, mine, theirs = q[i], q[j], own[i], own[j]
                    b_j = theirs + p * y
                    if heaviside:
                        wrong = (1 - a) * (mine + p * x - b_j) <= 0
                        eps = rate * np.float32(1 if wrong else 0)
                        total += wrong
                    else:
                        error = 1 - (mine + p * x + a * b_j)
                        total += error * error
                        eps = rate * error
                    a += eps * b_j - rate * reg * a
                    p += eps * (x + a * y) - rate * reg * p
                    x += eps * p - rate * reg * x
                    y += eps * a * p - rate * reg * y
                    if not heaviside:
                        b_i = mine + p * x
                        error = -(theirs + p * y + a * b_i)
                        total += error * error
                        eps = rate * error
                        a += eps * b_i - rate * reg * a
                        p += eps * (y + a * x) - rate * reg * p
                        y += eps * p - rate * reg * y
                        x += eps * a * p - rate * reg * x
                    q[i], q[j] = x, y
        for t in range(q.shape[0]):
            moved[first + t] = q[t] - items[item[first + t]]
        users[u], alpha[u], loss[s] = p, a, total


@summing_kernel
def move_items(batch: Array, start: Array, item: Array, moved: Array, items: Array) -> None:
    """Add what the users of a batch moved, in their order."""
    for s in range(batch.shape[0]):
        for t in range(start[batch[s]], start[batch[s] + 1]):
            items[item[t]] += moved[t]
