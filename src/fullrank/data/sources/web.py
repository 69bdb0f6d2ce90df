"""Asking a server of the web: within a time in all, and by the scheme that was asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit

from fullrank.errors import NoInputError, StorageError, check

TIMEOUT = 30  # seconds without a byte
ANSWER = 60.0  # seconds until a server has answered, with all its redirections
REDIRECTIONS = 5
REDIRECTED = (301, 302, 303, 307, 308)


class Deadline:
    """A moment after which nobody waits any longer."""

    def __init__(self, address: str, seconds: float) -> None:
        self.address, self.seconds = address, seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then; 0 after it."""
        return max(0.0, self._end - time.monotonic())

    def check(self, done: int) -> None:
        """Refuse to go on after it."""
        if not self.left():
            raise self.passed(done)

    def passed(self, done: int) -> StorageError:
        """What to say then."""
        return StorageError(
            f"{self.address}: gave {done:,} bytes in {self.seconds:,.0f} seconds, too slow to wait for; "
            "try again, or fetch it elsewhere and pass its folder."
        )


@contextmanager
def opened(address: str) -> Iterator[Any]:
    """The answer of a server, where it is one that can be used."""
    check("address", address, address.startswith(("https://", "http://")), "an http or https address")
    deadline = Deadline(address, ANSWER)
    place = address
    for _ in range(REDIRECTIONS + 1):
        try:
            answer = _request(place, deadline)
        except HTTPError as error:
            error.close()
            if error.code in REDIRECTED and (to := error.headers.get("Location")):
                place = _follow(place, to)
                continue
            raise NoInputError(
                f"{address}: the server answered {error.code} ({error.reason}); is it still there?"
            ) from error
        except (URLError, HTTPException, OSError) as error:
            reason = getattr(error, "reason", None) or error
            message = f"{address}: cannot be reached ({reason})"
            raise NoInputError(f"{message}; check the network, or fetch it elsewhere and pass its folder.") from error
        with answer:
            yield answer
        return
    raise NoInputError(f"{address}: is redirected over {REDIRECTIONS} times; fetch it elsewhere and pass its folder.")


def _follow(place: str, to: str) -> str:
    """Where a redirection leads; never to another scheme, but from http to https.

    >>> _follow("http://a.org/x/y.zip", "../z.zip"), _follow("http://a.org/y.zip", "https://b.org/y.zip")
    ('http://a.org/z.zip', 'https://b.org/y.zip')
    """
    target = urljoin(place, to)
    if urlsplit(target).scheme not in (urlsplit(place).scheme, "https"):
        raise NoInputError(
            f"{place}: is redirected to {target[:200]!r}, by another scheme, which is not followed; "
            "fetch it elsewhere and pass its folder."
        )
    return target


def _request(place: str, deadline: Deadline) -> Any:
    """The answer to one request; a thread waits for it, since a server may send its headers letter by letter."""
    answers: SimpleQueue[Any] = SimpleQueue()
    given_up = Event()

    def ask() -> None:
        answer = _outcome(place)
        answers.put(answer)
        if given_up.is_set() and hasattr(answer, "close"):
            answer.close()

    Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left())
    except Empty:
        given_up.set()
        raise deadline.passed(0) from None
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _outcome(place: str) -> Any:
    """The answer, or what was raised."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(), request.HTTPHandler(), request.HTTPSHandler(), request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(), request.UnknownHandler(),
    ):  # redirections are not followed by it  # fmt: skip
        opener.add_handler(handler)
    try:
        return opener.open(request.Request(place, headers={"User-Agent": "fullrank"}), timeout=TIMEOUT)
    except BaseException as error:
        return error
