"""Users go through their sessions (Ackerman 2012, chapter 4): what was offered together, classes best first.

Legend: p = phi_u, q = phi_i, a = alpha_u; b = rest + <p, q>, where `rest` is what features outside p give; n items of
a session have the classes C_1 > C_2 > ..., t is a target, eps an error. Users have cases, cases runs (their classes),
runs rows, and a row is an entry, an item of its user. The users of a batch move with a copy of the items of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import summing_kernel, summing_part

Array = NDArray[Any]


@summing_kernel
def add_moves(
    batch: Array, first: Array, start: Array, item: Array, moved: Array, items: Array, low: int, high: int
) -> None:
    """Add what the users of a batch moved to the items low .. high-1, in their order."""
    for s in range(batch.shape[0]):
        for t in range(start[batch[s]], start[batch[s] + 1]):
            i = item[t]
            if low <= i < high:
                row = first[s] + t - start[batch[s]]
                for k in range(items.shape[1]):
                    items[i, k] += moved[row, k]


@summing_part
def _choose(entry: Array, chosen: int, q: Array, rest: Array, p: Array, rate: Any, reg: Any) -> float:
    """A step of one session whose first items are the chosen ones (Ackerman 2012, Eq. 2.3); its loss before.

    log sum over all of exp(b) - mean over the chosen of b  +  reg/2 (|p|^2 + sum |q|^2)
    """
    n, f = entry.shape[0], p.shape[0]
    b, slope, keep = np.empty(n), np.zeros(f, dtype=p.dtype), p.dtype.type(1 - rate * reg)
    picked, total = 0.0, 0.0
    for t in range(n):
        value = rest[entry[t]]
        for k in range(f):
            value += p[k] * q[entry[t], k]
        b[t] = value
        if t < chosen:
            picked += value / chosen
    most = b.max()
    for t in range(n):
        b[t] = np.exp(b[t] - most)
        total += b[t]
    for t in range(n):
        pull = rate * p.dtype.type(b[t] / total - (1 / chosen if t < chosen else 0.0))
        for k in range(f):
            slope[k] += pull * q[entry[t], k]
            q[entry[t], k] = keep * q[entry[t], k] - pull * p[k]
    for k in range(f):
        p[k] = keep * p[k] - slope[k]
    return float(most + np.log(total) - picked)


@summing_kernel
def descend_choices(
    batch: Array, first: Array, start: Array, item: Array,
    user_case: Array, case_run: Array, run_row: Array, row_entry: Array, rest: Array, rate: Any, reg: Any,
    users: Array, items: Array, moved: Array, loss: Array, low: int, high: int,
) -> None:  # fmt: skip
    """Users batch[low .. high-1] through their sessions of two or more classes; how far each of their items moved."""
    for s in range(low, high):
        u = batch[s]
        base, m = start[u], start[u + 1] - start[u]
        q, own = moved[first[s] : first[s] + m], rest[base : base + m]
        for t in range(m):
            q[t] = items[item[base + t]]
        loss[s] = 0
        for case in range(user_case[u], user_case[u + 1]):
            run, last = case_run[case], case_run[case + 1]
            if last - run > 1:
                entry = row_entry[run_row[run] : run_row[last]] - base
                loss[s] += _choose(entry, run_row[run + 1] - run_row[run], q, own, users[u], rate, reg)
        for t in range(m):
            q[t] -= items[item[base + t]]


@summing_part
def _targets(runs: Array, place: Array, pair: Array, gaps: Array, by_item: bool, t: Array) -> float:
    """The targets of a session whose classes begin at these rows (Ackerman 2012, Eq. 4.10, 4.14); D, its sum of gaps.

        t_i = 1 - (gaps of the classes before i's own but one + the last gap, as far as it is i's own) / D

    A gap is exp(gaps[place]) between classes; or the mean over pairs of their items, of which the last is i.
    """
    classes, done = runs.shape[0] - 1, 0.0
    t[: runs[1] - runs[0]] = 0
    for c in range(classes - 1):
        low, middle, high = runs[c] - runs[0], runs[c + 1] - runs[0], runs[c + 2] - runs[0]
        whole = np.exp(gaps[place[c]]) if not by_item else 0.0
        t[middle:high] = done + whole
        for x in range((middle - low) * (high - middle) if by_item else 0):
            gap = np.exp(gaps[pair[place[c] + x]])
            t[middle + x % (high - middle)] += gap / (middle - low)
            whole += gap / ((middle - low) * (high - middle))
        done += whole
    for x in range(t.shape[0]):
        t[x] = 1 - t[x] / done if classes > 1 else 0.0  # nothing was done with any: all are worth nothing
    return done


@summing_part
def _move_gaps(
    runs: Array, place: Array, pair: Array, gaps: Array, by_item: bool, t: Array, eps: Array, total: float,
    rate: Any, reg: Any,
) -> None:  # fmt: skip
    """A step of the logarithms of a session's gaps down the sum of eps^2 / 2, eps = t - r (Eq. 4.12, 4.13)."""
    lever, beyond = 0.0, 0.0
    for x in range(t.shape[0]):
        lever += eps[x] * (1 - t[x]) / total
    for c in range(runs.shape[0] - 3, -1, -1):
        low, middle, high = runs[c] - runs[0], runs[c + 1] - runs[0], runs[c + 2] - runs[0]
        own, pairs = eps[middle:high].sum(), (middle - low) * (high - middle)
        if by_item:
            for x in range(pairs):
                at = pair[place[c] + x]
                slope = (lever - beyond / total) / pairs - eps[middle + x % (high - middle)] / (total * (middle - low))
                gaps[at] -= rate * gaps.dtype.type(np.exp(gaps[at]) * slope + reg * gaps[at])
        else:
            at = place[c]
            gaps[at] -= rate * gaps.dtype.type(np.exp(gaps[at]) * (lever - (beyond + own) / total) + reg * gaps[at])
        beyond += own


