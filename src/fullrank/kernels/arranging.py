"""Lists picked from pools of candidates one item at a time, with at most so many of a label.

Pools are rows of item codes, best first, -1 where there are no more. Lists of labels by item are `start` and `label`;
`limit` says how many items with each label a list may have. `out` (rows, n) becomes places in the pool, -1 at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels.logarithm import exact_log
from fullrank.runtime.compiling import kernel

Array = NDArray[Any]


@kernel
def _fits(item: int, start: Array, label: Array, limit: Array, used: Array) -> bool:
    """Whether one more item with these labels is within all limits."""
    full = 0
    for e in range(start[item], start[item + 1]):
        full += used[label[e]] >= limit[label[e]]
    return full == 0


@kernel
def _size(pool: Array) -> int:
    """How many candidates there are."""
    size = 0
    while size < pool.shape[0] and pool[size] >= 0:
        size += 1
    return size


@kernel
def _scale(scores: Array, size: int, relevance: Array) -> None:
    """(s - min) / (max - min) over the pool, which falls; 0 where all are equal."""
    span = scores[0] - scores[size - 1] if size else 0.0
    for c in range(size):
        relevance[c] = (scores[c] - scores[size - 1]) / span if span > 0 else 0.0


@kernel
def take_best(pools: Array, start: Array, label: Array, limit: Array, out: Array) -> None:
    """The first of every pool that are within the limits."""
    used = np.zeros(limit.shape[0], dtype=np.int64)
    for row in range(pools.shape[0]):
        used[:] = 0
        out[row, :] = -1
        taken = 0
        for c in range(_size(pools[row])):
            item = pools[row, c]
            if taken < out.shape[1] and _fits(item, start, label, limit, used):
                out[row, taken] = c
                taken += 1
                for e in range(start[item], start[item + 1]):
                    used[label[e]] += 1


@kernel
def find_room(lists: Array, left: Array, start: Array, label: Array, limit: Array, out: Array) -> None:
    """Whether any item that is left, and not in the list of a row, is within the limits beside it."""
    used = np.zeros(limit.shape[0], dtype=np.int64)
    there = np.zeros(left.shape[0], dtype=np.uint8)
    for row in range(lists.shape[0]):
        used[:] = 0
        size = _size(lists[row])
        for place in range(size):
            item = lists[row, place]
            there[item] = 1
            for e in range(start[item], start[item + 1]):
                used[label[e]] += 1
        out[row] = False
        for item in range(left.shape[0]):
            if left[item] and not there[item] and _fits(item, start, label, limit, used):
                out[row] = True
                break
        for place in range(size):
            there[lists[row, place]] = 0


@kernel
def take_diverse(
    pools: Array, scores: Array, share: float, vectors: Array, inverse: Array, word_start: Array, word: Array,
    words: int, start: Array, label: Array, limit: Array, out: Array,
) -> None:  # fmt: skip
    """Maximal marginal relevance (Carbonell and Goldstein 1998): at every step the candidate with the largest

        (1 - share) relevance - share max over the chosen of similarity

    relevance scaled to 0..1 over the pool; of equal ones the one with the higher score. Similarity is the cosine of
    `vectors`, whose norms are 1 / `inverse`, or, where these have no columns, the words two items share over the root
    of the product of how many each has.
    """
    f, width = vectors.shape[1], pools.shape[1]
    across, alike, nearest, relevance = np.empty((f, width)), np.empty(width), np.empty(width), np.empty(width)
    there, used = np.zeros(words, dtype=np.uint8), np.zeros(limit.shape[0], dtype=np.int64)
    free = np.empty(width, dtype=np.uint8)
    for row in range(pools.shape[0]):
        pool, size = pools[row], _size(pools[row])
        _scale(scores[row], size, relevance)
        used[:] = 0
        out[row, :] = -1
        for c in range(size):
            nearest[c], free[c] = 0.0, 1
            for k in range(f):
                across[k, c] = np.float64(vectors[pool[c], k]) * inverse[pool[c]]
        for taken in range(min(out.shape[1], size)):
            best, highest = -1, 0.0
            for c in range(size):
                worth = (1 - share) * relevance[c] - share * nearest[c]
                if free[c] and (best < 0 or worth > highest) and _fits(pool[c], start, label, limit, used):
                    best, highest = c, worth
            if best < 0:
                break
            out[row, taken], free[best], item = best, 0, pool[best]
            for e in range(start[item], start[item + 1]):
                used[label[e]] += 1
            alike[:size] = 0
            if f:
                for k in range(f):
                    x = across[k, best]
                    for c in range(size):
                        alike[c] += x * across[k, c]
            else:
                _share_words(item, pool, size, word_start, word, there, alike)
            for c in range(size):
                nearest[c] = alike[c] if taken == 0 else max(nearest[c], alike[c])


@kernel
def _share_words(item: int, pool: Array, size: int, start: Array, word: Array, there: Array, alike: Array) -> None:
    """The words that candidates share with an item / sqrt(words of one x words of the other)."""
    own = start[item + 1] - start[item]
    for e in range(start[item], start[item + 1]):
        there[word[e]] = 1
    for c in range(size):
        shared = 0
        for e in range(start[pool[c]], start[pool[c] + 1]):
            shared += there[word[e]]
        if shared:
            alike[c] = shared / np.sqrt(np.float64(own * (start[pool[c] + 1] - start[pool[c]])))
    for e in range(start[item], start[item + 1]):
        there[word[e]] = 0


@kernel
def take_calibrated(
    pools: Array, scores: Array, share: float, smooth: float, past_start: Array, past: Array, word_start: Array,
    word: Array, words: int, start: Array, label: Array, limit: Array, out: Array,
) -> None:  # fmt: skip
    """Calibrated lists (Steck 2018), greedily: at every step the candidate with the largest

        (1 - share) sum of relevance - share KL(p, (1 - smooth) q + smooth p)

    p and q are the distributions of words over what the person had and over the list with the candidate: every item
    with words spreads 1 over them. Rows `past_start` of `past` say what people had. Who had nothing with words gets the
    best. Of equal candidates the one with the higher score is taken.
    """
    width = pools.shape[1]
    p, held, base, relevance = np.empty(words), np.empty(words), np.empty(words), np.empty(width)
    used, free = np.zeros(limit.shape[0], dtype=np.int64), np.empty(width, dtype=np.uint8)
    for row in range(pools.shape[0]):
        pool, size = pools[row], _size(pools[row])
        _scale(scores[row], size, relevance)
        used[:] = 0
        out[row, :] = -1
        free[:size] = 1
        held[:] = 0
        known = _spread(past[past_start[row] : past_start[row + 1]], word_start, word, p)
        many = 0  # chosen items with words
        for taken in range(min(out.shape[1], size)):
            now = 0.0  # sum of p log q as the list is, and after one more item without these words
            more = 0.0
            for g in range(words):
                base[g] = 0.0
                if known and p[g] > 0:
                    now += p[g] * exact_log((1 - smooth) * (held[g] / many if many else 0.0) + smooth * p[g])
                    base[g] = exact_log((1 - smooth) * (held[g] / (many + 1)) + smooth * p[g])
                    more += p[g] * base[g]
            best, highest = -1, 0.0
            for c in range(size):
                if not free[c] or not _fits(pool[c], start, label, limit, used):
                    continue
                fit, own = now, word_start[pool[c] + 1] - word_start[pool[c]]
                if known and own:
                    fit = more
                    for e in range(word_start[pool[c]], word_start[pool[c] + 1]):
                        g = word[e]
                        if p[g] > 0:
                            mix = (1 - smooth) * ((held[g] + 1.0 / own) / (many + 1)) + smooth * p[g]
                            fit += p[g] * (exact_log(mix) - base[g])
                worth = (1 - share) * relevance[c] + share * fit
                if best < 0 or worth > highest:
                    best, highest = c, worth
            if best < 0:
                break
            out[row, taken], free[best], item = best, 0, pool[best]
            for e in range(start[item], start[item + 1]):
                used[label[e]] += 1
            own = word_start[item + 1] - word_start[item]
            many += own > 0
            for e in range(word_start[item], word_start[item + 1]):
                held[word[e]] += 1.0 / own


@kernel
def _spread(items: Array, start: Array, word: Array, out: Array) -> bool:
    """The distribution of words over items; whether there are any."""
    out[:] = 0
    many = 0
    for item in items:
        own = start[item + 1] - start[item]
        many += own > 0
        for e in range(start[item], start[item + 1]):
            out[word[e]] += 1.0 / own
    for g in range(out.shape[0]):
        out[g] = out[g] / many if many else 0.0
    return many > 0
