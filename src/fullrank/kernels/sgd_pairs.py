"""Steps on pairs of a user's items, one above another (Lim et al. 2015, Algorithm 1; BPR), in cells of users and items.

Legend: p the user's vector, q items' vectors, b their biases, x = f(i) - f(j), f = p'q + b; w the weight of a step;
i the relevant item, j the other. A cell is a block of users and a block of items: no two cells of a round share a row.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.random import below, drawn, mixed, shuffle, stream, unit
from fullrank.runtime.compiling import kernel, summing_kernel, summing_part

Array = NDArray[Any]

TRIES = 1000  # draws in vain, for users who have nearly everything, before a pair is passed over


@kernel
def deal(
    start: Array, item: Array, people: Array, position: Array, block_of: Array, begin: Array,
    dealt: Array, place: Array, low: int, high: int,
) -> None:  # fmt: skip
    """The items of users people[low .. high-1], as positions, by block; those of one user follow those of the other.

    Those of block c are dealt[place[s, c]] .. dealt[place[s, c+1]-1], in their order.
    """
    blocks = place.shape[1] - 1
    for s in range(low, high):
        first, last = start[people[s]], start[people[s] + 1]
        for c in range(blocks + 1):
            place[s, c] = 0
        for e in range(first, last):
            place[s, block_of[position[item[e]]]] += 1
        end = begin[s + 1]
        for c in range(blocks, -1, -1):  # where a block ends, at first
            end -= place[s, c]
            place[s, c] += end
        for e in range(last - 1, first - 1, -1):
            c = block_of[position[item[e]]]
            place[s, c] -= 1
            dealt[place[s, c]] = position[item[e]]


@summing_part
def _score(users: Array, items: Array, bias: Array, u: int, i: int) -> Any:
    total = bias[i]
    for k in range(users.shape[1]):
        total += users[u, k] * items[i, k]
    return total


@summing_part
def _step(
    users: Array, items: Array, bias: Array, u: int, i: int, j: int, w: Any, rates: Array, reg: Any, bias_rate: Any
) -> None:
    """Down  w (f(j) - f(i)) + reg/2 (|p|^2 + |q_i|^2 + |q_j|^2), each row at its own rate."""
    keep_p, keep_i, keep_j = 1 - rates[0] * reg, 1 - rates[1] * reg, 1 - rates[2] * reg
    to_p, to_i, to_j = rates[0] * w, rates[1] * w, rates[2] * w
    for k in range(users.shape[1]):
        p, one, other = users[u, k], items[i, k], items[j, k]
        users[u, k] = keep_p * p + to_p * (one - other)
        items[i, k] = keep_i * one + to_i * p
        items[j, k] = keep_j * other - to_j * p
    bias[i] += bias_rate * to_i
    bias[j] -= bias_rate * to_j


@summing_kernel
def pair_cell(
    someone: Array, column: int, dealt: Array, place: Array, others: Array, chance: Array, instead: Array,
    each: float, unseen: bool, cost: Array, seed: int, epoch: int, cell: int,
    users: Array, items: Array, bias: Array, rates: Array, reg: Any, bias_rate: Any,
) -> tuple[float, int]:  # fmt: skip
    """Steps of the users `someone` on their items of block `column`; the sum of losses, and how many pairs were drawn.

    Every relevant item once (each = 0), or every user as often: `each` times in an epoch, any relevant item as likely.
    The other item is drawn among `others` (an alias table) until it is a violator, f(i) - f(j) < 1, at most len(cost)
    times; after n draws the step weighs cost[n-1]. Where `cost` is empty it is one draw and weighs sigma(-x): BPR.
    With `unseen` it is none of the user's own.
    """
    key, count = stream(seed, epoch, cell), np.uint64(0)
    stamp = np.full(items.shape[0], -1, dtype=np.int32)
    total, product, pairs = 0.0, 1.0, 0
    limit, smooth = max(cost.shape[0], 1), cost.shape[0] == 0
    for s in range(someone.shape[0]):
        u = someone[s]
        mine = dealt[place[u, column] : place[u, column + 1]]
        n = mine.shape[0]
        if n == 0 or others.shape[0] < 2 or (unseen and n >= others.shape[0]):
            continue
        if unseen:
            for e in range(n):
                stamp[mine[e]] = u
        draws = n
        if each == 0:
            shuffle(mixed(key ^ np.uint64(u)), mine)
        else:
            owned = place[u, place.shape[1] - 1] - place[u, 0]
            draws = int(each * n / owned + unit(key, count))
            count += np.uint64(1)
        for d in range(draws):
            i = mine[d] if each == 0 else mine[below(key, count, n)]
            count += np.uint64(1)
            high = _score(users, items, bias, u, i)
            for t in range(limit):
                j, tries = i, 0
                while (j == i or stamp[j] == u) and tries < TRIES:
                    j = others[drawn(key, count, chance, instead)]
                    count += np.uint64(1)
                    tries += 1
                if j == i or stamp[j] == u:
                    break
                x = high - _score(users, items, bias, u, j)
                if smooth:
                    odds: Any = np.float32(math.exp(-abs(x)))
                    total += max(-x, 0)
                    product *= 1 + odds  # log(1 + exp(-x)), with one logarithm for many
                    if product > 1e60:
                        total += math.log(product)
                        product = 1.0
                    weight = (odds if x > 0 else 1) / (1 + odds)
                    _step(users, items, bias, u, i, j, weight, rates, reg, bias_rate)
                elif not x >= 1:  # what is no number must not look like no violator
                    total += cost[t] * (1 - x)
                    _step(users, items, bias, u, i, j, cost[t], rates, reg, bias_rate)
                    break
        pairs += draws
    return total + math.log(product), pairs
