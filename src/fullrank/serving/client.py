"""A client of the service: standard library only; what is sent again is stored once."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote, urlsplit

from fullrank.errors import FullrankError, LockedError, check, check_integer

BATCH = 1000  # events in one request
LONGEST = 60.0  # seconds that a service may ask to wait


class ServiceError(FullrankError):
    """The service refused: its sentence, the status, and the whole problem (RFC 9457)."""

    def __init__(self, sentence: str, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(sentence)
        self.status, self.problem = status, dict(problem)


class UnreachableError(LockedError):
    """The service did not answer, or was busy, as often as it was asked; nothing is known of what was sent last."""


@dataclass(frozen=True)
class Client:
    """Asks a service for lists and tells it what people did.

    Every call is a connection of its own, so one client serves many threads. A call that fails on the way, or is
    answered by 503, is repeated up to `tries` times in all: after `Retry-After` where the service says so, else after
    `pause` seconds, twice as long every time; never after more than a minute. Events keep their `event_id` meanwhile:
    the service stores each once.
    """

    url: str  #: Such as http://127.0.0.1:8000, with a path where the service is behind one.
    key: str | None = field(default=None, repr=False)  #: Sent as `Authorization: Bearer`; never in an address.
    timeout: float = 10.0  #: Seconds to wait for an answer.
    tries: int = 5  #: How often a call is made at most.
    pause: float = 0.2  #: Seconds before the second try.

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.username)
        check("url", self.url, plain, "an address such as http://127.0.0.1:8000")
        check_integer("tries", self.tries, 1)

    def recommend(self, model: str, user: int | str | None = None, n: int = 10, **more: Any) -> dict[str, Any]:
        """The n best items; `more` are history, exclude, only, where, repeat, explain."""
        return self._post(f"/v1/models/{_name(model)}/recommend", _given(user=user, n=n, **more))

    def rank(self, model: str, user: int | str, items: Iterable[int | str], **more: Any) -> dict[str, Any]:
        """An offer set in the order of its value to somebody."""
        return self._post(f"/v1/models/{_name(model)}/rank", _given(user=user, items=list(items), **more))

    def similar(self, model: str, item: int | str, n: int = 10, **more: Any) -> dict[str, Any]:
        """The n items most like one."""
        return self._post(f"/v1/models/{_name(model)}/similar", _given(item=item, n=n, **more))

    def events(self, events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Tell what happened, up to 1,000 events a request: a receipt for every event, in their order.

        An event without an `event_id` gets one. When this returns, all of them are kept; where it raises, give the
        same events with the same ids again.
        """
        all_ = [{"event_id": str(uuid.uuid4()), **event} for event in events]
        batches = [all_[at : at + BATCH] for at in range(0, len(all_), BATCH)]
        answers = [self._post("/v1/events", {"events": batch}) for batch in batches]
        return [receipt for answer in answers for receipt in answer["receipts"]]

    def forget(self, user: int | str) -> dict[str, Any]:
        """Remove everything that is kept of somebody."""
        return self._call("DELETE", f"/v1/users/{_name(str(user))}")

    def health(self) -> bool:
        """Whether the service is ready to answer, asked once."""
        try:
            status, _, _ = self._send("GET", "/v2/health/ready", None)
        except (OSError, HTTPException):
            return False
        return status == 200

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._call("POST", path, json.dumps(body, allow_nan=False).encode())

    def _call(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        failed: Exception | None = None
        for turn in range(self.tries):
            wait = self.pause * 2**turn
            try:
                status, after, content = self._send(method, path, body)
                if status != 503:
                    return _answer(status, content)
                failed, wait = _problem(status, content), wait if after is None else after
            except (OSError, HTTPException) as error:
                failed = error
            if turn + 1 < self.tries:
                time.sleep(min(wait, LONGEST))
        raise UnreachableError(f"{self.url}: no answer in {self.tries} tries ({failed}); try again later.") from failed

    def _send(self, method: str, path: str, body: bytes | None) -> tuple[int, float | None, bytes]:
        """One request: status, how long to wait by Retry-After, body."""
        parts = urlsplit(self.url)
        make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = make(parts.hostname or "", parts.port, timeout=self.timeout)
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body is not None else {})
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.request(method, parts.path.rstrip("/") + path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, _seconds(answer.getheader("Retry-After")), answer.read()
        finally:
            connection.close()


def _answer(status: int, content: bytes) -> dict[str, Any]:
    if not 200 <= status < 300:
        raise _problem(status, content)
    try:
        answer: dict[str, Any] = json.loads(content) if content else {}
    except ValueError:
        raise ServiceError("the service answered something that is not JSON; check its address.", status, {}) from None
    return answer


def _problem(status: int, content: bytes) -> ServiceError:
    """The refusal in the service's own words, where there are any."""
    try:
        problem = json.loads(content)
    except ValueError:
        problem = {}
    problem = problem if isinstance(problem, dict) else {}
    sentence = problem.get("detail") or problem.get("title") or f"the service gave no reason (HTTP {status})"
    return ServiceError(str(sentence), status, problem)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None


def _name(text: str) -> str:
    return quote(text, safe="")


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
