"""The service as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NoReturn

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from fullrank.serving import routes_feedback, routes_health, routes_lists, routes_models
from fullrank.serving.access import Hosts, Keys
from fullrank.serving.answers import ProblemAnswer
from fullrank.serving.bodies import ActivateBody, EventsBody, RankBody, RecommendBody, SimilarBody
from fullrank.serving.context import Context, Feedback, Intake
from fullrank.serving.gate import Gate
from fullrank.serving.limits import Limits
from fullrank.serving.logs import RequestLog
from fullrank.serving.problems import Problem
from fullrank.serving.registry import Registry

__all__ = ["Feedback", "Intake", "create_app"]

ROUTES = (*routes_lists.ROUTES, *routes_feedback.ROUTES, *routes_models.ROUTES, *routes_health.ROUTES)
BODIES = (RecommendBody, RankBody, SimilarBody, ActivateBody, EventsBody)
SAID = {404: "there is no such address.", 405: "that is no method of this address."}


def create_app(
    registry: Registry,
    feedback: Feedback | Intake | None = None,
    *,
    keys: Keys | None = None,
    hosts: Hosts | None = None,
    log: RequestLog | None = None,
    wait: float = 0.25,
    deadline: float = 10.0,
    docs: bool = False,
) -> FastAPI:
    """The application that serves these models.

    Parameters
    ----------
    registry
        The models, by name.
    feedback
        Where feedback goes, or an `Intake` that also says how events are read; without it the service is read-only.
    keys
        Who may ask; without keys everybody who gets there.
    hosts
        The names the service goes by.
    log
        Where the line of every request goes.
    wait
        Seconds a request may wait for others before it; beyond that requests are put off and refused.
    deadline
        Seconds to receive a request, and to answer it.
    docs
        Whether there is a page of the interface at /docs, which loads scripts from elsewhere.
    """
    intake = feedback if isinstance(feedback, Intake) else Intake(feedback)
    context = Context(
        registry, intake, keys or Keys(), hosts or Hosts(), Gate(wait), log or RequestLog(), deadline=deadline
    )
    app = FastAPI(
        title="fullrank", version="1", docs_url="/docs" if docs else None, redoc_url=None, redirect_slashes=False,
        lifespan=_life(context), description="Lists from fitted models, and the feedback on them.",
    )  # fmt: skip
    app.state.context = context
    app.router.routes[:0] = [address.route() for address in ROUTES]
    app.add_exception_handler(HTTPException, _to_problem)
    app.add_middleware(Limits, context=context)
    setattr(app, "openapi", _describer(app))  # noqa: B010 (as FastAPI's manual has it)
    return app


def _life(context: Context) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def live(_app: FastAPI) -> AsyncIterator[None]:
        context.log.start()
        yield
        context.pool.shutdown(wait=False, cancel_futures=True)
        context.log.close()

    return live


async def _to_problem(_request: Request, error: Exception) -> NoReturn:
    """What the framework refuses, as a problem."""
    assert isinstance(error, HTTPException)
    raise Problem(error.status_code, SAID.get(error.status_code, "it cannot be done."), error.headers)


def _describer(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """What makes the OpenAPI document, once: of the routes, and of the bodies, which they check themselves."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            routes = [address.documented() for address in ROUTES if address.told is not None]
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=routes)
            modes: Any = [(ProblemAnswer, "serialization"), *((body, "validation") for body in BODIES)]
            _, schemas = models_json_schema(modes, ref_template="#/components/schemas/{model}")
            document["components"]["schemas"] |= schemas["$defs"]
            app.openapi_schema = document
        return app.openapi_schema

    return describe
