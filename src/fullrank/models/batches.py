"""Users in batches: their gradients are taken against frozen items, in parallel, and added in a fixed order.

For models in which a user's step touches many items, so that no blocks of users and items are apart. The result is the
same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Codes


def user_batches(users: Codes, size: int, seed: int, number: int) -> Iterator[Codes]:
    """These users in an order drawn for epoch `number`, `size` at a time."""
    order = np.random.default_rng([seed, 2, number]).permutation(users)
    for first in range(0, len(order), size):
        yield order[first : first + size]


def item_ranges(counts: NDArray[np.int64], parts: int) -> list[tuple[int, int]]:
    """Runs of items with about as many entries each, one for every thread."""
    total = np.cumsum(counts + 1)
    inner = np.searchsorted(total, total[-1] * np.arange(1, parts) / parts)
    edges = [0, *inner.tolist(), len(counts)]
    return [(low, high) for low, high in pairwise(edges) if low < high]
