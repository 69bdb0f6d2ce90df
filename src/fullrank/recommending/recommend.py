"""Lists for people: one, many, or somebody new."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, overload

from fullrank.data.ids import Name
from fullrank.errors import ParameterError, check_integer
from fullrank.models.kinds.model import Model
from fullrank.recommending.candidates import find_candidates
from fullrank.recommending.one import History, Recommended, recommend_one
from fullrank.recommending.recommendations import Recommendations, recommend_many
from fullrank.recommending.rules import Rules


@overload
def recommend(
    model: Model, user: Name | None = ..., *, users: None = ..., history: History | None = ..., n: int = ...,
    exclude: Iterable[Name] = ..., only: Iterable[Name] | None = ..., repeat: bool = ..., rules: Rules | None = ...,
) -> Recommended: ...  # fmt: skip
@overload
def recommend(
    model: Model, user: None = ..., *, users: Iterable[Name] | Literal["all"], history: None = ..., n: int = ...,
    exclude: Iterable[Name] = ..., only: Iterable[Name] | None = ..., repeat: bool = ..., rules: Rules | None = ...,
) -> Recommendations: ...  # fmt: skip
def recommend(
    model: Model,
    user: Name | None = None,
    *,
    users: Iterable[Name] | Literal["all"] | None = None,
    history: History | None = None,
    n: int = 10,
    exclude: Iterable[Name] = (),
    only: Iterable[Name] | None = None,
    repeat: bool = False,
    rules: Rules | None = None,
) -> Recommended | Recommendations:
    """The n best items for a user of the training data, for many of them, or for somebody with this history.

    Without the items they have seen. Somebody unknown gets what is popular, and so does somebody for whom all scores
    are equal; the result says so. Of equal scores the more popular item is first. In a history of items without values
    each is taken as liked; to models for which order counts (RecentItemCF) the last given is the latest.

    Parameters
    ----------
    model
        A fitted model.
    user
        One person, by name.
    users
        Many people, by their names, or "all" of the training data: the result is `Recommendations`, with `to_frame()`.
    history
        Somebody new: items they had, or a dict from items to values.
    n
        How many items a list has; fewer where there are no more.
    exclude
        Items that are left out as well.
    only
        Choose among these items.
    repeat
        Whether people may get what they have seen.
    rules
        All rules there are, `exclude`, `only` and `repeat` among them, as one value.
    """
    check_integer("n", n, 1)
    if sum(one is not None for one in (user, users, history)) != 1:
        raise ParameterError("recommend needs either a user or a history, or several users.")
    left_out = exclude if exclude is None or isinstance(exclude, str) else tuple(exclude)
    short = left_out != () or only is not None or repeat
    if rules is not None and short:
        raise ParameterError("give exclude, only and repeat inside of rules: recommend(..., rules=Rules(exclude=...)).")
    plain = rules is None and not short
    candidates = None if plain else find_candidates(model, rules or Rules(left_out, only, repeat))
    if users is not None:
        return recommend_many(candidates or find_candidates(model, Rules()), users, n)
    return recommend_one(model, candidates, user, history, n)
