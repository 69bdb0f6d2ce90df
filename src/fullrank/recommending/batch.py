"""Lists for many people at once, each the same as for that person alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Array, Bools, Codes, Doubles, frozen, row_blocks
from fullrank.evaluation.blocks import block_size, over_blocks
from fullrank.evaluation.scoring import name_of, scorer
from fullrank.evaluation.top import lists_to_fill
from fullrank.models.kinds.linear import exact_scores_of
from fullrank.recommending.allowed import best_allowed
from fullrank.recommending.request import Request, Rows

GROWTH = 4  # of a pool in which quotas left too few
CELLS = 1 << 23  # candidates in the pools of those whose lists are made together


class Lists(NamedTuple):
    """Items (people, n) by codes, -1 where there are no more, their scores, and who got what is popular."""

    item: Codes
    score: Doubles
    popular: Bools

    @classmethod
    def empty(cls, people: int, n: int) -> Lists:
        """Nothing for anybody."""
        return cls(np.full((people, n), -1, dtype=np.int32), np.zeros((people, n)), np.zeros(people, dtype=bool))

    def put(self, rows: NDArray[Any], lists: Lists) -> None:
        """Take these lists for these rows."""
        self.item[rows], self.score[rows], self.popular[rows] = lists

    def cut(self, n: int) -> Lists:
        """The first n of each."""
        return Lists(self.item[:, :n], self.score[:, :n], self.popular)


def make_lists(request: Request, rows: NDArray[Any], n: int, pool: int | None = None) -> Lists:
    """The lists of these rows of a request; pools in which quotas leave too few grow until they are full or all is."""
    candidates, wide = request.candidates, pool or request.candidates.rules.pool_for(n)
    if len(rows) > max(CELLS // wide, 1):  # pools that grew: never people x items
        return _join([make_lists(request, some, n, wide) for some in _cut(rows, max(CELLS // wide, 1))])
    pools = _pools(request, rows, max(wide, 2))  # of one item alone nobody could tell whether all are equal
    if candidates.arranger is None:
        return pools.cut(n)
    places = candidates.arranger.pick(pools.item, pools.score, request.past(rows), n)
    lists = take_places(pools, places)
    short = np.flatnonzero((places[:, -1] < 0) & (pools.item[:, -1] >= 0))
    short = short[candidates.arranger.has_room(lists.item[short], candidates.left)]
    if len(short):
        lists.put(short, make_lists(request, rows[short], n, GROWTH * pools.item.shape[1]))
    return lists


def _cut(rows: NDArray[Any], size: int) -> list[NDArray[Any]]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def _join(parts: list[Lists]) -> Lists:
    return Lists(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def take_places(pools: Lists, places: Codes) -> Lists:
    """What stands at these places of pools."""
    at = np.maximum(places, 0)
    item, score = (np.take_along_axis(part, at, axis=1) for part in (pools.item, pools.score))
    return Lists(np.where(places >= 0, item, np.int32(-1)), np.where(places >= 0, score, 0.0), pools.popular)


def _pools(request: Request, rows: NDArray[Any], n: int) -> Lists:
    """The n best candidates of everybody, in the codes of the catalogue."""
    found, keep, flat = Lists.empty(len(rows), n), request.candidates.keep, np.zeros(len(rows), dtype=bool)
    known, listed = request.known[rows], request.listed[rows]
    found.popular[:] = ~known
    for some, scored in ((known & ~listed, request.scored), (~known & ~listed, request.instead)):
        at = np.flatnonzero(some)
        if len(at) and request.candidates.train.n_items:
            item, score = _fill(request, rows[at], scored, n)
            if keep is not None:
                item = np.where(item >= 0, keep[item], np.int32(-1))
            found.put(at, Lists(item, score, ~known[at]))
    at = np.flatnonzero(listed)
    if len(at):
        item, score, flat[at] = best_allowed(request, rows[at], n)
        found.put(at, Lists(item, score, ~known[at]))
    _serve_flat(request, rows, found, flat)
    return found


def _fill(request: Request, rows: NDArray[Any], scored: Any, n: int) -> tuple[Codes, Doubles]:
    """The n best of what is left for these people."""
    train, who = request.candidates.train, frozen(rows.astype(np.int32))
    hidden = (*request.seen, *request.denied)
    lists, work = lists_to_fill(scored, who, train.users, train.items, hidden, n)
    over_blocks(
        scorer(scored, train.n_users, train.n_items), frozen(request.code[rows]), train.users, train.n_items, [work],
        name=name_of(request.candidates.model),
    )  # fmt: skip
    return lists.item, lists.score


def _serve_flat(request: Request, rows: NDArray[Any], pools: Lists, flat: Bools) -> None:
    """Give those for whom all scores are equal what is popular: the same items, by how many have them.

    `flat` says it of people with items of their own; of others it is found here.
    """
    last = np.maximum((pools.item >= 0).sum(axis=1) - 1, 0)
    level = pools.score[:, 0] == np.take_along_axis(pools.score, last[:, None], axis=1)[:, 0]
    at = np.flatnonzero(level & (last > 0) & ~pools.popular & ~request.listed[rows])
    equal = pools.item[at, -1] < 0  # the pool is all there is
    equal[~equal] = _all_equal(request, rows[at[~equal]])
    flat = flat & ~pools.popular
    flat[at[equal]] = True
    pools.popular[flat] = True
    counts = request.candidates.model.train.popularity.astype(np.float64)
    pools.score[flat] = np.where(pools.item[flat] >= 0, counts[pools.item[flat]], 0.0)


def _all_equal(request: Request, rows: NDArray[Any]) -> Bools:
    """For whom of these all candidates have the same canonical score."""
    equal = np.empty(len(rows), dtype=bool)
    for some in row_blocks(len(rows), block_size(request.candidates.model.train.n_items)):
        scores = np.array(exact_scores_of(request.candidates.model, request.code[rows[some]]), dtype=np.float64)
        equal[some] = [
            _is_flat(score, request.candidates.left, row, (request.seen, request.denied), request.candidates.keep)
            for score, row in zip(scores, rows[some].tolist(), strict=True)
        ]
    return equal


def _is_flat(scores: Array, left: Bools, row: int, hidden: tuple[Rows, ...], keep: Codes | None) -> bool:
    some = left.copy()
    for start, item in hidden:
        codes = item[start[row] : start[row + 1]]
        some[codes if keep is None else keep[codes]] = False
    return bool(np.ptp(scores[some]) == 0)
