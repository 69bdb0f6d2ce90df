"""Blocks of users and tiles of items, scored and worked on by several threads; never users x items in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Doubles, Ints
from fullrank.data.ids import Ids
from fullrank.errors import DataError
from fullrank.evaluation.scoring import Scorer
from fullrank.kernels.near import Near
from fullrank.models.kinds.linear import Room
from fullrank.runtime.threads import in_parallel, one_blas_thread, threads

Held: TypeAlias = Callable[[Ints, Codes], Doubles]  # canonical scores of items item[start[row]] .. of every row
Take: TypeAlias = Callable[[int, NDArray[Any], Near], int]  # a tile; returns a row that is not finite, or -1
Work: TypeAlias = Callable[[slice, Held], Take]  # on a block of cases: what is done with its tiles, from the first on

Progress: TypeAlias = Callable[[int, int], object]  # how many are done, of how many

BLOCK_BYTES = 4 << 20  # of scores per thread: stays in a core's cache
FEWEST = 8  # users in a block


def block_size(n_items: int) -> int:
    """Users in a block, so that their scores for so many items fit the budget."""
    return max(FEWEST, min(512, BLOCK_BYTES // (4 * max(n_items, 1))))


def over_blocks(
    scorer: Scorer, user: Codes, users: Ids, n_items: int, works: Sequence[Work], *, name: str,
    block: int | None = None, some: bool = False, progress: Progress | None = None,
) -> None:  # fmt: skip
    """Do these works for blocks of these users, on every tile one after the other.

    With `some`, only some items of each are needed: the scores may be left out where vectors give them.
    """
    wide = n_items if some else scorer.wide(n_items)
    rows = block or min(block_size(wide), max(FEWEST, -(-len(user) // threads())))
    own, tell = threading.local(), _teller(progress, len(user))

    def room(many: int) -> Room:
        """A thread's own memory, used again for every tile."""

        def memory(kind: Any, items: int = n_items) -> NDArray[Any]:
            if not hasattr(own, "kept"):
                own.kept = {}
            if kind not in own.kept:
                own.kept[kind] = np.empty(rows * wide, dtype=kind)
            scores: NDArray[Any] = own.kept[kind][: many * items].reshape(many, items)
            return scores

        return memory

    def one(first: int) -> None:
        cases = slice(first, min(first + rows, len(user)))
        given = (user[cases], room(cases.stop - first))
        held, tiles = scorer.alone(*given) if some else scorer.block(*given, wide)
        takes = [work(cases, held) for work in works]
        for tile in tiles:
            for take in takes:
                wrong = take(*tile)
                if wrong >= 0:
                    raise _not_finite(name, users, int(user[first + wrong]))
        tell(cases.stop - first)

    with one_blas_thread():
        in_parallel(one, range(0, len(user), rows))


def _not_finite(name: str, users: Ids, user: int) -> DataError:
    return DataError(
        f"{name}: a score for user {users.name(user)!r} is NaN or infinite; fit with a smaller rate or more "
        "regularisation, or look for such values in the model's input."
    )


def _teller(progress: Progress | None, users: int) -> Callable[[int], None]:
    """What tells after every block how far it is."""
    lock, done = threading.Lock(), 0

    def tell(more: int) -> None:
        nonlocal done
        if progress is not None:
            with lock:
                done += more
                progress(done, users)

    return tell
