"""What the service answers, for the OpenAPI document; the routes fill plain dicts of these forms."""

from __future__ import annotations

from pydantic import BaseModel, Field

from fullrank.serving.bodies import Name


class ProblemAnswer(BaseModel):
    """A refusal, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str = Field(description="What was found and what to do.")
    instance: str = Field(description="The request, as its line in the log names it.")


class ModelAnswer(BaseModel):
    """A model that is served."""

    name: str
    version: str = Field(description="The sha256 of its file.")
    file: str
    recipe: str
    kind: str
    data: str = Field(description="The fingerprint of what it was fitted on.")
    users: int
    items: int
    since: str = Field(description="When it began to serve.")
    versions: list[str] = Field(description="Those that can be activated: this one, and earlier ones.")


class ModelsAnswer(BaseModel):
    """All models that are served."""

    models: list[ModelAnswer]


class PartAnswer(BaseModel):
    """A part of a score."""

    name: str
    item: Name | None
    title: str | None = None
    value: float | None
    part: float


class WhyAnswer(BaseModel):
    """What a score is the sum of."""

    sentence: str
    parts: list[PartAnswer]


class ItemAnswer(BaseModel):
    """An item of a list."""

    item: Name
    score: float
    title: str | None = None
    why: WhyAnswer | None = None


class RecommendAnswer(BaseModel):
    """A list, best first."""

    recommendation_id: str = Field(description="What later events on this list name.")
    model: str
    version: str
    fallback: str = Field(description='"popular" where nothing is known of the person.')
    items: list[ItemAnswer]
    notes: list[str] | None = Field(None, description="What became of the rules, where there is something to tell.")


class OfferAnswer(BaseModel):
    """An item of an offer set; benefit and cost where the model values items against each other."""

    item: Name
    score: float
    title: str | None = None
    benefit: float | None = None
    cost: float | None = None


class RankAnswer(BaseModel):
    """An offer set, best first."""

    model: str
    version: str
    fallback: str
    items: list[OfferAnswer]


class SimilarAnswer(BaseModel):
    """Items that are like an item, the most similar first."""

    model: str
    version: str
    items: list[ItemAnswer]


class ReceiptsAnswer(BaseModel):
    """What became of the events, in their order; they are durable."""

    receipts: list[dict[str, object]]


class HealthAnswer(BaseModel):
    """How the service is."""

    status: str
