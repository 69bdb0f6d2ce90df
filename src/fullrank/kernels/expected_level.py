"""Expected worth of levels, with the same bits on every machine: nothing but + - x / and powers of two.

The exponential of a C library has other last bits on other processors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel

Array = NDArray[Any]

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # ln 2 in two parts: k LN2_HIGH is exact
EDGE = 700.0  # beyond it sigma is 0 or 1


@kernel
def exact_exp(x: float) -> float:
    """e^x = 2^k e^r, |r| <= ln(2)/2, by the Taylor series of e^r; for |x| <= EDGE, to some 1e-16 of itself."""
    k = math.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    total = 1.0
    for n in range(14, 0, -1):
        total = 1.0 + total * r / n
    return math.ldexp(total, int(k))


@kernel
def expected_worth(y: Array, thresholds: Array, weights: Array) -> None:
    """y_j becomes  weight_S - sum over s of (weight_s+1 - weight_s) sigma(t_s - y_j), in every row, in this order."""
    for row in range(y.shape[0]):
        for j in range(y.shape[1]):
            total = np.float64(weights[weights.shape[0] - 1])
            for s in range(thresholds.shape[1]):
                z = min(max(y[row, j] - np.float64(thresholds[row, s]), -EDGE), EDGE)
                rise = np.float64(weights[s + 1]) - np.float64(weights[s])
                total -= rise * (1.0 / (1.0 + exact_exp(z)))
            y[row, j] = total
