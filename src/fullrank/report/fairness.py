"""What every model learned from, whom it could only serve what is popular, and how it does for new and known people."""

from __future__ import annotations

from typing import NamedTuple

from fullrank.comparison.results import ModelSummary, Results
from fullrank.comparison.tables import decimals, number, ranked


class Feeding(NamedTuple):
    """A model, what it learned from, and in how many cases it fell back on what is popular, with the reason."""

    model: str
    fed: str
    fallback: str


class PeopleTable(NamedTuple):
    """The means of every model over new and over known people: (model, cells by metric) each."""

    columns: list[str]
    groups: list[tuple[str, list[tuple[str, list[str]]]]]


def feeding(results: Results) -> list[Feeding]:
    """A line for each model that was measured."""
    return [Feeding(model.name, model.fed, _fallback(model, results.split.cases)) for model in ranked(results)]


def _fallback(model: ModelSummary, cases: int) -> str:
    parts = [f"{n:,} of {cases:,} cases: {reason}" for reason, n in model.fallback.items()]
    return "; ".join(parts)


def people_table(results: Results) -> PeopleTable | None:
    """None where nobody is new."""
    models = [model for model in ranked(results) if model.people]
    if not models:
        return None
    names = [metric.name for metric in results.metrics]
    places = {name: decimals(model.metrics.get(name) for model in results.models) for name in names}
    groups = [
        (who, [(m.name, [number(m.people[who].get(name), places[name]) for name in names]) for m in models])
        for who in ("new", "known")
    ]
    return PeopleTable(names, groups)
