"""Products of factors whose rows have the same bits whatever rows are computed beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST = 8  # rows, and multiplications, from which BLAS adds up in one order: below it has other kernels
SMALLEST = 1 << 20


def product(left: NDArray[Any], across: NDArray[Any], out: NDArray[Any]) -> None:
    """left @ across, into `out`; small ones are padded."""
    rows, enough = len(left), max(FEWEST, SMALLEST // max(across.size, 1) + 1)
    if rows >= enough:
        np.matmul(left, across, out=out)
        return
    padded = np.zeros((enough, left.shape[1]), dtype=left.dtype)
    padded[:rows] = left
    out[:] = np.matmul(padded, across)[:rows]
