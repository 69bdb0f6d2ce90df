"""What people did in a study: consent, every offer shown, every move, where things stand in the end, withdrawal."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from fullrank.errors import DataError, shown
from fullrank.serving.study import Study, initial_order

Mode = Literal["mouse", "touch", "pen", "keyboard"]
Position = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Words = Annotated[str, Field(min_length=1, max_length=200)]


class Move(BaseModel):
    """An offer was put somewhere (0 least, 1 most preferred), or taken off again (None)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    offer: Words
    position: Position | None
    milliseconds: Annotated[int, Field(ge=0, le=2**53, strict=True)]  # since the query was shown
    mode: Mode


class Placement(BaseModel):
    """One query of one participant: what was shown in which order, and where everything stood in the end.

    Offers may share a place, and one that was left unplaced is None.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    participant: Words
    query: Words
    seed: Annotated[int, Field(strict=True)]
    initial: list[Words]
    positions: dict[Words, Position | None]
    moves: Annotated[list[Move], Field(max_length=100_000)]
    shown: AwareDatetime
    finished: AwareDatetime


class Participant(BaseModel):
    """Somebody, when they agreed, and when they withdrew, if they did: then nothing of theirs is used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    participant: Words
    consented: AwareDatetime
    withdrawn: AwareDatetime | None = None


def read_placement(study: Study, content: Any) -> Placement:
    """What a browser sent, if it can have happened in this study; else an error says what cannot.

    >>> from fullrank.serving.examples import movies
    >>> read_placement(movies(), {"participant": "p1"})
    Traceback (most recent call last):
    fullrank.errors.DataError: placement: query is missing.
    """
    try:
        placement = Placement.model_validate(content)
    except ValidationError as error:
        raise DataError(f"placement: {describe_fault(error)}") from error
    fault = _fault(study, placement)
    if fault:
        raise DataError(f"placement of {shown(placement.query)}: {fault}.")
    return placement


def read_participant(content: Any) -> Participant:
    """Consent or withdrawal as a browser sent it."""
    try:
        participant = Participant.model_validate(content)
    except ValidationError as error:
        raise DataError(f"participant: {describe_fault(error)}") from error
    if participant.withdrawn is not None and participant.withdrawn < participant.consented:
        raise DataError("participant: withdrawn before consent was given.")
    return participant


def describe_fault(error: ValidationError) -> str:
    """The first of what is wrong, in a sentence."""
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"])) or "content"
    if fault["type"] == "missing":
        return f"{place} is missing."
    if fault["type"] == "extra_forbidden":
        return f"{place} is not known."
    return f"{place}: {fault['msg'][0].lower()}{fault['msg'][1:]}, got {shown(fault['input'])}."


def _fault(study: Study, placement: Placement) -> str:
    """What cannot have happened, or nothing."""
    offers = study.offers(placement.query)
    if not offers:
        return f"there is no such query; there are {', '.join(query.id for query in study.query)}"
    if placement.seed != study.seed:
        return f"seed {placement.seed} is not the study's, which is {study.seed}"
    if placement.initial != initial_order(study, placement.participant)[placement.query]:
        return "the initial order is not the one that this participant was shown"
    if sorted(placement.positions) != sorted(offers):
        return f"positions must be of the offers {', '.join(offers)}, with null where one is unplaced"
    if placement.finished < placement.shown:
        return "finished before it was shown"
    return _fault_of_moves(placement)


def _fault_of_moves(placement: Placement) -> str:
    at: dict[str, float | None] = dict.fromkeys(placement.positions)
    last = 0
    for n, move in enumerate(placement.moves):
        if move.offer not in at:
            return f"move {n} is of {shown(move.offer)}, which was not offered"
        if move.milliseconds < last:
            return f"move {n} is earlier than the one before"
        at[move.offer], last = move.position, move.milliseconds
    for offer, position in placement.positions.items():
        if at[offer] != position:
            return f"{shown(offer)} stands at {position}, but its last move was to {at[offer]}"
    return ""
