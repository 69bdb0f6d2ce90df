"""Ranks among sampled candidates, for several samples at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fullrank.arrays import frozen
from fullrank.evaluation.blocks import Held, Take, over_blocks
from fullrank.evaluation.candidates import Everything, Sampled
from fullrank.evaluation.case_rows import about_ranks, kernel_input, rows_of
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.fallback import serve
from fullrank.evaluation.scoring import name_of, scorer
from fullrank.ranks import Ranks


def rank_again(model: Any, cases: Cases, samples: Sequence[Sampled], *, block: int | None = None) -> list[Ranks]:
    """Ranks among each of several samples, from one pass over the scores."""
    return serve(model, cases, lambda scored, some: _rank_again(scored, some, samples, block))


def _rank_again(model: Any, cases: Cases, samples: Sequence[Sampled], block: int | None) -> list[Ranks]:
    from fullrank.kernels.sampled_ranks import sample_block, sample_pairs_block

    drawn = [_Sampling(cases, sampled) for sampled in samples]

    def work(one: _Sampling, some: slice, held: Held) -> Take:
        kernel: Any = sample_pairs_block if one.pairs else sample_block
        given = (*kernel_input(cases, some), *one.how, *one.out(some))
        return lambda begin, scores, near: int(kernel(scores, near, *given))

    over_blocks(
        scorer(model, len(cases.users), len(cases.items)), cases.user, cases.users, len(cases.items),
        [partial(work, one) for one in drawn],
        name=name_of(model), block=block, some=True,
    )  # fmt: skip
    return [one.ranks(model) for one in drawn]


class _Sampling:
    """The columns of one sampling, filled block by block."""

    def __init__(self, cases: Cases, sampled: Sampled) -> None:
        self.cases, self.sampled, self.pairs = cases, sampled, sampled.per == "pair"
        most = sampled.m if sampled.replace else min(sampled.m, len(cases.items))
        self.how = (most, sampled.seed, sampled.replace)
        self.above, self.tied, self.relevant_above = (np.zeros(len(cases.item), dtype=np.int64) for _ in range(3))
        self.leaks = np.zeros(len(cases), dtype=np.int64)
        self.pool, self.full = (np.empty(len(cases.item if self.pairs else cases), dtype=np.int64) for _ in range(2))

    def out(self, some: slice) -> tuple[Any, ...]:
        """Where a kernel puts what it counts."""
        rows = rows_of(self.cases, some)
        if self.pairs:
            return (self.above[rows], self.tied[rows], self.pool[rows], self.full[rows], self.leaks[some])
        counted = (self.above[rows], self.tied[rows], self.relevant_above[rows])
        return (*counted, self.pool[some], self.full[some], self.leaks[some])

    def ranks(self, model: Any) -> Ranks:
        """The ranks; of pairs each is a case, and weighs so that every user weighs the same."""
        cases, sampled = self.cases, self.sampled
        about = replace(
            about_ranks(model, cases, int(self.leaks.sum())), candidates=str(sampled), sampled=sampled.m,
            replace=sampled.replace, seed=sampled.seed, pairs=self.pairs,
        )  # fmt: skip
        if not sampled.replace and (self.pool == self.full).all():
            about = replace(about, candidates=str(Everything()) + (", pair by pair" if self.pairs else ""))
        sizes = np.diff(cases.start)
        return Ranks(
            start=np.arange(len(cases.item) + 1) if self.pairs else cases.start,
            above=frozen(self.above), tied=frozen(self.tied), pool=frozen(self.pool),
            relevant_above=frozen(self.relevant_above),
            item=cases.item, user=np.repeat(cases.user, sizes) if self.pairs else cases.user, grade=cases.grade,
            weight=np.repeat(1 / sizes, sizes) if self.pairs else None, full=frozen(self.full), about=about,
        )  # fmt: skip
