"""Events from and to JSON: strictly, and back without loss."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullrank.errors import DataError
from fullrank.serving.events import (
    KINDS,
    Action,
    Event,
    Preference,
    Rating,
    Session,
    Shown,
    check_event,
    event_to_json,
    parse_event,
)
from fullrank.serving.fields import seconds

WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
)  # fmt: skip
NAMES = st.integers(-(2**63), 2**63 - 1) | WORDS
TIMES = st.none() | st.integers(0, 10**11 - 1) | st.floats(0, 99_999_999_999, allow_nan=False) | st.datetimes().filter(
    lambda moment: 1970 < moment.year < 5138
).map(lambda moment: moment.isoformat())  # fmt: skip
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
LISTS = st.lists(NAMES, min_size=1, max_size=8, unique_by=lambda name: (type(name), name))
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Shown, WORDS, NAMES, LISTS.map(tuple), st.none() | WORDS, TIMES),
    st.builds(Action, WORDS, NAMES, NAMES, WORDS, st.none() | WORDS, st.none() | NUMBERS, TIMES),
    st.builds(Rating, WORDS, NAMES, NAMES, NUMBERS, TIMES),
    st.builds(Preference, WORDS, NAMES, st.just("better"), st.just("worse"), TIMES),
    st.builds(Session, WORDS, NAMES, LISTS.flatmap(
        lambda items: st.tuples(*(st.tuples(st.just(item), WORDS) for item in items))), TIMES),
)  # fmt: skip
SAID: dict[str, dict[str, Any]] = {
    "shown": {"kind": "shown", "event_id": "e", "user": 7, "items": ["a", "b"], "recommendation_id": "r", "time": 5},
    "action": {"kind": "action", "event_id": "e", "user": 7, "item": "a", "action": "clicked", "on": "r", "value": 2.0},
    "rating": {"kind": "rating", "event_id": "e", "user": "7", "item": 8, "value": 4.5, "time": "2026-01-31"},
    "preference": {"kind": "preference", "event_id": "e", "user": 7, "better": 1, "worse": "1"},
    "session": {"kind": "session", "event_id": "e", "user": 7, "offers": [{"item": 1, "action": "shown"}]},
}  # fmt: skip


@given(EVENTS)
def test_every_event_comes_back_through_json(event: Event) -> None:
    back = parse_event(json.loads(json.dumps(event_to_json(event))))
    assert back == event
    assert type(back.user) is type(event.user)


@given(EVENTS)
def test_an_event_made_in_python_passes_the_same_checks(event: Event) -> None:
    assert check_event(event) == event


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_the_json_of_every_kind(said: dict[str, Any]) -> None:
    event = parse_event(said)
    assert type(event) is KINDS[said["kind"]]
    assert event_to_json(event) == said


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_every_field_is_checked(said: dict[str, Any]) -> None:
    """Whatever is put into a field in place of what belongs there is refused, in one sentence."""
    optional = {"recommendation_id", "on", "value", "time"} - ({"value"} if said["kind"] == "rating" else set())
    for field in set(said) - {"kind"}:
        wrong: list[Any] = [True, [], {}, [[]], math.nan, math.inf, "", "a\0b", "\ud800", "x" * 2000, 10**400]
        wrong += [] if field in optional else [None]
        for value in wrong:
            with pytest.raises(DataError) as refused:
                parse_event({**said, field: value})
            assert "\n" not in str(refused.value)
            assert len(str(refused.value)) < 300
        if field not in optional:
            with pytest.raises(DataError, match=f"needs the field {field}"):
                parse_event({name: value for name, value in said.items() if name != field})


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"kind": "show"}, "Did you mean 'shown'"),
        ({}, "has no kind"),
        ({"kind": ["shown"]}, "is none"),
        ([], "is no object"),
        ({**SAID["shown"], "itmes": []}, "has no field 'itmes'. Did you mean 'items'"),
        ({**SAID["shown"], "items": ["a", "b", "a"]}, "'a' twice"),
        ({**SAID["shown"], "items": list(range(1001))}, "1 to 1000"),
        ({**SAID["shown"], "event_id": "x" * 129}, "129 characters; 128"),
        ({**SAID["shown"], "user": 2**63}, "63 bits"),
        ({**SAID["shown"], "user": 7.0}, "neither an integer nor a string"),
        ({**SAID["shown"], "time": 1_700_000_000_000}, "not milliseconds"),
        ({**SAID["shown"], "time": "yesterday"}, "is no date"),
        ({**SAID["shown"], "time": "2026-01-31\x0012:00:00"}, "is no date"),
        ({**SAID["shown"], "time": "2026-01-31\ud80012:00:00"}, "is no date"),
        ({**SAID["shown"], "time": "0001-01-01T00:00:00+23:00"}, "outside 1970"),
        ({**SAID["preference"], "worse": 1}, "over itself"),
        ({**SAID["session"], "offers": [{"item": 1, "action": "shown", "more": 1}]}, "and nothing else"),
        ({**SAID["session"], "offers": [["a", "shown"]]}, "and nothing else"),
    ],
)
def test_refusals_say_what_was_found(said: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_event(said)


def test_ids_are_kept_exactly() -> None:
    one, other = (parse_event({**SAID["rating"], "user": user}) for user in (7, "7"))
    assert one != other
    assert parse_event({**SAID["shown"], "items": [1, "1", "01", "nan", "İ", " "]}).items == (1, "1", "01", "nan", "İ", " ")  # type: ignore[union-attr] # fmt: skip # noqa: E501


def test_times_mean_utc() -> None:
    assert seconds("1970-01-02") == seconds("1970-01-02T01:00:00+01:00") == seconds("19700102T000000Z") == 86_400


def test_something_else_is_no_event() -> None:
    with pytest.raises(DataError, match="is no event"):
        check_event({"kind": "shown"})  # type: ignore[arg-type]
