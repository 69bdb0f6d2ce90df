"""What routes have in common: the model of a path, checked bodies, answers, and what the OpenAPI document says."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import unquote_to_bytes

from fastapi import Request, Response
from pydantic_core import to_json

from fullrank.serving.bodies import Body, Strict, check_body
from fullrank.serving.context import Context
from fullrank.serving.limits import Note
from fullrank.serving.problems import Problem, title_of
from fullrank.serving.served import Served
from fullrank.serving.strict_json import parse_json

COMMON = (400, 401, 408, 413, 414, 415, 421, 422, 431, 503)


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


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The body of a request, as one of this kind."""
    media, _, more = request.headers.get("content-type", "").partition(";")
    charset = more.strip().lower().removeprefix("charset=").strip('"')
    if media.strip().lower() != "application/json" or charset not in ("", "utf-8"):
        raise Problem(415, "a body is JSON in UTF-8; send it with Content-Type: application/json.")
    return check_body(kind, parse_json(await request.body()))


def text_of(request: Request, before: str) -> str:
    """What follows in the path, exactly: uvicorn would replace what is no UTF-8 by another character."""
    raw: bytes = request.scope["raw_path"]
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
    return {"response_model": None, "responses": {**found, **problems}, "openapi_extra": extra}
