"""Logarithms with the same bits on every machine: nothing but + - x / and powers of two."""

from __future__ import annotations

import math

from fullrank.runtime.compiling import kernel

LN_2 = 0.6931471805599453
TERMS = 12  # of the series: the next is below 1e-18 of the first


@kernel
def exact_log(x: float) -> float:
    """ln x of a positive number: x = 2^e m, ln m = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1)."""
    m, e = math.frexp(x)
    if m < 0.7071067811865476:
        m, e = 2 * m, e - 1
    s = (m - 1) / (m + 1)
    square, total = s * s, 0.0
    for k in range(TERMS, -1, -1):
        total = total * square + 1 / (2 * k + 1)
    return e * LN_2 + 2 * s * total
