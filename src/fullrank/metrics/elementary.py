"""Logarithms and powers of two with the same bits on every machine: nothing but + - x / and exact scaling.

A C library, and NumPy on processors with AVX-512, have others in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.arrays import Doubles

LN_2 = 0.6931471805599453
LOG2_E = 1.4426950408889634
TERMS = 12  # of the series: the next is below 1e-18 of the first


def log2(x: Any) -> Doubles:
    """log2 of positive numbers: x = 2^e m, ln m = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1), |s| <= 0.172.

    Exact for powers of two, else right to some 3e-16 of itself.

    >>> log2([1, 2, 8, 10]).tolist()
    [0.0, 1.0, 3.0, 3.321928094887362]
    """
    m, e = np.frexp(np.asarray(x, dtype=np.float64))
    small = m < 0.7071067811865476
    m, e = np.where(small, 2 * m, m), np.where(small, e - 1, e)
    s = (m - 1) / (m + 1)
    square, total = s * s, np.zeros_like(s)
    for k in range(TERMS, -1, -1):
        total = total * square + 1 / (2 * k + 1)
    return np.asarray(e + 2 * s * total * LOG2_E)


def exp2(x: Any) -> Doubles:
    """2^x = 2^k e^r, k the nearest whole number, by the series of e^r, |r| <= 0.347; exact for whole numbers.

    >>> exp2([-1, 0, 0.5, 10]).tolist()
    [0.5, 1.0, 1.414213562373095, 1024.0]
    """
    x = np.asarray(x, dtype=np.float64)
    k = np.clip(np.rint(x), -2000, 2000)
    r = (x - k) * LN_2
    total = np.ones_like(r)
    for n in range(TERMS + 2, 0, -1):
        total = 1 + total * r / n
    return np.asarray(np.ldexp(total, k.astype(np.int64)))
