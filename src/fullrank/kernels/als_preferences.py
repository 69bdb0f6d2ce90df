"""Opportunity cost, globally (Ackerman 2012, GPW-OPT): exact steps of its loss over all pairs, through sums per class.

    sum over pairs i > j of u of  (1 - b_i - a b_j)^2 + (b_j + a b_i)^2
      =  pairs + (1 + a^2) sum w b^2 + 2 a X - 2 sum (e + a (w - e)) b,     b_i = <p_u, q_i>,  a = alpha_u
    X = sum over cases of (sum of b)^2 - sum over classes (sum of b)^2

Legend: a user with an item is an entry; w of an entry counts the items it is compared with, e those below it. Pairs
come as cases of classes: items of different classes of a case are compared. Users have cases, cases runs (their
classes), runs rows, and a row is an entry. Each pair is two updates there and counts 2 reg for all that is in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.cholesky import factorise, solve_definite, substitute
from fullrank.runtime.compiling import summing_kernel, summing_part

Array = NDArray[Any]

AT_ONCE = 128  # entries, or sums of runs, in one product


@summing_part
def _add_products(buffer: Array, scaled: Array, m: int, part: Array, matrix: Array) -> None:
    np.dot(buffer[:m].T, scaled[:m], part)
    for a in range(matrix.shape[0]):
        for z in range(a + 1):
            matrix[a, z] += part[a, z]


@summing_part
def _cross(
    cases: tuple[int, int], case_run: Array, run_row: Array, row_entry: Array, item: Array, items: Array, alpha: Any,
    buffer: Array, scaled: Array, part: Array, matrix: Array,
) -> None:  # fmt: skip
    """Add 2 a sum over cases of (T T' - sum over runs of S S'), T and S sums of q."""
    f, m = items.shape[1], 0
    for case in range(cases[0], cases[1]):
        first, last = case_run[case], case_run[case + 1]
        if last - first < 2:
            continue
        for run in range(first, last + 1):  # the last stands for T
            if m == buffer.shape[0]:
                _add_products(buffer, scaled, m, part, matrix)
                m = 0
            low, high = (run_row[run], run_row[run + 1]) if run < last else (run_row[first], run_row[last])
            by = 2 * alpha if run == last else -2 * alpha
            for k in range(f):
                buffer[m, k] = 0
            for row in range(low, high):
                i = item[row_entry[row]]
                for k in range(f):
                    buffer[m, k] += items[i, k]
            for k in range(f):
                scaled[m, k] = by * buffer[m, k]
            m += 1
    _add_products(buffer, scaled, m, part, matrix)


@summing_part
def _cross_sum(cases: tuple[int, int], case_run: Array, run_row: Array, row_entry: Array, b: Array, base: int) -> float:
    """X of a user, from the b of their entries, the first of which is `base`."""
    total = 0.0
    for case in range(cases[0], cases[1]):
        whole = 0.0
        for run in range(case_run[case], case_run[case + 1]):
            own = 0.0
            for row in range(run_row[run], run_row[run + 1]):
                own += b[row_entry[row] - base]
            whole += own
            total -= own * own
        total += whole * whole
    return total


@summing_kernel
def cost_users(
    start: Array, item: Array, w: Array, e: Array, user_case: Array, case_run: Array, run_row: Array, row_entry: Array,
    items: Array, reg: Any, free: bool, users: Array, alpha: Array, loss: Array, low: int, high: int,
) -> None:  # fmt: skip
    """The best vector of each user low .. high-1 for their alpha, then the best alpha for it; and the loss reached."""
    f = items.shape[1]
    kind = items.dtype
    buffer, scaled = np.empty((AT_ONCE, f), dtype=kind), np.empty((AT_ONCE, f), dtype=kind)
    matrix, part, x = np.empty((f, f), dtype=kind), np.empty((f, f), dtype=kind), np.empty(f, dtype=kind)
    for u in range(low, high):
        first, last = start[u], start[u + 1]
        cases, a, twice = (user_case[u], user_case[u + 1]), alpha[u], 0.0
        matrix[:] = 0
        x[:] = 0
        for begin in range(first, last, AT_ONCE):
            m = min(AT_ONCE, last - begin)
            for t in range(m):
                i, weight, below = item[begin + t], w[begin + t], e[begin + t]
                twice += weight
                for k in range(f):
                    buffer[t, k] = items[i, k]
                    scaled[t, k] = (1 + a * a) * weight * items[i, k]
                    x[k] += (below + a * (weight - below)) * items[i, k]
            _add_products(buffer, scaled, m, part, matrix)
        _cross(cases, case_run, run_row, row_entry, item, items, a, buffer, scaled, part, matrix)
        if twice == 0:  # nothing is known of them
            users[u], alpha[u], loss[u] = 0, 0, 0
            continue
        for k in range(f):
            matrix[k, k] += reg * twice
        solve_definite(matrix, x)
        b = np.empty(last - first, dtype=kind)
        square, linear, other, size = 0.0, 0.0, 0.0, 0.0
        for t in range(last - first):
            s = kind.type(0)
            for k in range(f):
                s += x[k] * items[item[first + t], k]
            b[t] = s
            square += w[first + t] * s * s
            linear += e[first + t] * s
            other += (w[first + t] - e[first + t]) * s
        for k in range(f):
            users[u, k] = x[k]
            size += x[k] * x[k]
        cross = _cross_sum(cases, case_run, run_row, row_entry, b, first)
        best = (other - cross) / (square + reg * twice) if free else np.float64(a)
        alpha[u] = best
        loss[u] = (
            twice / 2 + (1 + best * best) * square + 2 * best * cross - 2 * (linear + best * other)
            + reg * twice * (size + best * best)
        )  # fmt: skip


@summing_kernel
def run_sums(
    start: Array, item: Array, user_case: Array, case_run: Array, run_row: Array, row_entry: Array,
    users: Array, items: Array, by_run: Array, by_case: Array, low: int, high: int,
) -> None:  # fmt: skip
    """Sums of b over every run and case of users low .. high-1."""
    for u in range(low, high):
        b = np.empty(start[u + 1] - start[u])
        for t in range(b.shape[0]):
            s = items.dtype.type(0)
            for k in range(items.shape[1]):
                s += users[u, k] * items[item[start[u] + t], k]
            b[t] = s
        for case in range(user_case[u], user_case[u + 1]):
            by_case[case] = 0
            for run in range(case_run[case], case_run[case + 1]):
                by_run[run] = 0
                for row in range(run_row[run], run_row[run + 1]):
                    by_run[run] += b[row_entry[row] - start[u]]
                by_case[case] += by_run[run]


@summing_kernel
def cost_matrices(
    start: Array, user: Array, w: Array, users: Array, alpha: Array, reg: Any, matrices: Array, first: int,
    low: int, high: int,
) -> None:  # fmt: skip
    """L L' = sum (1 + a^2) w p p' + 2 reg sum w I  for items low .. high-1, one under the other from item `first`."""
    f = users.shape[1]
    kind = users.dtype
    buffer, scaled = np.empty((AT_ONCE, f), dtype=kind), np.empty((AT_ONCE, f), dtype=kind)
    part = np.empty((f, f), dtype=kind)
    for i in range(low, high):
        matrix = matrices[(i - first) * f : (i - first + 1) * f]
        matrix[:] = 0
        total = kind.type(0)
        for begin in range(start[i], start[i + 1], AT_ONCE):
            m = min(AT_ONCE, start[i + 1] - begin)
            for t in range(m):
                u, weight = user[begin + t], w[begin + t]
                total += weight
                for k in range(f):
                    buffer[t, k] = users[u, k]
                    scaled[t, k] = (1 + alpha[u] * alpha[u]) * weight * users[u, k]
            _add_products(buffer, scaled, m, part, matrix)
        for k in range(f):
            matrix[k, k] += 2 * reg * total
        if total > 0:
            factorise(matrix)


@summing_kernel
def cost_items(
    start: Array, user: Array, w: Array, e: Array, entry_row: Array, row_run: Array, run_case: Array,
    users: Array, alpha: Array, matrices: Array, by_run: Array, by_case: Array, items: Array, low: int, high: int,
) -> None:  # fmt: skip
    """The best vector of each item low .. high-1, one after the other, by the factors of `cost_matrices`.

    Sums of b over runs and cases are kept current, so that the next item meets the new value of this one.
    """
    f = users.shape[1]
    x, step = np.empty(f, dtype=users.dtype), np.empty(f, dtype=users.dtype)
    for i in range(low, high):
        x[:] = 0
        total = 0.0
        for t in range(start[i], start[i + 1]):
            u, others = user[t], 0.0
            total += w[t]
            for row in range(entry_row[t], entry_row[t + 1]):
                others += by_case[run_case[row_run[row]]] - by_run[row_run[row]]
            pull = e[t] + alpha[u] * (w[t] - e[t]) - 2 * alpha[u] * users.dtype.type(others)
            for k in range(f):
                x[k] += pull * users[u, k]
        if total > 0:  # else nothing is known of it
            substitute(matrices[(i - low) * f : (i - low + 1) * f], x)
        for k in range(f):
            step[k] = x[k] - items[i, k]
            items[i, k] = x[k]
        for t in range(start[i], start[i + 1]):
            u, more = user[t], users.dtype.type(0)
            for k in range(f):
                more += users[u, k] * step[k]
            for row in range(entry_row[t], entry_row[t + 1]):
                by_run[row_run[row]] += more
                by_case[run_case[row_run[row]]] += more
