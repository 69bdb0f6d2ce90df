"""Ranking inside offer sets: each case's own items, nothing else (S2's sessions)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.canonical import at_least, row_blocks
from fullrank.data.graded import Graded
from fullrank.errors import DataError
from fullrank.evaluation.blocks import over_blocks
from fullrank.evaluation.cases import Threshold
from fullrank.evaluation.scoring import filler, name_of
from fullrank.metrics.partial_order import checked_scores, levels
from fullrank.ranks import About, Ranks


def offer_scores(model: Any, graded: Graded) -> NDArray[np.float32]:
    """A score for every offer of these cases, in the order of `graded.item`.

    A model whose values depend on what else is offered has `offer_scores(graded)` of its own; an array may
    give a score per offer; anything else that can be ranked gives the scores of its users for all items.

    >>> shop = Graded.of(session=[1, 1, 2, 2], item=["tea", "jam", "jam", "milk"], grade=[1, 0, 1, 0])
    >>> shop.items.names, shop.item
    (array(['jam', 'milk', 'tea'], dtype=StringDType()), array([0, 2, 0, 1], dtype=int32))
    >>> offer_scores(np.array([[0.3, 0.2, 0.1], [0.7, 0.8, 0.9]]), shop)
    array([0.3, 0.1, 0.7, 0.8], dtype=float32)
    """
    if hasattr(model, "offer_scores"):
        found = model.offer_scores(graded)
    elif isinstance(model, np.ndarray) and model.ndim == 1:
        found = model
    elif isinstance(model, tuple) and len(model) == 2:
        found = _products(*model, graded)
    else:
        found = _picked(model, graded)
    return np.asarray(checked_scores(graded, found), dtype=np.float32)


def _products(left: Any, right: Any, graded: Graded) -> NDArray[np.float32]:
    found = np.empty(len(graded.item), dtype=np.float32)
    user = graded.user[graded.case]
    for part in row_blocks(len(found), 1 << 16):
        found[part] = np.einsum("ij,ij->i", left[user[part]], right[graded.item[part]])
    return found


def _picked(model: Any, graded: Graded) -> NDArray[np.float32]:
    """Of whole rows of scores, a block of users at a time, those of the offers."""
    row_user = graded.user[graded.case]
    order = np.argsort(row_user, kind="stable")
    users, first = np.unique(row_user[order], return_index=True)
    first = np.append(first, len(order))
    found = np.empty(len(order), dtype=np.float32)

    def work(some: slice, scores: NDArray[Any]) -> int:
        rows = order[first[some.start] : first[some.stop]]
        line = np.searchsorted(users[some], row_user[rows])
        found[rows] = scores[line, graded.item[rows]]
        wrong = ~np.isfinite(found[rows])
        return int(line[wrong.argmax()]) if wrong.any() else -1

    fill = filler(model, len(graded.users), len(graded.items))
    over_blocks(fill, users.astype(np.int32), graded.users, len(graded.items), work, name=name_of(model))
    return found


def rank_offers(model: Any, graded: Graded, relevant: Threshold = None) -> Ranks:
    """Where relevant offers stand among those of their own case.

    Relevant are grades at or above a threshold (one, or one per user); without one, all above the lowest of
    their case. A case without any is left out and counted. With everything relevant, ranks hold the order of all
    offers, which is what measures of graded order read.
    """
    scores = offer_scores(model, graded)
    wanted = _relevant(graded, relevant)
    kept = np.bincount(graded.case[wanted], minlength=len(graded)) > 0
    if not kept.any():
        raise DataError(
            f"no offer of {len(graded):,} cases is relevant at {relevant}; lower the threshold, or give cases with "
            "different grades."
        )
    above, tied, before = _counts(graded, scores, wanted)
    sizes = np.bincount(graded.case[wanted], minlength=len(graded))[kept]
    pool = np.bincount(graded.case[~wanted], minlength=len(graded))[kept]
    reason = "all grades equal" if relevant is None else "nothing relevant offered"
    about = About(
        model=name_of(model),
        candidates="offered",
        excluded="nothing",
        relevant="above the lowest grade of the case" if relevant is None else f"grade >= {relevant}",
        skipped={reason: int((~kept).sum())} if not kept.all() else {},
    )
    return Ranks(
        start=np.append(0, np.cumsum(sizes)), above=above, tied=tied, before=before, pool=pool,
        item=graded.item[wanted], user=graded.user[kept], grade=graded.grade[wanted], about=about,
    )  # fmt: skip


def _relevant(graded: Graded, threshold: Threshold) -> NDArray[np.bool_]:
    if threshold is not None:
        return at_least(graded.grade, threshold, graded.user[graded.case], len(graded.users))
    lowest = np.full(len(graded), np.inf)
    np.minimum.at(lowest, graded.case, graded.grade)
    return np.asarray(graded.grade > lowest[graded.case])


def _counts(graded: Graded, scores: NDArray[Any], wanted: NDArray[np.bool_]) -> list[Any]:
    """For relevant offers: irrelevant ones that score higher, the same, and relevant ones that score higher."""
    order = levels(graded, scores)
    group = np.empty(len(wanted), dtype=np.int64)
    group[order.order] = np.repeat(np.arange(len(order.case)), order.sizes())
    others, relevant = (np.bincount(group[mask], minlength=len(order.case)) for mask in (~wanted, wanted))
    first = np.append(0, np.cumsum(order.groups))[order.case]  # of the group's case
    ahead = [np.append(0, np.cumsum(count)) for count in (others, relevant)]
    higher = [total[:-1] - total[first] for total in ahead]
    return [count[group[wanted]] for count in (higher[0], others, higher[1])]
