"""Events in, people out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, is_dataclass
from typing import Any

from fastapi import Request, Response

from fullrank.data.ids import name_fault
from fullrank.errors import FullrankError
from fullrank.serving.answers import ReceiptsAnswer
from fullrank.serving.bodies import EventsBody
from fullrank.serving.context import Context
from fullrank.serving.problems import Problem
from fullrank.serving.routes_common import Address, answer, context_of, note_of, read_body, text_of, told

USERS = "/v1/users/"


async def events(request: Request) -> Response:
    """Keep events, all or none; answered when they are durable, and the same again for the same ids."""
    context = context_of(request)
    body = read_body(request, EventsBody)
    store = context.intake.store()
    parsed = [_parse(context, place, event) for place, event in enumerate(body.events)]
    receipts = await _wait(context, lambda: store.submit(parsed))
    context.metrics.events.inc(len(parsed))
    note_of(request).more["events"] = len(parsed)
    return answer({"receipts": [_plain(receipt) for receipt in receipts]})


async def forget(request: Request) -> Response:
    """Forget somebody: nothing of them remains in the store, nor in what is exported from it."""
    context, user = context_of(request), text_of(request, USERS)
    fault = name_fault(user)
    if fault:
        raise Problem(400, f"the id of the user {fault}.")
    note_of(request).user = context.log.name(user)
    store = context.intake.store()
    await _wait(context, lambda: store.forget(user))
    return Response(status_code=204)


def _parse(context: Context, place: int, event: Mapping[str, Any]) -> Any:
    try:
        return context.intake.parse(event)
    except FullrankError as error:
        raise Problem(422, f"/events/{place}: {error}") from None


async def _wait(context: Context, ask: Any) -> Any:
    """What the store answers, in its own time; its faults are problems, and nothing is acknowledged."""
    try:
        outcome = ask()
        return await asyncio.wrap_future(outcome) if isinstance(outcome, Future) else outcome
    except Exception as error:
        problem = context.intake.problem(error)
        if problem is not None:
            raise problem from None
        if isinstance(error, FullrankError):
            raise Problem(422, str(error)) from None
        raise


def _plain(receipt: Any) -> Any:
    """A receipt as JSON has it, whatever kind of record it is."""
    if is_dataclass(receipt) and not isinstance(receipt, type):
        return asdict(receipt)
    return receipt._asdict() if hasattr(receipt, "_asdict") else receipt


ROUTES = (
    Address("POST", "/v1/events", events, told(ReceiptsAnswer, 409, body=EventsBody)),
    Address("DELETE", USERS + "{user:path}", forget, told(None, path="user")),
)
