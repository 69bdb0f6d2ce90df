"""Compile every kernel before it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fullrank.kernels.pairs import enumerate_pairs


def _pairs() -> None:
    start, codes, grades = np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.array([1, 0], dtype=np.float32)
    for array in (start, codes, grades):
        array.flags.writeable = False  # as the containers hold them
    enumerate_pairs(start, codes, grades, np.empty(1, dtype=np.int32), np.empty(1, dtype=np.int32))


KERNELS: dict[str, Callable[[], None]] = {"pairs of graded cases": _pairs}


def warmup() -> Iterator[str]:
    """Compile the kernels one by one, giving the name of each before it starts."""
    for name, compile_it in KERNELS.items():
        yield name
        compile_it()
