"""What routes have in common: the model of a path, checked bodies, answers, and what the OpenAPI document says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast
from urllib.parse import unquote_to_bytes

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.routing import Route

from fullrank.serving.bodies import Body, Strict, check_body
from fullrank.serving.context import Context
from fullrank.serving.limits import Note
from fullrank.serving.problems import Problem, title_of
from fullrank.serving.served import Served
from fullrank.serving.strict_json import parse_json

JSON = b"application/json"
COMMON = (400, 401, 408, 413, 414, 415, 421, 422, 431, 503)


Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Address:
    """What can be asked for: how it is answered, and what the OpenAPI document says of it (None: nothing)."""

    method: str
    path: str
    handler: Handler
    told: Mapping[str, Any] | None = None

    def route(self) -> Route:
        """For the router: the framework's own routes would solve dependencies, which there are none of."""

        async def answer(request: Request) -> Response:
            note_of(request).route = self.path
            return await self.handler(request)

        return Route(self.path, answer, methods=[self.method])

    def documented(self) -> APIRoute:
        """For the OpenAPI document."""
        return APIRoute(self.path, self.handler, methods=[self.method], **(self.told or {}))


def context_of(request: Request) -> Context:
    """What the routes share."""
    return cast(Context, request.scope["app"].state.context)


def note_of(request: Request) -> Note:
    """What this request leaves in the log."""
    return cast(Note, request.scope["fullrank.note"])


def served_of(request: Request) -> Served:
    """The model that the path names."""
    name = request.path_params["name"]
    served = context_of(request).registry.get(name)
    if served is None:
        raise Problem(404, f"there is no model {name[:64]!a}; see /v1/models.")
    return served


def read_body(request: Request, kind: type[Body]) -> Body:
    """The body of a request, which has been received, as one of this kind."""
    note = note_of(request)
    if note.media != JSON:
        media, _, more = note.media.lower().partition(b";")
        if media.strip() != JSON or more.strip().removeprefix(b"charset=").strip(b'"') not in (b"", b"utf-8"):
            raise Problem(415, "a body is JSON in UTF-8; send it with Content-Type: application/json.")
    return check_body(kind, parse_json(note.body))


def text_of(request: Request, before: str) -> str:
    """What follows in the path, exactly: uvicorn would replace what is no UTF-8 by another character."""
    raw: bytes = request.scope["raw_path"]
    if not raw.startswith(before.encode()):  # written in another way, so that nobody can tell where it ends
        raise Problem(404, f"write {before} as it is.")
    try:
        return unquote_to_bytes(raw[len(before) :]).decode()
    except UnicodeDecodeError:
        raise Problem(400, "the path is no UTF-8; encode it so.") from None


def answer(value: Any, status: int = 200) -> Response:
    """JSON."""
    return Response(to_json(value), status, media_type="application/json")


def told(
    kind: type | None, *others: int, body: type[Strict] | None = None, named: bool = False, path: str = ""
) -> dict[str, Any]:
    """What the OpenAPI document says of a route: its answer, its problems, its body, and what its path names."""
    path = "name" if named else path
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}}
    statuses = sorted({*COMMON, *others, *((404,) if path else ())})
    problems = {status: {"description": title_of(status), "content": problem} for status in statuses}
    extra: dict[str, Any] = {}
    if body is not None:
        schema = {"$ref": f"#/components/schemas/{body.__name__}"}
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if path:
        text = {"type": "string", "minLength": 1}
        extra["parameters"] = [{"name": path, "in": "path", "required": True, "schema": text}]
    found: dict[int | str, Any] = {} if kind is None else {200: {"model": kind}}
    status = 200 if kind is not None else 204
    return {"response_model": None, "status_code": status, "responses": {**found, **problems}, "openapi_extra": extra}
