"""Gradients of users who are what they did (AMF), over positives and sampled negatives (Steck 2015, Algorithm 1).

Legend: v = share sum of q_j over the user's kept items; s = <p_i, v>; err = -dL/ds, of n positives first, then of m
sampled negatives, whose item is -1 where none was found or nothing is added; back = sum of err p_i, of which each q_j
of the user gets its share. P and Q stay as they are meanwhile: `kernels.batches.add_to_rows` adds up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.random import drawn, stream, unit
from fullrank.runtime.compiling import kernel, summing_kernel, summing_part

Array = NDArray[Any]
Entries = tuple[Array, Array, Array, Array]  # item, slot, weight, shrink
Sampler = tuple[Array, Array, Array]  # the items to draw from, and Walker's table of them

SCORES, RANKS, SQUARED, SOFTMAX, PAIRS = 0, 1, 2, 3, 4  # the losses
DROPOUT, REG, PRIOR, WIDTH, STIFF, RATE = 0, 1, 2, 3, 4, 5  # places in `number`
FURTHEST = 8.0  # tables over scores go from -8 to 8 widths
SPREAD = 2.5066283  # sqrt(2 pi): the width of rankSE for scores of standard deviation 1
TRIES = 32  # draws for one negative, before it is given up


@kernel
def _draw(key: Any, count: Any, sampler: Sampler, mark: Array, out: Array) -> None:
    """Items that are not marked, by their weights."""
    some, chance, other = sampler
    for t in range(out.shape[0]):
        out[t] = -1
        for _ in range(TRIES):
            k = drawn(key, count, chance, other)
            count += np.uint64(2)
            if mark[some[k]] == 0:
                out[t] = some[k]
                break


@kernel
def _falling(score: Array, item: Array, key: Array, order: Array) -> None:
    """Positions by falling scores into order[0], of equal ones the first first, those without an item last.

    By counting bytes, the lowest first: sorting as NumPy does takes seconds to compile. `key` and `order` (2, longest).
    """
    bits, start = score.view(np.uint32), np.empty(256, dtype=np.int64)
    for t in range(score.shape[0]):
        b = bits[t]
        falling = b if b >> np.uint32(31) else ~b & np.uint32(0x7FFFFFFF)
        key[0, t], order[0, t] = falling if item[t] >= 0 else np.uint32(0xFFFFFFFF), t
    for digit in range(4):
        shift, now, then = np.uint32(8 * digit), digit % 2, 1 - digit % 2
        for c in range(256):
            start[c] = 0
        for t in range(score.shape[0]):
            start[(key[now, t] >> shift) & np.uint32(255)] += 1
        before = 0
        for c in range(256):
            before, start[c] = before + start[c], before
        for t in range(score.shape[0]):
            c = (key[now, t] >> shift) & np.uint32(255)
            key[then, start[c]], order[then, start[c]] = key[now, t], order[now, t]
            start[c] += 1


@kernel
def _at(line: Array, place: float) -> Any:
    """What stands at a fractional place, by straight lines between the numbers there and beyond them."""
    left = min(max(np.int64(np.floor(place)), 0), line.shape[0] - 2)
    return line[left] + np.float32(place - left) * (line[left + 1] - line[left])


@summing_part
def _prior(item: Array, n: int, score: Array, prior: Any, err: Array) -> float:
    """Negatives: the loss prior/2 [s]_+^2."""
    total = 0.0
    for t in range(n, item.shape[0]):
        above = max(score[t], np.float32(0))
        err[t] = -prior * above
        total += 0.5 * prior * above * above
    return total


@kernel
def _by_score(n: int, score: Array, width: Any, table: Array, err: Array) -> float:
    """Positives by their own score: loss and slope from a table over s / width."""
    total, scale, values, slopes = 0.0, (table.shape[1] - 1) / (2 * FURTHEST), table[0], table[1]
    for t in range(n):
        place = (np.float64(score[t] / width) + FURTHEST) * scale
        total += width * _at(values, place)
        err[t] = _at(slopes, place)
    return total


@kernel
def _by_rank(item: Array, n: int, score: Array, width: Any, table: Array, err: Array, order: Array) -> float:
    """Positives by their rank in the full list, where every sampled negative stands for several.

    The slope is divided by the width of the user's scores. It is that of a logistic curve at the rank, or at the score
    where that is flatter: ranks end at 1 and scores do not, so that nothing else would hold a positive at the top.
    """
    m, one, two, n_items = 0, 0.0, 0.0, table.shape[1]
    for t in range(n, item.shape[0]):
        if item[t] >= 0:
            m, one, two = m + 1, one + score[t], two + score[t] * score[t]
    each, mean = (n_items - n) / max(m, 1), one / max(m, 1)
    spread = SPREAD * np.sqrt(max(two / max(m, 1) - mean * mean, 1e-4))
    total, above, values, slopes = 0.0, 0.0, table[0], table[1]
    if m == 0:  # nothing to be ranked among
        for t in range(n):
            err[t] = 0
        return total
    for place in range(n + m):
        t = order[place]
        if t >= n:
            above += each
            continue
        far = np.exp(-4 * abs(score[t] - mean) / (width * spread))
        rho = 1 - (above + 0.5) / n_items
        bend = min(1.0, far / ((1 + far) * (1 + far)) / (rho * (1 - rho)))
        total += _at(values, above)
        err[t] = bend * _at(slopes, above) / spread
        above += 1
    return total


@summing_part
def _squared(item: Array, n: int, score: Array, err: Array) -> float:
    """1/2 (s - 1)^2 of positives, 1/2 s^2 of negatives."""
    total = 0.0
    for t in range(item.shape[0]):
        err[t] = np.float32(t < n) - score[t]
        total += 0.5 * err[t] * err[t]
    return total


@kernel
def _softmax(item: Array, n: int, score: Array, n_items: int, err: Array) -> float:
    """-log(exp s_i / (exp s_i + c sum of exp s_j)): a positive and its negatives, every n-th, standing for all."""
    total = 0.0
    for t in range(n):
        top, m = score[t], 0
        for k in range(t + n, item.shape[0], n):
            if item[k] >= 0:
                top, m = max(top, score[k]), m + 1
        mine, rest = np.exp(score[t] - top), np.float32(0)
        for k in range(t + n, item.shape[0], n):
            err[k] = np.float32((n_items - n) / m) * np.exp(score[k] - top) if item[k] >= 0 else np.float32(0)
            rest += err[k]
        err[t] = rest / (mine + rest)
        for k in range(t + n, item.shape[0], n):
            err[k] /= -(mine + rest)
        total += np.log(mine + rest) + (top - score[t])
    return total


@kernel
def _pairs(item: Array, n: int, score: Array, err: Array) -> float:
    """-log sigma(s_i - s_j): every negative below one of the positives in turn (BPR)."""
    total = 0.0
    for t in range(item.shape[0]):
        err[t] = 0
    for t in range(n, item.shape[0]):
        if item[t] >= 0:
            x = score[(t - n) % n] - score[t]
            small = np.exp(-abs(x))
            part = (small if x > 0 else np.float32(1)) / (1 + small)
            total += max(-x, np.float32(0)) + np.log1p(small)
            err[(t - n) % n] += part
            err[t] = -part
    return total


@summing_kernel
def history_gradients(
    low: int, high: int, users: Array, offset: Array, place: Array, start: Array, code: Array, weight: Array,
    p: Array, q: Array, loss: int, number: Array, table: Array, sampler: Sampler, seed: int, epoch: int,
    mark: Array, entries: Entries, kept: Entries, v: Array, back: Array, total: Array,
) -> None:  # fmt: skip
    """What users low .. high-1 of a batch add: err of v to p_i (`entries`), share of `back` to q_j (`kept`).

    Entries of user b start at offset[b], kept items at place[b]. A user counts weight[u]. Both steps are damped by
    1 / (1 + rate stiff length^2), what an implicit step has at most, so that long histories do not overshoot.
    """
    item, slot, err, shrink = entries
    dropout, one, f = number[DROPOUT], np.float32(1), p.shape[1]
    longest = 0
    for b in range(low, high):
        longest = max(longest, offset[b + 1] - offset[b])
    scores, keys = np.empty(longest, dtype=np.float32), np.empty((2, longest), dtype=np.uint32)
    order = np.empty((2, longest), dtype=np.int32)
    for b in range(low, high):
        u, o, h = users[b], offset[b], place[b]
        first, n, size, key = start[u], start[u + 1] - start[u], offset[b + 1] - o, stream(seed, epoch, u)
        each, by = np.float32(1 / (np.sqrt(n) * (1 - dropout))), weight[u]
        for k in range(f):
            back[b, k], v[b, k] = 0, 0
        for t in range(n):
            j = code[first + t]
            item[o + t], mark[j], kept[0][h + t] = j, 1, -1
            if dropout == 0 or unit(key, np.uint64(t)) >= dropout:
                kept[0][h + t], kept[1][h + t], kept[2][h + t], kept[3][h + t] = j, b, each, by * number[REG] * n
                for k in range(f):
                    v[b, k] += each * q[j, k]
        mine, score, errs = item[o : o + size], scores[:size], err[o : o + size]
        _draw(key, np.uint64(n), sampler, mark, mine[n:])
        for t in range(n):
            mark[code[first + t]] = 0
        length2 = np.float32(0)
        for k in range(f):
            length2 += v[b, k] * v[b, k]
        for t in range(size):
            i, s = max(mine[t], 0), np.float32(0)
            for k in range(f):
                s += p[i, k] * v[b, k]
            score[t] = s if mine[t] >= 0 else np.float32(0)
        if loss == SCORES:
            total[b] = _by_score(n, score, number[WIDTH], table, errs) + _prior(mine, n, score, number[PRIOR], errs)
        elif loss == RANKS:
            _falling(score, mine, keys, order)
            total[b] = _by_rank(mine, n, score, number[WIDTH], table, errs, order[0])
            total[b] += _prior(mine, n, score, number[PRIOR], errs)
        elif loss == SQUARED:
            total[b] = _squared(mine, n, score, errs)
        elif loss == SOFTMAX:
            total[b] = _softmax(mine, n, score, p.shape[0], errs)
        else:
            total[b] = _pairs(mine, n, score, errs)
        calm, lengths2 = by * number[RATE] * number[STIFF], np.float32(0)
        for t in range(size):
            i, e, slot[o + t], shrink[o + t] = mine[t], errs[t], b, by * number[REG] if t < n else np.float32(0)
            if i >= 0 and e != 0:
                for k in range(f):
                    back[b, k] += by * e * p[i, k]
                    lengths2 += p[i, k] * p[i, k]
            elif t >= n:
                mine[t] = -1  # nothing to add
            errs[t] = by * e / (one + calm * length2)
        for k in range(f):
            back[b, k] /= one + calm * lengths2
        if not np.isfinite(length2 + lengths2):
            total[b] = np.nan
