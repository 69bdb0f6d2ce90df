"""Events as rows of the store, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from fullrank.data.ids import Name
from fullrank.errors import DataError, shown
from fullrank.serving.events import Action, Event, Shown, check_event, event_to_json
from fullrank.serving.fields import Time, check_id, check_items, check_name, check_text, seconds

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

DAY = 86_400
# one text for one body, so that the same id with the same body again is known by it
BODY = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
NAME = json.JSONEncoder(ensure_ascii=False)
DIGESTED = ("seq", "own", "event_id", "kind", "user", "about", "body", "received", "ahead")


@dataclass(frozen=True)
class Draft:
    """A row before it has its number."""

    own: int
    event_id: str
    kind: str
    user: str
    about: str | None
    body: str
    time: float | None  # the client's, in seconds

    @property
    def size(self) -> int:
        return len(self.body) + 200


def key_of(user: Name) -> str:
    """How a user stands in the store: 7 and "7" are two.

    >>> key_of(7), key_of("7")
    ('7', '"7"')
    """
    return NAME.encode(user)


def draft_event(event: Event) -> Draft:
    """The row of an event, once it is known to be one."""
    event = check_event(event)
    said = event_to_json(event)
    about = event.on if isinstance(event, Action) else event.recommendation_id if isinstance(event, Shown) else None
    return Draft(0, event.event_id, said["kind"], key_of(event.user), about, BODY.encode(said), seconds(event.time))


def draft_offer(recommendation_id: str, user: Name, items: Sequence[Name], **more: str) -> Draft:
    """The row of a list that the service itself showed."""
    given = check_id("recommendation_id", recommendation_id)
    said: dict[str, Any] = {"kind": "offer", "recommendation_id": given, "user": check_name("user", user)}
    said |= {"items": list(check_items("items", tuple(items)))}
    said |= {name: check_text(name, value) for name, value in more.items()}
    return Draft(1, given, "offer", key_of(user), given, BODY.encode(said), None)


def row_of(draft: Draft, seq: int, received: int) -> dict[str, Any]:
    """The row with its number, the server's time and its digest."""
    ahead = int(draft.time is not None and draft.time > received / 1e6 + DAY)
    row = {
        "seq": seq, "own": draft.own, "event_id": draft.event_id, "kind": draft.kind, "user": draft.user,
        "about": draft.about, "body": draft.body, "received": received, "ahead": ahead,
    }  # fmt: skip
    row["digest"] = digest_of(row)
    return row


def digest_of(row: Mapping[str, Any] | RowMapping) -> bytes:
    """A hash of all that a row says."""
    said = "\0".join([str(row[name]) for name in DIGESTED])  # no field holds a NUL
    return blake2b(said.encode(), digest_size=16).digest()


def load(row: Mapping[str, Any] | RowMapping) -> dict[str, Any]:
    """The body of a row, once it is known to be what was stored."""
    if digest_of(row) != row["digest"]:
        raise DataError(
            f"the event {shown(row['event_id'])} (number {row['seq']}) is damaged; "
            "run 'fullrank feedback verify' on the store."
        )
    body: dict[str, Any] = json.loads(row["body"])
    return body


def happened(body: Mapping[str, Any], received: int, ahead: int) -> int:
    """When it was, in microseconds: the client's time, but the server's where there is none or it was ahead."""
    time: Time = body.get("time")
    said = None if ahead else seconds(time)
    return received if said is None else round(said * 1_000_000)
