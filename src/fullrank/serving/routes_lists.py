"""Lists, offer sets, neighbours."""

from __future__ import annotations

import secrets
from concurrent.futures import Future
from functools import partial
from typing import Any

from fastapi import Request, Response

from fullrank.data.ids import Name
from fullrank.serving.answers import RankAnswer, RecommendAnswer, SimilarAnswer
from fullrank.serving.bodies import RankBody, RecommendBody, SimilarBody
from fullrank.serving.context import Context
from fullrank.serving.lists import find_similar, make_list, rank_offer
from fullrank.serving.routes_common import Address, answer, context_of, note_of, read_body, served_of, told
from fullrank.serving.served import Served


async def recommend(request: Request) -> Response:
    """The best items for somebody, by rules, with reasons where they are asked for."""
    context, served = context_of(request), served_of(request)
    body = read_body(request, RecommendBody)
    note = note_of(request)
    if body.user is not None:
        note.user = context.log.name(body.user)
    quick = served.quick and not body.explain and body.history is None and body.n <= 100 and served.has(body.where)
    found, items = await context.work(quick, make_list, served, body)
    name = secrets.token_hex(16)
    note.more["list"] = name
    if found.fallback:
        context.metrics.fallbacks.labels(served.name).inc()
    keep_offer(context, served, name, body.user, found.items)
    said: dict[str, Any] = {
        "recommendation_id": name, "model": served.name, "version": served.version, "fallback": found.fallback,
        "items": items,
    }  # fmt: skip
    return answer(said | ({"notes": list(found.notes)} if found.notes else {}))


async def rank(request: Request) -> Response:
    """An offer set, best first: what each item is worth beside the others, with benefit and cost."""
    context, served = context_of(request), served_of(request)
    body = read_body(request, RankBody)
    note_of(request).user = context.log.name(body.user)
    fallback, items = await context.work(served.quick, rank_offer, served, body)
    return answer({"model": served.name, "version": served.version, "fallback": fallback, "items": items})


async def similar(request: Request) -> Response:
    """The items that are most like an item."""
    served = served_of(request)
    body = read_body(request, SimilarBody)
    items = await context_of(request).work(False, find_similar, served, body)
    return answer({"model": served.name, "version": served.version, "items": items})


def keep_offer(context: Context, served: Served, name: str, user: Name | None, items: list[Name]) -> None:
    """Let the store keep what was shown, without waiting for it: a list is served also when the store is not there."""
    store = context.intake.feedback
    if store is None:
        return
    lost = partial(_count_lost, context)
    try:
        store.offer(name, user, items, served.name, served.version).add_done_callback(lost)
    except tuple(context.intake.faults):
        context.metrics.offers_lost.inc()


def _count_lost(context: Context, done: Future[Any]) -> None:
    if done.cancelled() or done.exception() is not None:
        context.metrics.offers_lost.inc()


ROUTES = (
    Address("POST", "/v1/models/{name}/recommend", recommend, told(RecommendAnswer, body=RecommendBody, named=True)),
    Address("POST", "/v1/models/{name}/rank", rank, told(RankAnswer, body=RankBody, named=True)),
    Address("POST", "/v1/models/{name}/similar", similar, told(SimilarAnswer, body=SimilarBody, named=True)),
)
