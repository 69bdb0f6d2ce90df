"""Scores to ranks: blocks of users, one product and one counting pass each, never a sort of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import frozen
from fullrank.data.graded import Graded
from fullrank.data.split import Split
from fullrank.errors import DataError, check
from fullrank.evaluation.blocks import Work, over_blocks
from fullrank.evaluation.candidates import Everything, Offered, Sampled
from fullrank.evaluation.cases import Cases, Exclude, Threshold, cases_of
from fullrank.evaluation.offers import rank_offers
from fullrank.evaluation.scoring import name_of, scorer
from fullrank.evaluation.top import TopN, lists_to_fill
from fullrank.kernels.near import Near
from fullrank.models.linear import held_scores
from fullrank.ranks import About, Ranks


def rank(
    model: Any,
    split: Split[Any] | Cases | Graded,
    candidates: Everything | Sampled | Offered | None = None,
    *,
    relevant: Threshold = None,
    exclude: Exclude = "train",
    block: int | None = None,
) -> Ranks:
    """Where the held-out relevant items stand among the candidates, by the model's scores.

    `model`: anything that scores (see `scorer`): a fitted model, an array (users, items), a function.
    To compare models, pass the same `cases_of(split, ...)` to each: their masks are then made once.
    Sessions (`Graded`, or a split of them) are ranked inside their own offer sets.
    """
    known = candidates is None or isinstance(candidates, Everything | Sampled | Offered)
    check("candidates", candidates, known, "Everything(), Sampled(m), Offered(sessions) or None")
    offers = _offers(split, candidates)
    if offers is not None:
        return rank_offers(model, offers, relevant)
    cases = split if isinstance(split, Cases) else cases_of(split, relevant, exclude)  # type: ignore[arg-type]
    if isinstance(candidates, Sampled):
        return rank_again(model, cases, [candidates], block=block)[0]
    return _counted(model, cases, block)


def rank_again(model: Any, cases: Cases, samples: Sequence[Sampled], *, block: int | None = None) -> list[Ranks]:
    """Ranks among each of several samples, from one pass over the scores."""
    from fullrank.kernels.sampling import sample_block, sample_pairs_block

    drawn = [_Drawn(cases, sampled) for sampled in samples]

    def work(some: slice, scores: NDArray[Any], near: Near) -> int:
        for one in drawn:
            kernel: Any = sample_pairs_block if one.pairs else sample_block
            wrong = int(kernel(scores, near, *_given(cases, some), *one.how, *one.out(some)))
            if wrong >= 0:
                return wrong
        return -1

    over_blocks(
        scorer(model, len(cases.users), len(cases.items)), cases.user, cases.users, len(cases.items), work,
        name=name_of(model), block=block, some=True,
    )  # fmt: skip
    return [one.ranks(model) for one in drawn]


def rank_and_top(
    model: Any,
    split: Split[Any] | Cases,
    n: int = 10,
    *,
    relevant: Threshold = None,
    exclude: Exclude = "train",
    block: int | None = None,
) -> tuple[Ranks, TopN]:
    """The ranks, and the n best items for the user of every case, from one pass over the scores."""
    cases = split if isinstance(split, Cases) else cases_of(split, relevant, exclude)
    lists, work = lists_to_fill(cases.user, cases.users, cases.items, (*cases.seen, *cases.more), n)
    return _counted(model, cases, block, first=work), lists


def _about(model: Any, cases: Cases, leaked: int) -> About:
    leak = (f"{leaked:,} held-out items are among the excluded ones too (leak)",) if leaked else ()
    return About(
        model=name_of(model),
        excluded=cases.excluded,
        relevant=cases.relevant,
        split=cases.split,
        skipped=cases.skipped,
        notes=(*cases.notes, *getattr(model, "notes", ()), *leak),
    )


def _offers(split: Split[Any] | Cases | Graded, candidates: Any) -> Graded | None:
    """The offer sets to rank in, if these are sessions."""
    offers: Any = split.held_out if isinstance(split, Split) else split
    if isinstance(candidates, Offered):
        offers = candidates.graded
    if not isinstance(offers, Graded):
        return None
    if candidates is not None and not isinstance(candidates, Offered):
        raise DataError(f"sessions are ranked among what they offered, not among {candidates}; use Offered(sessions).")
    ids = split.train if isinstance(split, Split) else split
    if ids.users != offers.users or ids.items != offers.items:
        raise DataError("the offered sessions have other users or items than the split; use its own ids.")
    return offers


def _counted(model: Any, cases: Cases, block: int | None, first: Work | None = None) -> Ranks:
    """Ranks from blocks of scores, on which other work may be done first."""
    from fullrank.kernels.counting import count_block

    above, tied, before = (np.empty(len(cases.item), dtype=np.int64) for _ in range(3))
    pool, leaks = np.empty(len(cases), dtype=np.int64), np.zeros(len(cases), dtype=np.int64)

    def work(some: slice, scores: NDArray[Any], near: Near) -> int:
        wrong = first(some, scores, near) if first else -1
        if wrong >= 0:
            return wrong
        rows, given = _rows(cases, some), _given(cases, some)
        own = held_scores(scores, near, given[1], given[2])
        out: Any = (above[rows], tied[rows], before[rows], pool[some], leaks[some])
        return count_block(scores, near, own, *given, *out)

    over_blocks(
        scorer(model, len(cases.users), len(cases.items)), cases.user, cases.users, len(cases.items), work,
        name=name_of(model), block=block,
    )  # fmt: skip
    for column in (above, tied, before, pool):
        frozen(column)
    return Ranks(
        start=cases.start, above=above, tied=tied, pool=pool, before=before, item=cases.item, user=cases.user,
        grade=cases.grade, about=_about(model, cases, int(leaks.sum())),
    )  # fmt: skip


def _rows(cases: Cases, some: slice) -> slice:
    return slice(int(cases.start[some.start]), int(cases.start[some.stop]))


def _given(cases: Cases, some: slice) -> tuple[Any, ...]:
    """What kernels need to know of these cases."""
    rows = _rows(cases, some)
    starts = cases.start[some.start : some.stop + 1] - rows.start
    return (cases.user[some], starts, cases.item[rows], *cases.seen, *cases.more)


class _Drawn:
    """The columns of one sampling, filled block by block."""

    def __init__(self, cases: Cases, sampled: Sampled) -> None:
        self.cases, self.sampled, self.pairs = cases, sampled, sampled.per == "pair"
        most = sampled.m if sampled.replace else min(sampled.m, len(cases.items))
        self.how = (most, sampled.seed, sampled.replace)
        self.above, self.tied, self.before = (np.zeros(len(cases.item), dtype=np.int64) for _ in range(3))
        self.leaks = np.zeros(len(cases), dtype=np.int64)
        self.pool, self.full = (np.empty(len(cases.item if self.pairs else cases), dtype=np.int64) for _ in range(2))

    def out(self, some: slice) -> tuple[Any, ...]:
        """Where a kernel puts what it counts."""
        rows = _rows(self.cases, some)
        if self.pairs:
            return (self.above[rows], self.tied[rows], self.pool[rows], self.full[rows], self.leaks[some])
        counted = (self.above[rows], self.tied[rows], self.before[rows])
        return (*counted, self.pool[some], self.full[some], self.leaks[some])

    def ranks(self, model: Any) -> Ranks:
        """The ranks; of pairs each is a case, and weighs so that every user weighs the same."""
        cases, sampled = self.cases, self.sampled
        about = replace(
            _about(model, cases, int(self.leaks.sum())), candidates=str(sampled), sampled=sampled.m,
            replace=sampled.replace, seed=sampled.seed, pairs=self.pairs,
        )  # fmt: skip
        if not sampled.replace and (self.pool == self.full).all():
            about = replace(about, candidates=str(Everything()) + (", pair by pair" if self.pairs else ""))
        sizes = np.diff(cases.start)
        return Ranks(
            start=np.arange(len(cases.item) + 1) if self.pairs else cases.start,
            above=frozen(self.above), tied=frozen(self.tied), pool=frozen(self.pool), before=frozen(self.before),
            item=cases.item, user=np.repeat(cases.user, sizes) if self.pairs else cases.user, grade=cases.grade,
            weight=np.repeat(1 / sizes, sizes) if self.pairs else None, full=frozen(self.full), about=about,
        )  # fmt: skip
