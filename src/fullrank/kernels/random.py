"""Random numbers by counting: the n-th number of a stream depends on the stream's key and n only.

A stream has no state that somebody could share, so what is drawn depends neither on threads nor on order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel

Array = NDArray[Any]


@kernel
def mixed(x: Any) -> Any:
    """SplitMix64's finaliser, of a uint64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def stream(seed: int, a: int, b: int) -> Any:
    """The key of a stream: of an epoch (a) and a cell or user (b)."""
    return mixed(mixed(mixed(np.uint64(seed)) + np.uint64(a)) + np.uint64(b))


@kernel
def below(key: Any, count: Any, n: int) -> Any:
    """The number `count` of a stream, as an integer in 0 .. n-1, n < 2^31."""
    return np.int64(((mixed(key + count) >> np.uint64(33)) * np.uint64(n)) >> np.uint64(31))


@kernel
def unit(key: Any, count: Any) -> Any:
    """The same as a number in [0, 1)."""
    return np.float64(mixed(key + count) >> np.uint64(11)) * 2.0**-53


@kernel
def drawn(key: Any, count: Any, chance: Array, other: Array) -> Any:
    """The number `count` of a stream, as a draw from an alias table."""
    x = mixed(key + count)
    n = np.uint64(chance.shape[0])
    k = np.int64(((x >> np.uint64(33)) * n) >> np.uint64(31))
    return k if np.float64(x & np.uint64(0xFFFFFFFF)) * 2.0**-32 < chance[k] else other[k]


@kernel
def shuffle(key: Any, codes: Array) -> None:
    """Any order of the codes, each as likely (Fisher and Yates)."""
    for k in range(codes.shape[0] - 1, 0, -1):
        other = below(key, np.uint64(k), k + 1)
        codes[k], codes[other] = codes[other], codes[k]


@kernel
def alias_table(weight: Array, chance: Array, other: Array) -> None:
    """Walker's table: draw k uniformly, keep it with chance[k], else take other[k]; then P(k) = weight[k] / sum."""
    n = weight.shape[0]
    mean = weight.sum() / n
    small, large = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    smalls, larges = 0, 0
    left = np.empty(n, dtype=np.float64)
    for k in range(n):
        left[k] = weight[k] / mean
        if left[k] < 1:
            small[smalls] = k
            smalls += 1
        else:
            large[larges] = k
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        poor, rich = small[smalls], large[larges - 1]
        chance[poor], other[poor] = left[poor], rich
        left[rich] -= 1 - left[poor]
        if left[rich] < 1:
            larges -= 1
            small[smalls] = rich
            smalls += 1
    for k in range(smalls):
        chance[small[k]], other[small[k]] = 1.0, small[k]
    for k in range(larges):
        chance[large[k]], other[large[k]] = 1.0, large[k]
