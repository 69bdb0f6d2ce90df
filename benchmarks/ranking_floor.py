"""What no full ranking can do without: the product of the factors, and reading every score once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from fullrank.runtime.threads import one_blas_thread

THREADS = 2

Array = NDArray[np.float32]


@numba.njit(nogil=True, error_model="numpy")
def higher(scores: Array, item: NDArray[np.int32], out: NDArray[np.int64]) -> None:
    """How many scores of each row are above that of one item."""
    for row in range(scores.shape[0]):
        s = scores[row]
        threshold, found = s[item[row]], np.int32(0)
        for j in range(s.shape[0]):
            found = np.int32(found + np.int32(s[j] > threshold))
        out[row] = found


def floors(left: Array, right: Array, item: NDArray[np.int32]) -> dict[str, Callable[[], None]]:
    """Several ways to say it, by name; the fastest is the floor. Memory and threads are there before the clock runs."""
    pool = ThreadPoolExecutor(THREADS)
    ways = {}
    for size in (128, 192, 256, 512):
        ways[f"blocks of {size} users"] = _own_threads(pool, size, left, right, item, transposed=False)
    for size in (64, 128, 256):
        ways[f"blocks of {size} users, items transposed"] = _own_threads(pool, size, left, right, item, transposed=True)
    for size in (1024, len(left)):
        ways[f"blocks of {size} users, BLAS threads"] = _blas_threads(pool, size, left, right, item)
    return ways


def _own_threads(
    pool: ThreadPoolExecutor, size: int, left: Array, right: Array, item: NDArray[np.int32], *, transposed: bool
) -> Callable[[], None]:
    buffers = [np.zeros((size, len(right)), dtype=np.float32) for _ in range(THREADS)]
    found = np.zeros(len(left), dtype=np.int64)

    def run() -> None:
        across = np.ascontiguousarray(right.T) if transposed else right.T
        firsts = count(0, size)  # shared: a thread that is done takes the next block

        def work(buffer: Array) -> None:
            for first in firsts:
                if first >= len(left):
                    return
                some = slice(first, first + size)
                users = left[some]
                scores = np.matmul(users, across, out=buffer[: len(users)])
                higher(scores, item[some], found[some])

        with one_blas_thread():
            list(pool.map(work, buffers))

    return run


def _blas_threads(
    pool: ThreadPoolExecutor, size: int, left: Array, right: Array, item: NDArray[np.int32]
) -> Callable[[], None]:
    buffer = np.zeros((size, len(right)), dtype=np.float32)
    found = np.zeros(len(left), dtype=np.int64)
    blas = ThreadpoolController()

    def run() -> None:
        for first in range(0, len(left), size):
            users = left[first : first + size]
            with blas.limit(limits=THREADS, user_api="blas"):
                scores = np.matmul(users, right.T, out=buffer[: len(users)])
            half = -(-len(users) // THREADS)
            parts = [slice(start, min(start + half, len(users))) for start in range(0, len(users), half)]
            some = slice(first, first + size)
            list(pool.map(higher, *([array[part] for part in parts] for array in (scores, item[some], found[some]))))

    return run
