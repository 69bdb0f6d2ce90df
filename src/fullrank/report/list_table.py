"""Results → the table of what the lists look like, with a line on every column."""

from __future__ import annotations

from typing import NamedTuple

from fullrank.comparison.results import Results
from fullrank.comparison.tables import ranked
from fullrank.runtime.formatting import NOTHING

COLUMNS = {  # a measure: how it is written, and what it is
    "coverage": ("{:.1%}", "Share of the catalogue that is in anybody's list."),
    "bestsellers": (
        "{:.1%}",
        "Share of all places that go to bestsellers: the most popular items that together have 20% of the training "
        "data. What people chose themselves is a bestseller 20% of the time.",
    ),
    "novelty": (
        "{:.2f} bits",
        "How little known the items are: -log2 of an item's share of the training data, on average. One bit more is "
        "half as popular.",
    ),
    "personalisation": (
        "{:.1%}",
        "How different two people's lists are: 0% where everybody gets the same, 100% where no two share an item.",
    ),
    "diversity": (
        "{:.1%}",
        "How different two items of a list are by their attributes, such as genres (1 - cosine): 0% where they have "
        "the same, 100% where they share none. An item without attributes is like no other.",
    ),
}


class ListTable(NamedTuple):
    """A column for everything that was measured of any model, a row for every model."""

    columns: dict[str, str]  # what each of them is
    rows: list[tuple[str, list[str]]]


def list_table(results: Results) -> ListTable | None:
    """The measures of all models that have lists, best model first; None where none has."""
    there = {model.name: model.lists for model in ranked(results) if model.lists is not None}
    names = [name for name in COLUMNS if any(getattr(lists, name) is not None for lists in there.values())]
    if not names:
        return None
    rows = [(model, [_show(name, getattr(lists, name)) for name in names]) for model, lists in there.items()]
    return ListTable({name: COLUMNS[name][1] for name in names}, rows)


def _show(name: str, value: float | None) -> str:
    return NOTHING if value is None else COLUMNS[name][0].format(value)
