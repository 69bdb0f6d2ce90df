"""Scores to ranks: blocks of users, one product and one counting pass each, never a sort of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import frozen
from fullrank.data.graded import Graded
from fullrank.data.split import Split
from fullrank.errors import DataError
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
    offers = _offers(split, candidates)
    if offers is not None:
        return rank_offers(model, offers, relevant)
    cases = split if isinstance(split, Cases) else cases_of(split, relevant, exclude)  # type: ignore[arg-type]
    return _counted(model, cases, candidates if isinstance(candidates, Sampled) else None, block)


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
    return _counted(model, cases, None, block, first=work), lists


def _about(model: Any, cases: Cases, sampled: Sampled | None) -> About:
    return About(
        model=name_of(model),
        candidates=str(sampled or Everything()),
        sampled=sampled.m if sampled else 0,
        replace=sampled is not None and sampled.replace,
        excluded=cases.excluded,
        relevant=cases.relevant,
        split=cases.split,
        skipped=cases.skipped,
        notes=(*cases.notes, *getattr(model, "notes", ())),
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


def _counted(model: Any, cases: Cases, sampled: Sampled | None, block: int | None, first: Work | None = None) -> Ranks:
    """Ranks from blocks of scores, on which other work may be done first."""
    from fullrank.kernels.counting import count_block, sample_block

    above, tied, before = (np.empty(len(cases.item), dtype=np.int64) for _ in range(3))
    pool, leaks = np.empty(len(cases), dtype=np.int64), np.zeros(len(cases), dtype=np.int64)
    full = np.empty(len(cases), dtype=np.int64) if sampled else pool

    def work(some: slice, scores: NDArray[Any], near: Near) -> int:
        wrong = first(some, scores, near) if first else -1
        if wrong >= 0:
            return wrong
        begin, end = cases.start[some.start], cases.start[some.stop]
        rows, starts = slice(begin, end), cases.start[some.start : some.stop + 1] - begin
        held = cases.item[rows]
        given = (cases.user[some], starts, held, *cases.seen, *cases.more)
        out = (above[rows], tied[rows], before[rows], pool[some])
        if sampled:
            return sample_block(
                scores, near, *given, sampled.m, sampled.seed, sampled.replace, *out, full[some], leaks[some]
            )
        return count_block(scores, near, held_scores(scores, near, starts, held), *given, *out, leaks[some])

    about = _about(model, cases, sampled)
    found = scorer(model, len(cases.users), len(cases.items))
    over_blocks(
        found, cases.user, cases.users, len(cases.items), work, name=about.model, block=block, some=sampled is not None
    )
    for column in (above, tied, before, pool, full):
        frozen(column)
    leaked = int(leaks.sum())
    leak = (f"{leaked:,} held-out items are among the excluded ones too (leak)",) if leaked else ()
    return Ranks(
        start=cases.start, above=above, tied=tied, pool=pool, before=before, item=cases.item, user=cases.user,
        grade=cases.grade, full=full, about=replace(about, notes=about.notes + leak),
    )  # fmt: skip
