"""Which models there are, and another version in place of one."""

from __future__ import annotations

import asyncio

from fastapi import Request, Response

from fullrank.errors import ConfigError, FullrankError, NoInputError
from fullrank.serving.answers import ModelAnswer, ModelsAnswer
from fullrank.serving.bodies import ActivateBody
from fullrank.serving.problems import Problem
from fullrank.serving.registry import Registry, describe
from fullrank.serving.routes_common import Address, answer, context_of, note_of, read_body, served_of, told
from fullrank.serving.served import Served


async def models(request: Request) -> Response:
    """All models that are served."""
    registry = context_of(request).registry
    served = [registry.get(name) for name in registry.names()]
    return answer({"models": [describe(registry, one) for one in served if one is not None]})


async def model(request: Request) -> Response:
    """One of them."""
    return answer(describe(context_of(request).registry, served_of(request)))


async def activate(request: Request) -> Response:
    """Serve another version: a file of the models folder, or one that was served before.

    The old one serves until the new one is loaded and warmed up; a file that is no good is refused with 409, and
    nothing changes.
    """
    context, before = context_of(request), served_of(request)
    body = read_body(request, ActivateBody)
    served = await asyncio.to_thread(_activate, context.registry, before.name, body)
    context.metrics.swaps.labels(served.name).inc()
    note_of(request).more["version"] = served.version
    return answer(describe(context.registry, served))


def _activate(registry: Registry, name: str, body: ActivateBody) -> Served:
    try:
        return registry.activate(name, version=body.version, file=body.file)
    except (ConfigError, NoInputError) as error:
        raise Problem(404, _without_path(error)) from None
    except (FullrankError, MemoryError) as error:
        raise Problem(409, f"it cannot be served, so nothing has changed: {_without_path(error)}") from None


def _without_path(error: Exception) -> str:
    """What an error says, after the path it begins with.

    >>> _without_path(ValueError("/srv/models/m.fr: is a folder; give a file."))
    'is a folder; give a file.'
    """
    before, colon, after = str(error).partition(": ")
    return after if colon and "/" in before else str(error)


ROUTES = (
    Address("GET", "/v1/models", models, told(ModelsAnswer)),
    Address("GET", "/v1/models/{name}", model, told(ModelAnswer, named=True)),
    Address("POST", "/v1/models/{name}/activate", activate, told(ModelAnswer, 409, body=ActivateBody, named=True)),
)
