"""Lists for people: known ones, new ones with a history, and those of whom nothing is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.data.ids import Codes, Ids, Name
from fullrank.errors import DataError, ParameterError, check_integer
from fullrank.models.model import Floats, Model

History: TypeAlias = Mapping[Name, float] | Iterable[Name]  # items with values, or just items


class Recommended(NamedTuple):
    """Items, best first, with their scores; `fallback` is "popular" where nothing is known of the person."""

    items: list[Name]
    scores: list[float]
    fallback: str = ""


def recommend(
    model: Model,
    user: Name | None = None,
    *,
    history: History | None = None,
    n: int = 10,
    exclude: Literal["seen"] | Iterable[Name] | None = "seen",
    only: Iterable[Name] | None = None,
) -> Recommended:
    """The n best items for a user of the training data, or for somebody with this history.

    Without the items they have seen (`exclude="seen"`), without those named, or with everything (None); `only`
    chooses among these items. Somebody unknown gets what is popular, and the result says so. Of equal scores
    the item that comes first in the catalogue is first.
    """
    check_integer("n", n, 1)
    if (user is None) == (history is None):
        raise ParameterError("recommend needs either a user or a history.")
    scores, seen, fallback = _scores(model, user, history)
    ids = model.train.items
    allowed = np.ones(len(ids), dtype=bool) if only is None else np.zeros(len(ids), dtype=bool)
    if only is not None:
        allowed[ids.codes(list(only))] = True
    if exclude is not None:
        allowed[seen if isinstance(exclude, str) else ids.codes(list(exclude))] = False
    best = _best(np.where(allowed, scores, -np.inf), min(n, int(allowed.sum())))
    return Recommended([ids.name(int(code)) for code in best], scores[best].tolist(), fallback)


def _scores(model: Model, user: Name | None, history: History | None) -> tuple[Floats, Codes, str]:
    """Scores of all items, the items seen, and what was fallen back on."""
    nothing = np.zeros(0, dtype=np.int32)
    if history is not None:
        codes, values = history_of(history, model.train.items)
        if len(codes):
            return model.history_scores(codes, values), codes, ""
    elif user in model.train.users:
        code = model.train.users.code(user)  # type: ignore[arg-type]
        first, end = model.train.starts[code], model.train.starts[code + 1]
        if end > first:
            return model.scores(np.array([code], dtype=np.int32))[0], model.train.item[first:end], ""
    popular = np.bincount(model.train.item, minlength=model.train.n_items).astype(np.float32)
    return popular, nothing, "popular"


def history_of(history: History, items: Ids) -> tuple[Codes, Floats]:
    """The codes and values of a history, sorted by item; an unknown or repeated item is an error that names it."""
    named = history if isinstance(history, Mapping) else dict.fromkeys(taken := list(history), 1.0)
    if not isinstance(history, Mapping) and len(named) != len(taken):
        repeated = next(name for name in taken if taken.count(name) > 1)
        raise DataError(f"item {repeated!r} is in the history twice; give every item once.")
    codes = items.codes(list(named))
    values = np.array(list(named.values()), dtype=np.float32)
    if not np.isfinite(values).all():
        raise DataError("a value of the history is NaN or infinite; give finite numbers.")
    order = np.argsort(codes)
    return codes[order], values[order]


def _best(scores: NDArray[Any], n: int) -> NDArray[np.intp]:
    """Positions of the n highest scores, best first, of equal ones the first."""
    if n == 0:
        return np.zeros(0, dtype=np.intp)
    cut = np.partition(scores, len(scores) - n)[len(scores) - n]
    above, level = np.flatnonzero(scores > cut), np.flatnonzero(scores == cut)
    found = np.concatenate([above, level[: n - len(above)]])
    return found[np.lexsort((found, -scores[found]))]
