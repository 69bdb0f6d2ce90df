"""What is sent and answered, as strict types: unknown fields are refused, nothing is converted."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from fullrank.data.ids import name_fault
from fullrank.serving.problems import Problem

MOST = 1_000  # items of a list, and of what is named in a request
EXPLAINED = 100  # items of a list with reasons
EVENTS = 1_000
INT64 = 2**63


def _check_name(name: str) -> str:
    fault = name_fault(name)
    if fault:
        raise PydanticCustomError("name", "an id {fault}", {"fault": fault})
    return name


Text = Annotated[str, Field(min_length=1, max_length=1024), AfterValidator(_check_name)]
Name = Annotated[int, Field(ge=-INT64, lt=INT64)] | Text
Number = Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)]  # far within what float32 holds
Many = Annotated[int, Field(ge=1, le=MOST)]
Names = Annotated[list[Name], Field(max_length=MOST)]


class Strict(BaseModel):
    """A body in which every field is known and has its type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Valued(Strict):
    """An item somebody had, with the value they gave it."""

    item: Name
    value: Number


def _either(one: str, other: str) -> dict[str, Any]:
    """For the OpenAPI document: that one of two fields is given, and not both."""
    nothing = {"type": "null"}
    return {
        "oneOf": [
            {"required": [this], "properties": {this: {"not": nothing}, that: nothing}}
            for this, that in ((one, other), (other, one))
        ]
    }


class RecommendBody(Strict):
    """For whom a list is, and what it may hold."""

    model_config = ConfigDict(json_schema_extra=_either("user", "history"))

    user: Name | None = Field(None, description="Somebody in the training data.")
    history: Annotated[list[Name | Valued], Field(max_length=MOST)] | None = Field(
        None, description="Somebody new, by what they did: items, or items with values; the last is the latest."
    )
    n: Many = Field(10, description="How many items.")
    exclude: Names = Field([], description="Items that are left out, on top of what they have seen.")
    only: Names | None = Field(None, description="Choose among these items.")
    where: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Only items of which this holds: year >= 2000 and genre != 'News'."
    )
    repeat: bool = Field(False, description="Also what they have seen.")
    explain: bool = Field(False, description=f"With the reasons of every item; n is at most {EXPLAINED} then.")

    @model_validator(mode="after")
    def _check(self) -> RecommendBody:
        if (self.user is None) == (self.history is None):
            raise PydanticCustomError("whom", "give either a user or a history")
        if self.explain and self.n > EXPLAINED:
            raise PydanticCustomError("explained", "with reasons n is at most {most}", {"most": EXPLAINED})
        if self.history and len({isinstance(one, Valued) for one in self.history}) > 1:
            raise PydanticCustomError("values", "history: give all items a value or none")
        return self


class RankBody(Strict):
    """An offer set, and to whom it is offered."""

    user: Name
    items: Annotated[list[Name], Field(min_length=1, max_length=MOST, json_schema_extra={"uniqueItems": True})]


class SimilarBody(Strict):
    """The item that others are to be like."""

    item: Name
    n: Many = 10


class ActivateBody(Strict):
    """A version that was served before, or a file of the models folder."""

    model_config = ConfigDict(json_schema_extra=_either("version", "file"))

    version: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    file: Annotated[str, Field(min_length=1, max_length=255)] | None = None

    @model_validator(mode="after")
    def _check(self) -> ActivateBody:
        if (self.version is None) == (self.file is None):
            raise PydanticCustomError("which", "give either a version or a file")
        return self


class EventsBody(Strict):
    """Events, each with its own event_id."""

    events: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=EVENTS)]


Body = TypeVar("Body", bound=Strict)


def check_body(kind: type[Body], value: Any) -> Body:
    """A body of this kind; anything else is a problem 422 that says where and what.

    >>> check_body(SimilarBody, {"item": 7, "n": 0})
    Traceback (most recent call last):
    fullrank.serving.problems.Problem: /n: input should be greater than or equal to 1.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise Problem(422, _sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    """The fault that went deepest: of a union the branch that came nearest."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    fault = max(faults, key=lambda one: sum(isinstance(part, int) for part in one["loc"]))
    place = "".join(f"/{part}" for part in fault["loc"] if isinstance(part, int) or part in _FIELDS)
    extra = fault["type"] == "extra_forbidden"
    if extra:
        return f"unknown field {str(fault['loc'][-1])[:80]!a}; see the OpenAPI document for what there is."
    text = fault["msg"]
    return f"{place or '/'}: {text[0].lower()}{text[1:]}."


_FIELDS = {name for kind in (Valued, RecommendBody, RankBody, SimilarBody, ActivateBody, EventsBody) for name in kind.model_fields}  # fmt: skip # noqa: E501
