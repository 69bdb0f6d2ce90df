"""A study in a TOML file: people place what is offered in answer to a query between least and most preferred.

As in Ackerman's (2012, section 6.2) study; see docs/study.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, StringConstraints, ValidationError

from fullrank.comparison.plan import line_of, read_toml
from fullrank.errors import ConfigError, did_you_mean, shown
from fullrank.serving.assigning import uniform

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
Fault = tuple[tuple[Any, ...], str]  # where in the file, and what


class Offer(BaseModel):
    """[[query.offers]]: something to be placed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Key
    title: Text
    lines: Annotated[list[Text], Field(max_length=20)] = []


class Query(BaseModel):
    """[[query]]: what somebody might have asked for, and what is offered then."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Key
    title: Text
    offers: Annotated[list[Offer], Field(min_length=2, max_length=100)]


class Study(BaseModel):
    """All of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: Text
    consent: Text
    instructions: Text
    contact: Text
    completion_code: Text
    order: Literal["fixed", "shuffled"] = "shuffled"
    seed: NonNegativeInt = 0
    query: Annotated[list[Query], Field(min_length=1, max_length=1000)]

    def offers(self, query: str) -> list[str]:
        """The ids of what a query offers, as they stand in the file."""
        return [offer.id for one in self.query if one.id == query for offer in one.offers]


def read_study(path: str | Path) -> Study:
    """The study of a TOML file; what is wrong is said with its line and key."""
    text, content = read_toml(path, "study")
    try:
        study = Study.model_validate(content)
    except ValidationError as error:
        where, what = _fault(error)
        raise ConfigError(f"{path}:{line_of(text, where)}: {'.'.join(map(str, where))}: {what}") from error
    for where, what in _repeated(study):
        raise ConfigError(f"{path}:{line_of(text, where)}: {'.'.join(map(str, where))}: {what}")
    return study


def initial_order(study: Study, participant: str) -> dict[str, list[str]]:
    """What a participant sees: queries, and the offers of each, in this order.

    As in the file, or shuffled by a hash of the study's seed and the participant: the same for the same person,
    whenever and wherever it is asked for.
    """
    seen = {query.id: study.offers(query.id) for query in study.query}
    if study.order == "fixed":
        return seen
    words = (str(study.seed), participant)
    queries = sorted(seen, key=lambda query: uniform(*words, query))
    return {query: sorted(seen[query], key=lambda offer: uniform(*words, query, offer)) for query in queries}


def _fault(error: ValidationError) -> Fault:
    """The first fault of a study."""
    fault = error.errors()[0]
    where = tuple(fault["loc"])
    if fault["type"] == "extra_forbidden":
        kind = Offer if "offers" in where else Query if where[0] == "query" else Study
        return where, f"unknown key. {did_you_mean(str(where[-1]), list(kind.model_fields))}"
    if fault["type"] == "missing":
        return where, "is missing; add it."
    return where, f"{fault['msg'][0].lower()}{fault['msg'][1:]}, got {shown(fault['input'])}."


def _repeated(study: Study) -> Iterator[Fault]:
    """Ids that stand for two things."""
    queries: set[str] = set()
    titles: dict[str, str] = {}
    for n, query in enumerate(study.query):
        if query.id in queries:
            yield ("query", n, "id"), f"two queries are called {query.id!r}; give one of them another id."
        queries.add(query.id)
        offers: set[str] = set()
        for m, offer in enumerate(query.offers):
            if offer.id in offers:
                yield ("query", n, "offers", m, "id"), f"{offer.id!r} is offered twice in one query; remove one."
            if titles.setdefault(offer.id, offer.title) != offer.title:
                what = f"{offer.id!r} is {titles[offer.id]!r} in another query; one id is one thing."
                yield ("query", n, "offers", m, "title"), what
            offers.add(offer.id)
