"""A list for one person: a known one, a new one with a history, or one of whom nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Codes, Floats, frozen, owned
from fullrank.data.ids import Ids, Name
from fullrank.errors import DataError
from fullrank.kernels.near import Near
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.models.kinds.linear import exact_scores_of, exact_scores_of_newcomer, exactly, held_scores, is_linear
from fullrank.models.kinds.model import Model, checked_history
from fullrank.recommending.batch import GROWTH, Lists, take_places
from fullrank.recommending.candidates import Candidates

if TYPE_CHECKING:
    import polars as pl

History: TypeAlias = Mapping[Name, float] | Iterable[Name]  # items with values, or just items


class Recommended(NamedTuple):
    """Items, best first, with their scores; `fallback` is "popular" where nothing is known of the person.

    `notes` say what became of rules: which ids are unknown, how many items are left.
    """

    items: list[Name]
    scores: list[float]
    fallback: str = ""
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """A row per item: rank (from 1), item, score.

        >>> Recommended(["tea", "jam"], [2.0, 1.5]).to_frame().rows()
        [(1, 'tea', 2.0), (2, 'jam', 1.5)]
        """
        import polars as pl

        name = pl.String if any(isinstance(item, str) for item in self.items) else pl.Int64
        ranks = pl.int_range(1, len(self.items) + 1, eager=True)
        return pl.DataFrame({
            "rank": ranks, "item": pl.Series(self.items, dtype=name), "score": pl.Series(self.scores, dtype=pl.Float64),
        })  # fmt: skip


def recommend_one(
    model: Model, candidates: Candidates | None, user: Name | None, history: History | None, n: int
) -> Recommended:
    """A list for one person: a product of one row."""
    (scores, near), seen, fallback = _scores(model, user, history)
    hidden = seen if candidates is None else _hidden(candidates, user, seen)

    def look(wide: int) -> Lists:
        """The best of all, as many as that; by popularity where all scores are equal."""
        there = min(wide, model.train.n_items - len(hidden))
        best, worth = _best(scores, near, hidden, there, model.train.popularity_order)
        flat = not fallback and there > 1 and worth[0] == worth[-1] and _all_equal(scores, near, hidden)
        if flat:
            worth = model.train.popularity[best].astype(np.float64)
        return Lists(best[None, :], worth[None, :], np.array([flat or bool(fallback)]))

    if candidates is None or candidates.arranger is None:
        lists = look(max(n, 2)).cut(n)
    else:
        lists = _arrange(candidates, look, _past(candidates, user, history), n)
    items = [model.train.items.name(int(code)) for code in lists.item[0] if code >= 0]
    told = "popular" if lists.popular[0] else ""
    return Recommended(
        items, lists.score[0, : len(items)].tolist(), told, () if candidates is None else candidates.notes
    )


def _arrange(candidates: Candidates, look: Callable[[int], Lists], past: Codes, n: int) -> Lists:
    """A list picked from a pool, which grows where quotas leave too few."""
    assert candidates.arranger is not None
    wide, had = max(candidates.rules.pool_for(n), 2), (np.array([0, len(past)]), past)
    while True:
        pool = look(wide)
        places = candidates.arranger.pick(pool.item, pool.score, had, n)
        if not pool.item.shape[1]:
            return pool
        lists = take_places(pool, places)
        full = places[0, -1] >= 0 or pool.item.shape[1] < wide
        if full or not candidates.arranger.has_room(lists.item, candidates.left)[0]:
            return lists
        wide *= GROWTH


def _past(candidates: Candidates, user: Name | None, history: History | None) -> Codes:
    """What counts of what somebody had, where lists are calibrated by it."""
    model, nothing = candidates.model, np.zeros(0, dtype=np.int32)
    if not candidates.calibrated:
        return nothing
    if history is not None:
        codes, values = history_of(history, model.train.items, lambda: model.liked)
        return checked_history(model, codes, values)[0]
    if user not in model.train.users:
        return nothing
    code = model.train.users.code(user)  # type: ignore[arg-type]
    return model.positives.item[model.positives.starts[code] : model.positives.starts[code + 1]]


def _scores(model: Model, user: Name | None, history: History | None) -> tuple[tuple[Any, Near], Codes, str]:
    """A row of scores of all items and how near they are to canonical ones, the items seen, what was fallen back on."""
    if history is not None:
        codes, values = history_of(history, model.train.items, lambda: model.liked)
        if len(codes):
            by_item = np.argsort(codes)
            order = slice(None) if getattr(model, "ordered", False) else by_item
            return _newcomer(model, codes[order], values[order]), codes[by_item], ""
    elif user in model.train.users:
        code = model.train.users.code(user)  # type: ignore[arg-type]
        first, end = model.train.starts[code], model.train.starts[code + 1]
        user_codes, seen = np.array([code], dtype=np.int32), model.train.item[first:end]
        if model.knows(user_codes)[0]:
            return _known(model, user_codes), seen, ""
        return _popular(model), seen, "popular"
    return _popular(model), np.zeros(0, dtype=np.int32), "popular"


def _popular(model: Model) -> tuple[Any, Near]:
    """Items by how many training rows they have; of a list that is the same for everybody that list."""
    nobody = np.zeros(0, dtype=np.int32)
    if isinstance(model, ItemScores):
        scores = model.history_scores(nobody, nobody.astype(np.float32))[None, :].copy()
    else:
        scores = model.train.popularity.astype(np.float32)[None, :]
    return scores, exactly(scores)


def _all_equal(scores: NDArray[Any], near: Near, hidden: Codes) -> bool:
    """Whether all items that are not hidden have the same canonical score."""
    row = held_scores(scores, near, np.array([0, scores.shape[1]]), np.arange(scores.shape[1], dtype=np.int32))
    row = row + near.offset[0]
    return float(np.ptp(np.delete(row, hidden))) == 0.0


def _known(model: Model, user: Codes) -> tuple[Any, Near]:
    if is_linear(model):
        return model.item_vectors.block(model.people(user), _room(model))
    scores = np.array(exact_scores_of(model, user))
    return scores, exactly(scores)


def _newcomer(model: Model, items: Codes, values: Floats) -> tuple[Any, Near]:
    if is_linear(model):
        return model.item_vectors.block(model.newcomer(items, values), _room(model))
    scores = exact_scores_of_newcomer(model, items, values)
    return scores, exactly(scores)


def _room(model: Model) -> Any:
    return lambda kind: np.empty((1, model.train.n_items), dtype=kind)


def _hidden(candidates: Candidates, user: Name | None, seen: Codes) -> Codes:
    """The codes of the items that are not recommended, each once."""
    out = ~candidates.left
    if not candidates.rules.repeat:
        out[seen] = True
    if user is not None:
        who = Ids([user])
        if candidates.listed(who)[0]:
            others = np.ones(len(out), dtype=bool)
            others[candidates.pairs("allow", who)[1]] = False
            out |= others
        out[candidates.pairs("deny", who)[1]] = True
    return np.flatnonzero(out).astype(np.int32)


def history_of(history: History, items: Ids, value: Callable[[], float] = lambda: 1.0) -> tuple[Codes, Floats]:
    """The codes and values of a history, in its order; an unknown or repeated item is an error that names it.

    Items that come without values have what `value` gives.
    """
    named = history if isinstance(history, Mapping) else dict.fromkeys(taken := list(history), value())
    if not isinstance(history, Mapping) and len(named) != len(taken):
        repeated = next(name for name in taken if taken.count(name) > 1)
        raise DataError(f"item {repeated!r} is in the history twice; give every item once.")
    codes = items.codes(list(named))
    values = np.array(list(named.values()), dtype=np.float32)
    if not np.isfinite(values).all():
        raise DataError("a value of the history is NaN or infinite; give finite numbers.")
    return codes, values


def _best(scores: NDArray[Any], near: Near, hidden: Codes, n: int, order: Codes) -> tuple[Codes, NDArray[np.float64]]:
    """The n items of the highest canonical scores in a row, best first, of equal ones the first by `order`."""
    from fullrank.kernels.topn import top_tile

    best, worth = np.empty((1, n), dtype=np.int32), np.empty((1, n))
    lists = owned(np.array([0, len(hidden)]), np.int64), owned(hidden, np.int32)
    none = frozen(np.zeros(2, dtype=np.int64)), frozen(np.zeros(0, dtype=np.int32))
    if n and top_tile(0, scores, near, frozen(np.zeros(1, dtype=np.int32)), *lists, *none, order, best, worth) >= 0:
        raise DataError(
            "a score for this person is NaN or infinite; fit with a smaller rate or more regularisation, or look for "
            "such values in the model's input."
        )
    return best[0], worth[0]
