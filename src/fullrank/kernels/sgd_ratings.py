"""Rating predictors by stochastic gradient descent: users go through their ratings against frozen items.

    y = <x, q_i> + b_i + b_u,   x = p_u,  or with a history  p_u + n^-1/2 sum over u's n items j of y_j

Squared loss: (target - y)^2, with g = target - y. Ordinal loss (Koren and Sill): -log P(level), where
P(level <= s) = sigma(t_s - y) and the user's own thresholds are t_1 and t_{s+1} = t_s + exp(beta_s).

Legend: x the user's vector; g minus the derivative of the loss by y (of squares half of it); e an entry, one rating in
the order of the pass; c = 1 - rate reg, by which every step shrinks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.random import shuffle, stream
from fullrank.runtime.compiling import summing_kernel, summing_part

Array = NDArray[Any]


@summing_part
def ordinal_step(level: int, y: float, own: Array, common: Array, rate: float, reg: float) -> Any:
    """g and loss of a level 0 .. S-1, and a step of `own`: the user's t_1, beta_1, .., shrunk to the common ones.

        loss = log(1 + exp(-a)) + log(1 + exp(b)) - log(1 - exp(b - a)),   a = t_{level+1} - y,  b = t_level - y

    The lowest level has no b, the highest no a.
    """
    last = own.shape[0]  # S - 1
    t, loss, above, below, stretch = np.float64(own[0]), 0.0, 0.0, 0.0, 0.0
    for k in range(1, level):
        t += np.exp(np.float64(own[k]))
    if level > 0:
        below = 1 / (1 + np.exp(y - t))  # sigma(b)
        loss += max(t - y, 0.0) + np.log1p(np.exp(-abs(t - y)))
    if level < last:
        gap = np.exp(np.float64(own[level])) if level > 0 else 0.0
        t += gap
        above = 1 / (1 + np.exp(t - y))  # sigma(-a)
        loss += max(y - t, 0.0) + np.log1p(np.exp(-abs(t - y)))
        if level > 0:
            loss -= np.log(-np.expm1(-gap))
            stretch = above * gap + (gap / np.expm1(gap) if gap > 0 else 1.0)
    g = below - above
    for k in range(last):
        pull = 0.0
        if k == 0:
            pull = -g
        elif k < level:
            pull = -g * np.exp(np.float64(own[k]))
        elif k == level:
            pull = stretch
        own[k] += rate * (pull - reg * (own[k] - common[k]))
    return g, loss


@summing_part
def _standing(own: Array, history: Array, items: Array, x: Array) -> None:
    """x = p_u + n^-1/2 sum of y_j over these items."""
    f, remembered = x.shape[0], items.shape[0] if history.shape[0] > 0 else 0
    for k in range(f):
        x[k] = 0
    for r in range(remembered):
        j = items[r]
        for k in range(f):
            x[k] += history[j, k]
    share = np.float32(1) / np.sqrt(np.float32(max(remembered, 1)))
    for k in range(f):
        x[k] = own[k] + share * x[k]


@summing_kernel
def descend_users(
    batch: Array, first: Array, rows: Any, own: Any, common: Array, shared: Any, steps: Any, drawn: Any,
    place: Array, entries: Any, moves: Any, vectors: Any, loss: Array, low: int, high: int,
) -> None:  # fmt: skip
    """Walk users batch[low .. high-1] through their ratings in a drawn order; what is their own changes at once.

    Entries first[s] .. first[s+1]-1 tell what pulls at the items: weight g, slot s, whose vector is x at the end of the
    pass, and 1 for the item's bias. All y_j of a history are pulled alike, by n^-1/2 of what pulls p_u, so that p_u and
    the sum move by the same D, x by twice as much: after the pass x = c^n x before + 2 D, and `moves` pass D on.
    """
    start, column, target = rows
    users, user_bias, thresholds = own
    items, history = shared
    code, slot, weight = entries
    f = users.shape[1]
    with_bias, with_own_bias, with_history = items.shape[1] > f, user_bias.shape[0] > 0, history.shape[0] > 0
    rate, reg = np.float32(steps[0]), np.float32(steps[1])
    keep, speed = np.float32(1) - rate * reg, rate * np.float32(2 if with_history else 1)
    x, before = np.empty(f, dtype=np.float32), np.empty(f, dtype=np.float32)
    for s in range(low, high):
        u, begin, end = batch[s], first[s], first[s + 1]
        _standing(users[u], history, column[start[u] : start[u + 1]], x)
        for k in range(f):
            before[k] = x[k]
        for e in range(begin, end):
            place[e] = start[u] + e - begin
        shuffle(stream(drawn[0], drawn[1], u), place[begin:end])
        bias = user_bias[u] if with_own_bias else np.float32(0)
        loss[s] = 0
        for e in range(begin, end):
            i, goal = column[place[e]], target[place[e]]
            y = items[i, f] if with_bias else np.float32(0)
            for k in range(f):
                y += x[k] * items[i, k]
            if thresholds.shape[1] > 0:
                pull, lost = ordinal_step(int(goal), np.float64(y), thresholds[u], common, steps[0], steps[1])
                g = np.float32(pull)
            else:
                g = goal - y - bias
                lost = np.float64(g) * g
                bias += rate * (g - reg * bias) if with_own_bias else np.float32(0)
            loss[s] += lost
            for k in range(f):
                x[k] = keep * x[k] + speed * g * items[i, k]
            code[e], slot[e], weight[e] = i, s, g
        if with_bias:
            vectors[0][s, f] = 1
        if with_own_bias:
            user_bias[u] = bias
        n = np.float32(end - begin)
        shrunk = keep**n
        for k in range(f):
            vectors[0][s, k] = x[k]
            if with_history:
                vectors[1][s, k] = (x[k] - shrunk * before[k]) / 2
                users[u, k] = shrunk * users[u, k] + vectors[1][s, k]
            else:
                users[u, k] = x[k]
        if with_history:
            for e in range(begin, end):
                moves[0][e], moves[1][e] = 1 / (rate * np.sqrt(n)), (1 - shrunk) / rate
