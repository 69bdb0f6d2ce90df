"""Ranking inside offer sets: each case's own items, nothing else (the sessions of Ackerman 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import row_blocks
from fullrank.data.canonical import at_least
from fullrank.data.graded import Graded
from fullrank.errors import DataError
from fullrank.evaluation.blocks import Held, Take, over_blocks
from fullrank.evaluation.cases import Threshold
from fullrank.evaluation.scoring import ByRows, ByVectors, name_of, scorer
from fullrank.metrics.partial_order import checked_scores, levels
from fullrank.models.kinds.linear import People, pair_scores
from fullrank.ranks import About, Ranks


def offer_scores(model: Any, graded: Graded) -> NDArray[np.float64]:
    """A score for every offer of these cases, in the order of `graded.item`.

    A model whose values depend on what else is offered has `offer_scores(graded)` of its own; an array may
    give a score per offer; anything else that can be ranked gives the scores of its users for all items.

    >>> shop = Graded.of(session=[1, 1, 2, 2], item=["tea", "jam", "jam", "milk"], grade=[1, 0, 1, 0])
    >>> shop.items.names, shop.item
    (array(['jam', 'milk', 'tea'], dtype=StringDType()), array([0, 2, 0, 1], dtype=int32))
    >>> offer_scores(np.array([[0.3, 0.2, 0.1], [0.7, 0.8, 0.9]]), shop)
    array([0.3, 0.1, 0.7, 0.8])
    """
    if hasattr(model, "offer_scores"):
        scores = model.offer_scores(graded)
    elif isinstance(model, np.ndarray) and model.ndim == 1:
        scores = model
    else:
        given = scorer(model, len(graded.users), len(graded.items))
        scores = _multiply(given, graded) if isinstance(given, ByVectors) else _pick_rows(given, graded, name_of(model))
    return np.asarray(checked_scores(graded, scores), dtype=np.float64)


def _multiply(given: ByVectors, graded: Graded) -> NDArray[np.float64]:
    """The canonical scores of the offers alone, a block of cases at a time."""
    scores = np.empty(len(graded.item))
    for cases in row_blocks(len(graded), 1 << 14):
        rows = slice(graded.start[cases.start], graded.start[cases.stop])
        people: People = given.people(graded.user[cases])
        line = graded.case[rows] - cases.start
        pairs = pair_scores(given.items.beside(people), line, given.items.rows, graded.item[rows])
        scores[rows] = pairs + people.offset[line]
    return scores


def _pick_rows(given: ByRows, graded: Graded, name: str) -> NDArray[np.float64]:
    """Of whole rows of scores, a block of users at a time, those of the offers."""
    row_user = graded.user[graded.case]
    order = np.argsort(row_user, kind="stable")
    users, first = np.unique(row_user[order], return_index=True)
    first = np.append(first, len(order))
    offered = np.empty(len(order))

    def work(some: slice, held: Held) -> Take:
        rows = order[first[some.start] : first[some.stop]]
        offered[rows] = held(first[some.start : some.stop + 1] - first[some.start], graded.item[rows])
        line = np.searchsorted(users[some], row_user[rows])
        wrong = line[~np.isfinite(offered[rows])]
        return lambda begin, scores, near: int(wrong[0]) if len(wrong) else -1

    over_blocks(given, users.astype(np.int32), graded.users, len(graded.items), [work], name=name)
    return offered


def rank_offers(model: Any, graded: Graded, relevant: Threshold = None) -> Ranks:
    """Where relevant offers stand among those of their own case.

    Relevant are grades at or above a threshold (one, or one per user); without one, all above the lowest of
    their case. A case without any is left out and counted. With everything relevant, ranks hold the order of all
    offers, which is what measures of graded order read.
    """
    scores = offer_scores(model, graded)
    chosen = _relevant(graded, relevant)
    kept = np.bincount(graded.case[chosen], minlength=len(graded)) > 0
    if not kept.any():
        raise DataError(
            f"no offer of {len(graded):,} cases is relevant at {relevant}; lower the threshold, or give cases with "
            "different grades."
        )
    above, tied, relevant_above = _counts(graded, scores, chosen)
    sizes = np.bincount(graded.case[chosen], minlength=len(graded))[kept]
    pool = np.bincount(graded.case[~chosen], minlength=len(graded))[kept]
    reason = "all grades equal" if relevant is None else "nothing relevant offered"
    about = About(
        model=name_of(model),
        candidates="offered",
        excluded="nothing",
        relevant="above the lowest grade of the case" if relevant is None else f"grade >= {relevant}",
        skipped={reason: int((~kept).sum())} if not kept.all() else {},
    )
    return Ranks(
        start=np.append(0, np.cumsum(sizes)), above=above, tied=tied, relevant_above=relevant_above, pool=pool,
        item=graded.item[chosen], user=graded.user[kept], grade=graded.grade[chosen], about=about,
    )  # fmt: skip


def _relevant(graded: Graded, threshold: Threshold) -> NDArray[np.bool_]:
    if threshold is not None:
        return at_least(graded.grade, threshold, graded.user[graded.case], len(graded.users))
    lowest = np.full(len(graded), np.inf)
    np.minimum.at(lowest, graded.case, graded.grade)
    return np.asarray(graded.grade > lowest[graded.case])


def _counts(graded: Graded, scores: NDArray[Any], chosen: NDArray[np.bool_]) -> list[Any]:
    """For relevant offers: irrelevant ones that score higher, the same, and relevant ones that score higher."""
    order = levels(graded, scores)
    group = np.empty(len(chosen), dtype=np.int64)
    group[order.order] = np.repeat(np.arange(len(order.case)), order.sizes())
    others, relevant = (np.bincount(group[mask], minlength=len(order.case)) for mask in (~chosen, chosen))
    first = np.append(0, np.cumsum(order.groups))[order.case]  # of the group's case
    totals = [np.append(0, np.cumsum(count)) for count in (others, relevant)]
    higher = [total[:-1] - total[first] for total in totals]
    return [count[group[chosen]] for count in (higher[0], others, higher[1])]
