"""What the service answers when it cannot do what was asked: problems (RFC 9457), one sentence each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

MEDIA_TYPE = b"application/problem+json"
TITLES = {413: "Content Too Large", 414: "URI Too Long", 422: "Unprocessable Content", 431: "Header Fields Too Large"}


class Problem(Exception):  # noqa: N818 (the word of the RFC)
    """A refusal: its status, what was found and what to do, headers that go with it.

    Nothing of ours is in it: no paths of files, no versions, no names of functions.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})


def busy(detail: str, seconds: int = 1) -> Problem:
    """A 503 that says when to come again."""
    return Problem(503, detail, {"retry-after": str(seconds)})


def problem_bytes(problem: Problem, request: str) -> bytes:
    """The body of a problem; `instance` names the request as its line in the log does.

    >>> problem_bytes(Problem(404, "there is no model 'x'."), "a1-1")[:60]
    b'{"type": "about:blank", "title": "Not Found", "status": 404,'
    """
    said = {
        "type": "about:blank", "title": title_of(problem.status), "status": problem.status, "detail": problem.detail,
        "instance": f"urn:fullrank:request:{request}",
    }  # fmt: skip
    return json.dumps(said).encode()  # ASCII only: a lone surrogate that got this far is escaped, too


def problem_headers(problem: Problem, body: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of a problem."""
    headers = [(b"content-type", MEDIA_TYPE), (b"content-length", str(len(body)).encode())]
    return headers + [(name.encode(), value.encode()) for name, value in problem.headers.items()]


def title_of(status: int) -> str:
    """What a status is called.

    >>> title_of(422), title_of(404)
    ('Unprocessable Content', 'Not Found')
    """
    return TITLES.get(status) or HTTPStatus(status).phrase
