"""How the service is: for who starts and watches it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from fastapi import Request, Response

from fullrank.serving.access import is_loopback
from fullrank.serving.answers import HealthAnswer
from fullrank.serving.problems import Problem, busy
from fullrank.serving.routes_common import Address, answer, context_of, told


class State(Protocol):
    """How a store is."""

    @property
    def ready(self) -> bool:
        """Whether it takes events."""


@runtime_checkable
class Watched(Protocol):
    """A store that says how it is."""

    def status(self) -> State:
        """Whether it takes events."""


async def live(_request: Request) -> Response:
    """Whether it runs."""
    return answer({"status": "live"})


async def ready(request: Request) -> Response:
    """Whether it should get requests: not before its models are loaded, when its store fails, or when it ends."""
    context = context_of(request)
    if context.draining:
        raise busy("the service is about to end; ask another one.", 5)
    store = context.intake.feedback
    if isinstance(store, Watched) and not store.status().ready:
        raise busy("the store of feedback takes no events; lists are served.", 5)
    return answer({"status": "ready"})


async def metrics(request: Request) -> Response:
    """Counters in Prometheus' text form; without keys for this machine only."""
    context = context_of(request)
    if not context.keys.hashes and not (request.client and is_loopback(request.client.host)):
        raise Problem(404, "there is no such address.")
    return Response(context.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


ROUTES = (
    Address("GET", "/v2/health/live", live, told(HealthAnswer)),
    Address("GET", "/v2/health/ready", ready, told(HealthAnswer)),
    Address("GET", "/metrics", metrics, None),
)
