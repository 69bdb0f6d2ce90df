"""Scores to ranks: blocks of users, one product and one counting pass each, never a sort of the catalogue."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError
from fullrank.evaluation.candidates import Everything, Sampled
from fullrank.evaluation.cases import Cases, Exclude, Threshold, cases_of
from fullrank.evaluation.scoring import Fill, filler, name_of
from fullrank.kernels.threads import in_parallel
from fullrank.ranks import About, Ranks

BLOCK_BYTES = 2 << 20  # of scores per thread: stays in a core's cache


def rank(
    model: Any,
    split: Split[Interactions] | Cases,
    candidates: Everything | Sampled | None = None,
    *,
    relevant: Threshold = None,
    exclude: Exclude = "train",
    block: int | None = None,
) -> Ranks:
    """Where the held-out relevant items stand among the candidates, by the model's scores.

    `model`: anything that scores (see `filler`): a fitted model, an array (users, items), a function.
    To compare models, pass the same `cases_of(split, ...)` to each: their masks are then made once.
    """
    cases = split if isinstance(split, Cases) else cases_of(split, relevant, exclude)
    candidates = candidates or Everything()
    fill = filler(model, len(cases.users), len(cases.items))
    about = About(
        model=name_of(model),
        candidates=str(candidates),
        sampled=candidates.m if isinstance(candidates, Sampled) else 0,
        excluded=cases.excluded,
        relevant=cases.relevant,
        split=cases.split,
        skipped=cases.skipped,
    )
    return _counted(fill, cases, candidates, about, block or block_size(len(cases.items)))


def block_size(n_items: int) -> int:
    """Users in a block, so that its scores fit the budget."""
    return max(4, min(512, BLOCK_BYTES // (4 * max(n_items, 1))))


def _counted(fill: Fill, cases: Cases, candidates: Everything | Sampled, about: About, block: int) -> Ranks:
    from fullrank.kernels.ranking import count_block, sample_block

    above, tied, before = (np.empty(len(cases.item), dtype=np.int64) for _ in range(3))
    pool, leaks = np.empty(len(cases), dtype=np.int64), np.zeros(len(cases), dtype=np.int64)
    full = np.empty(len(cases), dtype=np.int64) if isinstance(candidates, Sampled) else pool
    own = threading.local()

    def count(first: int) -> None:
        last = min(first + block, len(cases))
        if not hasattr(own, "scores"):
            own.scores = np.empty((block, len(cases.items)), dtype=np.float32)
        scores, users, some = own.scores[: last - first], cases.user[first:last], slice(first, last)
        fill(users, scores)
        begin, end = cases.start[first], cases.start[last]
        rows = slice(begin, end)
        given = (scores, users, cases.start[first : last + 1] - begin, cases.item[rows], *cases.seen, *cases.more)
        found = (above[rows], tied[rows], before[rows], pool[some])
        if isinstance(candidates, Sampled):
            draw = (candidates.m, candidates.seed, candidates.replace)
            wrong = sample_block(*given, *draw, *found, full[some], leaks[some])
        else:
            wrong = count_block(*given, *found, leaks[some])
        if wrong >= 0:
            user = cases.users.name(int(users[wrong]))
            raise DataError(
                f"{about.model}: a score for user {user!r} is NaN or infinite; fit with a smaller rate or more "
                "regularisation, or look for such values in the model's input."
            )

    in_parallel(count, range(0, len(cases), block))
    leaked = int(leaks.sum())
    notes = (f"{leaked:,} held-out items are among the excluded ones too (leak)",) if leaked else ()
    return Ranks(
        start=cases.start, above=above, tied=tied, pool=pool, before=before, item=cases.item, user=cases.user,
        grade=cases.grade, full=full, about=replace(about, notes=notes),
    )  # fmt: skip
