"""Blocks of users, scored and worked on by several threads; never users x items in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes
from fullrank.data.ids import Ids
from fullrank.errors import DataError
from fullrank.evaluation.scoring import Scorer
from fullrank.kernels.near import Near
from fullrank.models.kinds.linear import Room
from fullrank.runtime.threads import in_parallel, one_blas_thread

Work: TypeAlias = Callable[[slice, NDArray[Any], Near], int]

Progress: TypeAlias = Callable[[int, int], object]  # how many are done, of how many

BLOCK_BYTES = 4 << 20  # of scores per thread: stays in a core's cache
FEWEST = 8  # users in a block


def block_size(n_items: int) -> int:
    """Users in a block, so that its scores fit the budget."""
    return max(FEWEST, min(512, BLOCK_BYTES // (4 * max(n_items, 1))))


def tell_progress(work: Work, users: int, progress: Progress) -> Work:
    """The same work, which tells after every block how far it is."""
    lock, done = threading.Lock(), 0

    def work_and_tell(some: slice, scores: NDArray[Any], near: Near) -> int:
        nonlocal done
        wrong = work(some, scores, near)
        with lock:
            done += some.stop - some.start
            progress(done, users)
        return wrong

    return work_and_tell


def over_blocks(
    scorer: Scorer, user: Codes, users: Ids, n_items: int, work: Work, *, name: str,
    block: int | None = None, some: bool = False,
) -> None:  # fmt: skip
    """Call `work(cases, scores, near)` for blocks of these users; it returns a row that is not finite, or -1.

    With `some`, only some items of each are needed: the rows of scores may be left out where vectors give them.
    """
    rows = block or block_size(n_items)
    own = threading.local()

    def room(many: int) -> Room:
        """A thread's own memory, used again for every block."""

        def memory(kind: Any) -> NDArray[Any]:
            if not hasattr(own, "kept"):
                own.kept = {}
            if kind not in own.kept:
                own.kept[kind] = np.empty((rows, n_items), dtype=kind)
            scores: NDArray[Any] = own.kept[kind][:many]
            return scores

        return memory

    def one(first: int) -> None:
        cases = slice(first, min(first + rows, len(user)))
        given = scorer.alone(user[cases]) if some else None
        scores, near = given or scorer.block(user[cases], room(cases.stop - first))
        wrong = work(cases, scores, near)
        if wrong >= 0:
            who = users.name(int(user[first + wrong]))
            raise DataError(
                f"{name}: a score for user {who!r} is NaN or infinite; fit with a smaller rate or more "
                "regularisation, or look for such values in the model's input."
            )

    with one_blas_thread():
        in_parallel(one, range(0, len(user), rows))
