"""Whom a model knows nothing of is served what is popular: in evaluation as in `recommend`.

Nothing is known of people without training rows that count, and a model has nothing to say where all its scores for
somebody are equal, as those of item-item models where no item is similar to theirs. To rank the bare scores of a model
instead, rank the function `model.scores`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fullrank.arrays import Bools, Codes, row_blocks
from fullrank.data.interactions import Interactions
from fullrank.evaluation.cases import Cases
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.linear import exact_scores_of
from fullrank.ranks import Ranks

RankCases: TypeAlias = Callable[[Any, Cases], list[Ranks]]

BLOCK = 1 << 20  # scores that are looked at together
NEW = "nothing is known of them"
SILENT = "all scores are equal"


def popular(train: Interactions) -> ItemScores:
    """Items by how many training rows they have."""
    return ItemScores(train.popularity.astype(np.float32), train, None)  # type: ignore[arg-type]


def unknown(model: Any, users: Codes) -> Bools:
    """Of whom the model knows nothing; of nobody, where it does not say whom it knows."""
    return np.zeros(len(users), dtype=bool) if not hasattr(model, "knows") else ~model.knows(users)


def all_equal(ranks: Ranks) -> Bools:
    """The cases in which all candidates tie."""
    pool = ranks.pool[ranks.case]
    apart = (ranks.above > 0) | (ranks.tied < pool) | (ranks.relevant_above > 0)
    return np.asarray((ranks.per_case(apart) == 0) & (ranks.candidates > 1))


def serve(model: Any, cases: Cases, rank: RankCases) -> list[Ranks]:
    """The ranks of everybody by what they would be served; `about` tells how many got what is popular, and why."""
    each = rank(model, cases)
    reasons = {NEW: unknown(model, cases.user)}
    if hasattr(model, "train") and not isinstance(model, ItemScores):
        reasons[SILENT] = _silent(model, cases, each[0]) & ~reasons[NEW]
    other = np.logical_or.reduce(list(reasons.values()))
    if not other.any():
        return each
    counts = {reason: int(some.sum()) for reason, some in reasons.items() if some.any()}
    served = rank(popular(model.train), cases.at(np.flatnonzero(other)))
    return [_together(mine, theirs, other, cases, counts) for mine, theirs in zip(each, served, strict=True)]


def _together(mine: Ranks, theirs: Ranks, other: Bools, cases: Cases, counts: dict[str, int]) -> Ranks:
    """The model's own ranks, but in the `other` cases those of what is popular."""
    if mine.about.pairs:  # every relevant item is a case of its own
        other = np.repeat(other, np.diff(cases.start))
    kept, place = np.flatnonzero(~other), np.flatnonzero(other)
    whole = theirs
    if len(kept):
        whole = Ranks.concat([mine.at(kept), theirs]).at(np.argsort(np.concatenate([kept, place])))
    return replace(whole, about=replace(mine.about, fallback=counts))


def _silent(model: Any, cases: Cases, ranks: Ranks) -> Bools:
    """The cases in which all candidates have the same score, not only those that were drawn."""
    tied = all_equal(ranks)
    if ranks.about.pairs:
        tied = np.logical_and.reduceat(tied, cases.start[:-1])
    if ranks.about.sampled:
        some = np.flatnonzero(tied)
        tied[some] = equal_scores(model, cases.user[some], (cases.seen, cases.more))
    return tied


def equal_scores(model: Any, users: Codes, hidden: Iterable[Any]) -> Bools:
    """Of which users (codes) all items have the same score, those in the `hidden` lists aside."""
    equal = np.empty(len(users), dtype=bool)
    for some in row_blocks(len(users), max(1, BLOCK // len(model.train.items))):
        scores = np.array(exact_scores_of(model, users[some]), dtype=np.float64)
        for start, item in hidden:
            for row, user in zip(scores, users[some].tolist(), strict=True):
                row[item[start[user] : start[user + 1]]] = np.nan
        with np.errstate(invalid="ignore"):
            equal[some] = np.fmax.reduce(scores, axis=1) == np.fmin.reduce(scores, axis=1)
    return equal
