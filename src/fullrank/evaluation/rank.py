"""Scores to ranks: tiles of users and items, one product and one counting pass each, never a sort of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fullrank.arrays import frozen
from fullrank.data.graded import Graded
from fullrank.data.outside import OutsideLists
from fullrank.data.split import Split
from fullrank.errors import DataError, check
from fullrank.evaluation.blocks import Held, Progress, Take, Work, over_blocks
from fullrank.evaluation.candidates import Everything, Offered, Sampled
from fullrank.evaluation.case_rows import about_ranks, kernel_input, rows_of
from fullrank.evaluation.cases import Cases, Exclude, Threshold, cases_of
from fullrank.evaluation.fallback import serve
from fullrank.evaluation.lists import rank_lists, top_lists
from fullrank.evaluation.offers import rank_offers
from fullrank.evaluation.rank_samples import rank_again
from fullrank.evaluation.scoring import name_of, scorer
from fullrank.evaluation.top import TopN, lists_to_fill
from fullrank.ranks import Ranks


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

    `model`: anything that scores (see `scorer`): a fitted model, an array (users, items), a function; or
    `OutsideLists`, in which some items stand nowhere (see `lists`). People of whom a fitted model knows nothing are
    ranked by what they would be served: what is popular (see `fallback`).
    To compare models, pass the same `cases_of(split, ...)` to each: their masks are then made once.
    Sessions (`Graded`, or a split of them) are ranked inside their own offer sets.
    """
    known = candidates is None or isinstance(candidates, Everything | Sampled | Offered)
    check("candidates", candidates, known, "Everything(), Sampled(m), Offered(sessions) or None")
    offers = _offers(split, candidates)
    if offers is not None:
        return rank_offers(model, offers, relevant)
    cases = split if isinstance(split, Cases) else cases_of(split, relevant, exclude)  # type: ignore[arg-type]
    if isinstance(model, OutsideLists):
        check("candidates", candidates, not isinstance(candidates, Sampled), "left out: lists say nothing of samples")
        return rank_lists(model, cases)
    if isinstance(candidates, Sampled):
        return rank_again(model, cases, [candidates], block=block)[0]
    return serve(model, cases, lambda scored, some: [_count(scored, some, block)])[0]


def rank_and_top(
    model: Any,
    split: Split[Any] | Cases,
    n: int = 10,
    *,
    relevant: Threshold = None,
    exclude: Exclude = "train",
    block: int | None = None,
    progress: Progress | None = None,
) -> tuple[Ranks, TopN]:
    """The ranks, and the n best items for the user of every case, from one pass over the scores.

    `progress` is called with how many cases are done, and of how many, by any of the threads.
    """
    cases = split if isinstance(split, Cases) else cases_of(split, relevant, exclude)
    if isinstance(model, OutsideLists):
        return rank_lists(model, cases), top_lists(model, cases, n)
    lists: list[TopN] = []

    def count(scored: Any, some: Cases) -> list[Ranks]:
        made, work = lists_to_fill(scored, some.user, some.users, some.items, (*some.seen, *some.more), n)
        lists.append(made)
        return [_count(scored, some, block, first=[work], progress=progress if scored is model else None)]

    ranks = serve(model, cases, count)[0]
    return ranks, TopN.together(lists)


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


def _count(
    model: Any, cases: Cases, block: int | None, *, first: Sequence[Work] = (), progress: Progress | None = None
) -> Ranks:
    """Ranks from tiles of scores, on which other work may be done first."""
    from fullrank.kernels.counting import count_tile

    above, tied, relevant_above = (np.empty(len(cases.item), dtype=np.int64) for _ in range(3))
    pool, leaks = (np.empty(len(cases), dtype=np.int64) for _ in range(2))

    def work(some: slice, held: Held) -> Take:
        rows, given = rows_of(cases, some), kernel_input(cases, some)
        own = held(given[1], given[2])
        out: Any = (above[rows], tied[rows], relevant_above[rows], pool[some], leaks[some])
        return lambda begin, scores, near: count_tile(begin, scores, near, own, *given, *out)

    over_blocks(
        scorer(model, len(cases.users), len(cases.items)), cases.user, cases.users, len(cases.items), [*first, work],
        name=name_of(model), block=block, progress=progress,
    )  # fmt: skip
    for column in (above, tied, relevant_above, pool):
        frozen(column)
    return Ranks(
        start=cases.start, above=above, tied=tied, pool=pool, relevant_above=relevant_above,
        item=cases.item, user=cases.user, grade=cases.grade, about=about_ranks(model, cases, int(leaks.sum())),
    )  # fmt: skip
