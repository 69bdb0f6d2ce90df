"""Blocks of users, scored and worked on by several threads; never users x items in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Codes, Ids
from fullrank.errors import DataError
from fullrank.evaluation.scoring import Fill
from fullrank.kernels.product import FEWEST
from fullrank.kernels.threads import in_parallel, one_blas_thread

BLOCK_BYTES = 4 << 20  # of scores per thread: stays in a core's cache


def block_size(n_items: int) -> int:
    """Users in a block, so that its scores fit the budget."""
    return max(FEWEST, min(512, BLOCK_BYTES // (4 * max(n_items, 1))))


def over_blocks(
    fill: Fill, user: Codes, users: Ids, n_items: int, work: Callable[[slice, NDArray[Any]], int], *, name: str,
    block: int | None = None,
) -> None:  # fmt: skip
    """Call `work(cases, scores)` for blocks of these users; it returns a row that is not finite, or -1."""
    rows = block or block_size(n_items)
    own = threading.local()

    def one(first: int) -> None:
        cases = slice(first, min(first + rows, len(user)))
        if not hasattr(own, "scores"):
            own.scores = np.empty((rows, n_items), dtype=np.float32)
        scores = own.scores[: cases.stop - first]
        fill(user[cases], scores)
        wrong = work(cases, scores)
        if wrong >= 0:
            who = users.name(int(user[first + wrong]))
            raise DataError(
                f"{name}: a score for user {who!r} is NaN or infinite; fit with a smaller rate or more "
                "regularisation, or look for such values in the model's input."
            )

    with one_blas_thread():
        in_parallel(one, range(0, len(user), rows))
