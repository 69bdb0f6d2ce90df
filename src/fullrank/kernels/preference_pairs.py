"""Pairs of a case's items with different grades."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.runtime.compiling import kernel


@kernel
def enumerate_pairs(
    start: NDArray[np.int64], item: NDArray[Any], grade: NDArray[Any], better: NDArray[Any], worse: NDArray[Any]
) -> int:
    """Fill `better` and `worse` with every pair of every case, better grade first; returns how many."""
    n = 0
    for case in range(len(start) - 1):
        for i in range(start[case], start[case + 1]):
            for j in range(start[case], start[case + 1]):
                if grade[i] > grade[j]:
                    better[n] = item[i]
                    worse[n] = item[j]
                    n += 1
    return n
