"""From a checked body to what is answered: lists, offer sets, neighbours. Plain functions, safe in any thread."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fullrank.data.ids import Name
from fullrank.errors import shown
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.recommending.explain import Explained, explain
from fullrank.recommending.one import History, Recommended, recommend_one
from fullrank.recommending.similar import similar
from fullrank.serving.bodies import RankBody, RecommendBody, SimilarBody, Valued
from fullrank.serving.problems import Problem
from fullrank.serving.served import Served, as_known

Item = dict[str, Any]
REASONS = 5  # items of a history that have a part of their own


def make_list(served: Served, body: RecommendBody) -> tuple[Recommended, list[Item]]:
    """The list of somebody, and its items as they are answered."""
    ids = served.model.train.items
    user, history = _person(served, body)
    candidates = served.candidates(
        [as_known(item, ids) for item in body.exclude],
        None if body.only is None else [as_known(item, ids) for item in body.only],
        where=body.where, repeat=body.repeat,
    )  # fmt: skip
    found = recommend_one(served.model, candidates, user, history, body.n)
    items = [_entry(served, item, score) for item, score in zip(found.items, found.scores, strict=True)]
    if body.explain:
        for entry in items:
            told = explain(served.model, user, item=entry["item"], history=history, n=REASONS)
            entry["why"] = _why(served, told)
    return found, items


def rank_offer(served: Served, body: RankBody) -> tuple[str, list[Item]]:
    """What was fallen back on, and an offer set, best first: with benefit and cost where the model has them."""
    model, users = served.model, served.model.train.users
    user, items = as_known(body.user, users), [known_item(served, item) for item in body.items]
    twice = [item for item, many in Counter(items).items() if many > 1]
    if twice:
        raise Problem(422, f"/items: {shown(twice[0])} is offered twice; give every item once.")
    if isinstance(model, CostFactors) and user in users and model.knows(_code(served, user))[0]:
        valued = model.rank_offers(user, items)
        rows = zip(valued.items, valued.value, valued.benefit, valued.cost, strict=True)
        return "", [_entry(served, item, score) | {"benefit": gain, "cost": cost} for item, score, gain, cost in rows]
    candidates = served.candidates((), items, where=None, repeat=True)
    found = recommend_one(model, candidates, user, None, len(items))
    return found.fallback, [_entry(served, *pair) for pair in zip(found.items, found.scores, strict=True)]


def find_similar(served: Served, body: SimilarBody) -> list[Item]:
    """The items that are most like an item."""
    found = similar(served.model, known_item(served, body.item), n=body.n)
    return [_entry(served, *pair) for pair in zip(found.items, found.scores, strict=True)]


def known_item(served: Served, item: Name) -> Name:
    """An item of the model; any other is a 404."""
    name = as_known(item, served.model.train.items)
    if name not in served.model.train.items:
        raise Problem(404, f"item {shown(item)} is unknown to the model '{served.name}'.")
    return name


def _code(served: Served, user: Name) -> Any:
    return served.model.train.users.codes([user])


def _person(served: Served, body: RecommendBody) -> tuple[Name | None, History | None]:
    """Somebody known by name, or somebody new by what they did."""
    if body.history is None:
        assert body.user is not None
        return as_known(body.user, served.model.train.users), None
    rows = [one if isinstance(one, Valued) else Valued.model_construct(item=one, value=0.0) for one in body.history]
    names = [known_item(served, row.item) for row in rows]
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise Problem(422, f"/history: {shown(repeated)} is there twice; give every item once.")
    if body.history and isinstance(body.history[0], Valued):
        return None, {name: row.value for name, row in zip(names, rows, strict=True)}
    return None, names


def _entry(served: Served, item: Name, score: float) -> Item:
    title = served.titles.get(item)
    return {"item": item, "score": score} if title is None else {"item": item, "score": score, "title": title}


def _why(served: Served, told: Explained) -> Item:
    parts: list[Item] = []
    for one in told.parts:
        title = None if one.item is None else served.titles.get(one.item)
        parts.append(one._asdict() | ({} if title is None else {"title": title}))
    return {"sentence": told.sentence, "parts": parts}