@summing_part
def _violations(
    x: int, entry: Array, runs: Array, q: Array, scale: Any, middle: Any, rest: Array, p: Array, sign: Any
) -> tuple[int, int]:
    """How many items of lower classes stand at or above item x of a session, and of higher classes at or below it."""
    n, f = entry.shape[0], p.shape[0]
    own, c, below, above = 0.0, 0, 0, 0
    while runs[c + 1] - runs[0] <= x:
        c += 1
    for y in range(-1, n):
        e = entry[x if y < 0 else y]
        value = p.dtype.type(0)
        for k in range(f):
            value += p[k] * q[e, k]
        b = rest[e] + middle + scale * value
        if y < 0:
            own = b
        elif y >= runs[c + 1] - runs[0]:
            below += sign * (b - own) >= 0
        elif y < runs[c] - runs[0]:
            above += sign * (b - own) <= 0
    return below, above


@summing_part
def _value(
    entry: Array, runs: Array, q: Array, rest: Array, p: Array, a: Any, t: Array, rate: Any, reg: Any, heaviside: bool,
    eps: Array,
) -> tuple[Any, float]:  # fmt: skip
    """A step for every item of a session, one after the other (Table 4.2); the new alpha, and the loss on the way.

    Every step moves all items by a part they share, so q = scale q + shift, and only item i itself costs time.
    """
    n, f, kind = entry.shape[0], p.shape[0], p.dtype.type
    share, keep, scale, others, total = kind(1 / max(n - 1, 1)), kind(1 - rate * reg), kind(1), kind(0), 0.0
    shift, whole = np.zeros(f, dtype=p.dtype), np.zeros(f, dtype=p.dtype)
    for x in range(n):
        others += rest[entry[x]]
        for k in range(f):
            whole[k] += q[entry[x], k]
    for x in range(n):
        e, b, everything, middle = entry[x], kind(0), others, kind(0)
        for k in range(f):
            b += p[k] * q[e, k]
            middle += p[k] * shift[k]
            everything += p[k] * whole[k]
        b = rest[e] + scale * b + middle
        cost = share * (everything - b) if n > 1 else kind(0)
        if heaviside:
            below, above = _violations(x, entry, runs, q, scale, middle, rest, p, 1 - a * share)
            eps[x] = below - above
            total += below
        else:
            eps[x] = t[x] - (b + a * cost)
            total += eps[x] * eps[x]
        step = rate * kind(eps[x])
        a += step * cost - rate * reg * a if n > 1 else kind(0)
        part = a * share if n > 1 else kind(0)
        lift, grow, shrink = step * kind(1 - part) / (scale * keep), step * kind(1 + part * (n - 1)), rate * reg
        for k in range(f):
            mine = scale * q[e, k] + shift[k]
            p[k] += step * (mine + part * (whole[k] - mine)) - shrink * p[k]
            shift[k] = keep * shift[k] + step * part * p[k]
            q[e, k] += lift * p[k]
            whole[k] = keep * whole[k] + grow * p[k]
        scale *= keep
        if scale < 0.5 or x == n - 1:
            for y in range(n):
                for k in range(f):
                    q[entry[y], k] = scale * q[entry[y], k] + shift[k]
            shift[:] = 0
            scale = kind(1)
    return a, total


@summing_kernel
def descend_values(
    batch: Array, first: Array, start: Array, item: Array,
    user_case: Array, case_run: Array, run_row: Array, row_entry: Array, rest: Array, rate: Any, reg: Any,
    users: Array, items: Array, moved: Array, loss: Array,
    used: Array, place: Array, pair: Array, heaviside: bool, by_item: bool, alpha: Array, gaps: Array,
    low: int, high: int,
) -> None:  # fmt: skip
    """Users batch[low .. high-1] through their used sessions: items, then gaps; how far each of their items moved."""
    for s in range(low, high):
        u = batch[s]
        base, m = start[u], start[u + 1] - start[u]
        q, own = moved[first[s] : first[s] + m], rest[base : base + m]
        for t in range(m):
            q[t] = items[item[base + t]]
        loss[s] = 0
        for case in range(user_case[u], user_case[u + 1]):
            if not used[case]:
                continue
            runs = run_row[case_run[case] : case_run[case + 1] + 1]
            entry = row_entry[runs[0] : runs[-1]] - base
            target, eps, gap = np.zeros(entry.shape[0]), np.empty(entry.shape[0]), place[case_run[case] :]
            total = 0.0 if heaviside else _targets(runs, gap, pair, gaps, by_item, target)
            alpha[u], more = _value(entry, runs, q, own, users[u], alpha[u], target, rate, reg, heaviside, eps)
            loss[s] += more
            if not heaviside:
                _move_gaps(runs, gap, pair, gaps, by_item, target, eps, total, rate, reg)
        for t in range(m):
            q[t] -= items[item[base + t]]
