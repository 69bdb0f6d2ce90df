"""What happened: lists that were shown, what people did on them, ratings, preferences, sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from fullrank.data.ids import Name
from fullrank.errors import DataError, did_you_mean, shown
from fullrank.serving.fields import (
    MOST_ITEMS,
    Time,
    check_distinct,
    check_id,
    check_items,
    check_name,
    check_number,
    check_time,
)


@dataclass(frozen=True)
class Shown:
    """Somebody saw these items, in this order."""

    #: The client's own name of this event, at most 128 characters: the same one again is stored once.
    event_id: str
    #: Who, an integer or a string, kept exactly.
    user: Name
    #: What was shown, best place first.
    items: tuple[Name, ...]
    #: The list of the service it was taken from.
    recommendation_id: str | None = None
    #: The client's time: seconds since 1970, or ISO 8601 text.
    time: Time = None


@dataclass(frozen=True)
class Action:
    """Somebody did something with an item: clicked, bought, dismissed."""

    #: As in `Shown`.
    event_id: str
    #: Who.
    user: Name
    #: With what.
    item: Name
    #: What was done, a word of the client's.
    action: str
    #: Where: a recommendation_id, or the event_id of a `Shown`.
    on: str | None = None
    #: How much it was: pieces, seconds.
    value: float | None = None
    #: The client's time.
    time: Time = None


@dataclass(frozen=True)
class Rating:
    """Somebody rated an item."""

    #: As in `Shown`.
    event_id: str
    #: Who.
    user: Name
    #: What.
    item: Name
    #: How much, a finite number.
    value: float
    #: The client's time.
    time: Time = None


@dataclass(frozen=True)
class Preference:
    """Somebody would rather have one item than another."""

    #: As in `Shown`.
    event_id: str
    #: Who.
    user: Name
    #: The item preferred.
    better: Name
    #: The other one.
    worse: Name
    #: The client's time.
    time: Time = None


@dataclass(frozen=True)
class Session:
    """A whole session: what was offered, and what was done with each."""

    #: As in `Shown`.
    event_id: str
    #: Who.
    user: Name
    #: Items, each with an action; one with which nothing was done is "shown".
    offers: tuple[tuple[Name, str], ...]
    #: The client's time.
    time: Time = None


Event: TypeAlias = Shown | Action | Rating | Preference | Session


def _check_offers(field: str, value: Any) -> tuple[tuple[Name, str], ...]:
    """Items with actions, as objects with these two fields (or pairs, from Python)."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_ITEMS:
        raise DataError(f"the {field} {shown(value)} must be a list of 1 to {MOST_ITEMS} items with actions.")
    offers = tuple(_check_offer(offer) for offer in value)
    check_distinct(field, tuple(item for item, _ in offers))
    return offers


def _check_offer(offer: Any) -> tuple[Name, str]:
    if isinstance(offer, Mapping) and offer.keys() == {"item", "action"}:
        offer = (offer["item"], offer["action"])
    if not isinstance(offer, tuple) or len(offer) != 2:
        raise DataError(f'the offer {shown(offer)} must be an object with "item" and "action" and nothing else.')
    return check_name("item", offer[0]), check_id("action", offer[1])


def _unless_missing(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda field, value: None if value is None else check(field, value)


KINDS: dict[str, type[Event]] = {
    "shown": Shown, "action": Action, "rating": Rating, "preference": Preference, "session": Session,
}  # fmt: skip
NAMES = {made: kind for kind, made in KINDS.items()}
CHECKS: dict[str, Callable[[str, Any], Any]] = {  # of every field, whichever event it is in
    "event_id": check_id, "user": check_name, "item": check_name, "items": check_items, "offers": _check_offers,
    "better": check_name, "worse": check_name, "action": check_id, "on": _unless_missing(check_id),
    "recommendation_id": _unless_missing(check_id), "value": check_number, "time": check_time,
}  # fmt: skip
FIELDS = {made: {field.name: _unless_missing(CHECKS[field.name]) if field.default is None else CHECKS[field.name]
                 for field in fields(made)} for made in NAMES}  # fmt: skip
REQUIRED = {made: [field.name for field in fields(made) if field.default is not None] for made in NAMES}


def parse_event(mapping: Mapping[str, Any]) -> Event:
    """An event from its JSON form, strictly: unknown fields, wrong types and numbers that are none are refused.

    >>> parse_event({"kind": "action", "event_id": "a1", "user": 7, "item": "tea", "action": "clicked"})
    Action(event_id='a1', user=7, item='tea', action='clicked', on=None, value=None, time=None)
    >>> parse_event({"kind": "rating", "event_id": "r1", "user": 7, "item": "tea", "stars": 5})
    Traceback (most recent call last):
    fullrank.errors.DataError: an event of kind rating has no field 'stars'. Known: event_id, user, item, value, time.
    """
    if not isinstance(mapping, Mapping):
        raise DataError(f"the event {shown(mapping)} is no object with fields; give one.")
    kind = mapping.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        told = f"the kind {shown(kind)} is none" if "kind" in mapping else "the event has no kind"
        raise DataError(f"{told}. {did_you_mean(kind if isinstance(kind, str) else '', list(KINDS))}")
    made = KINDS[kind]
    checks = FIELDS[made]
    for field in mapping:
        if field not in checks and field != "kind":
            hint = did_you_mean(str(field), list(checks))
            raise DataError(f"an event of kind {kind} has no field {shown(field)}. {hint}")
    for field in REQUIRED[made]:
        if field not in mapping:
            raise DataError(f"an event of kind {kind} needs the field {field}; give it.")
    return _build(made, {field: mapping[field] for field in checks if field in mapping})


def check_event(event: Event) -> Event:
    """The same event with every field checked: one made in Python may hold anything.

    >>> check_event(Rating("r1", "ann", "tea", float("nan")))
    Traceback (most recent call last):
    fullrank.errors.DataError: the value nan is not finite; give a number.
    """
    if type(event) not in NAMES:
        raise DataError(f"{shown(event)} is no event; make a {', '.join(made.__name__ for made in NAMES)}.")
    return _build(type(event), {field: getattr(event, field) for field in FIELDS[type(event)]})


def _build(made: type[Event], given: Mapping[str, Any]) -> Event:
    checks = FIELDS[made]
    event = made(**{field: checks[field](field, value) for field, value in given.items()})
    if isinstance(event, Preference) and event.better == event.worse and type(event.better) is type(event.worse):
        raise DataError(f"the item {shown(event.better)} is preferred over itself; leave the event out.")
    return event


def event_to_json(event: Event) -> dict[str, Any]:
    """The JSON form of an event, which `parse_event` reads; fields that say nothing are left out.

    >>> event_to_json(Session("s1", "ann", (("tea", "bought"), ("jam", "shown"))))["offers"]
    [{'item': 'tea', 'action': 'bought'}, {'item': 'jam', 'action': 'shown'}]
    """
    said = {field: getattr(event, field) for field in FIELDS[type(event)]}
    if isinstance(event, Session):
        said["offers"] = [{"item": item, "action": action} for item, action in event.offers]
    if isinstance(event, Shown):
        said["items"] = list(event.items)
    return {"kind": NAMES[type(event)]} | {field: value for field, value in said.items() if value is not None}
