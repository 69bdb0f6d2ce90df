"""Scores to ranks: blocks of users, one product and one counting pass each, never a sort of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.evaluation.blocks import over_blocks
from fullrank.evaluation.candidates import Everything, Sampled
from fullrank.evaluation.cases import Cases, Exclude, Threshold, cases_of
from fullrank.evaluation.scoring import Fill, filler, name_of
from fullrank.ranks import About, Ranks


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
        replace=isinstance(candidates, Sampled) and candidates.replace,
        excluded=cases.excluded,
        relevant=cases.relevant,
        split=cases.split,
        skipped=cases.skipped,
    )
    return _counted(fill, cases, candidates, about, block)


def _counted(fill: Fill, cases: Cases, candidates: Everything | Sampled, about: About, block: int | None) -> Ranks:
    from fullrank.kernels.ranking import count_block, sample_block

    above, tied, before = (np.empty(len(cases.item), dtype=np.int64) for _ in range(3))
    pool, leaks = np.empty(len(cases), dtype=np.int64), np.zeros(len(cases), dtype=np.int64)
    full = np.empty(len(cases), dtype=np.int64) if isinstance(candidates, Sampled) else pool

    def work(some: slice, scores: NDArray[Any]) -> int:
        begin, end = cases.start[some.start], cases.start[some.stop]
        rows, starts = slice(begin, end), cases.start[some.start : some.stop + 1] - begin
        given = (scores, cases.user[some], starts, cases.item[rows], *cases.seen, *cases.more)
        found = (above[rows], tied[rows], before[rows], pool[some])
        if isinstance(candidates, Sampled):
            draw = (candidates.m, candidates.seed, candidates.replace)
            return sample_block(*given, *draw, *found, full[some], leaks[some])
        return count_block(*given, *found, leaks[some])

    over_blocks(fill, cases.user, cases.users, len(cases.items), work, name=about.model, block=block)
    leaked = int(leaks.sum())
    notes = (f"{leaked:,} held-out items are among the excluded ones too (leak)",) if leaked else ()
    return Ranks(
        start=cases.start, above=above, tied=tied, pool=pool, before=before, item=cases.item, user=cases.user,
        grade=cases.grade, full=full, about=replace(about, notes=notes),
    )  # fmt: skip
