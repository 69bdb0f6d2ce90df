"""What counts as positive for recipes that know one class only: nobody is to learn from dislikes as if they were likes.

`relevant` of such a recipe is

    None         all that was observed, whatever its value
    4.0          values at or above this number
    "30%"        values at or above the highest one that 30% of all training values reach
    "own mean"   values at or above the mean of the person who gave them
"""

from __future__ import annotations

import re
from typing import Any, Protocol, TypeAlias

import numpy as np

from fullrank.arrays import Bools, Codes, Csr, Floats, stored
from fullrank.data.canonical import at_least
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, check, is_number

Relevant: TypeAlias = float | str | None

OWN_MEAN = "own mean"
SHARE = re.compile(r"(\d+(?:\.\d+)?)%")
ALLOWED = "None, a number, a share such as '30%', or 'own mean'"


class OneClass(Protocol):
    """A recipe that learns from positives, and takes everything else for unknown."""

    @property
    def relevant(self) -> Relevant:
        """What counts as positive."""


def check_relevant(recipe: OneClass) -> None:
    """Refuse what says nothing about values."""
    given = recipe.relevant
    known = given is None or (is_number(given) and bool(np.isfinite(given))) or given == OWN_MEAN or _share(given)
    check("relevant", given, bool(known), ALLOWED)


def positives(recipe: OneClass, train: Interactions) -> Interactions:
    """The rows that count; some must be left."""
    name, given = type(recipe).__name__, recipe.relevant
    if given is not None and train.value is None:
        raise DataError(f"{name}: the data has no values to be relevant at; use relevant=None.")
    rows = train.relevant(threshold(given, train))
    if len(train) and not len(rows):
        raise DataError(f"{name}: no value is at or above {given}; lower `relevant`.")
    return rows


def positive_rows(relevant: Relevant, train: Interactions) -> Bools:
    """Which rows count."""
    least = threshold(relevant, train)
    if least is None or train.value is None:
        return np.ones(len(train), dtype=bool)
    return at_least(train.value, least, train.user, train.n_users)


def threshold(relevant: Relevant, train: Interactions) -> float | Floats | None:
    """The least positive value: one for all, or one for each user."""
    if relevant is None or train.value is None:
        return None
    if relevant == OWN_MEAN:
        return own_means(train)
    if isinstance(relevant, str):
        return train.reached_by(_share(relevant))
    return float(relevant)


def own_means(train: Interactions) -> Floats:
    """The mean of everybody's values; 0 for those without any."""
    count = np.bincount(train.user, minlength=train.n_users)
    total = np.bincount(train.user, train.value, minlength=train.n_users)
    means: Floats = (total / np.maximum(count, 1)).astype(np.float32)
    return means


def positive_history(relevant: Relevant, train: Interactions, items: Codes, values: Floats) -> tuple[Codes, Floats]:
    """What counts of what somebody new did; their own mean is that of these values."""
    if relevant is None or train.value is None or not len(values):
        return items, values
    least: Any = values.mean() if relevant == OWN_MEAN else threshold(relevant, train)
    kept = values >= np.float32(least)
    return items[kept], values[kept]


def positive_pairs(relevant: Relevant, train: Interactions, pairs: Csr, *, by: str) -> Csr:
    """What counts of new rows of pairs: rows are new users (`by` "user"), or new items and columns are users."""
    if relevant is None or train.value is None:
        return pairs
    least: Any = threshold(relevant, train)
    if relevant == OWN_MEAN and by == "item":
        least = least[pairs.indices]
    elif relevant == OWN_MEAN:
        sizes = np.diff(pairs.indptr)
        row = np.repeat(np.arange(len(sizes)), sizes)
        least = (np.bincount(row, pairs.data, minlength=len(sizes)) / np.maximum(sizes, 1))[row]
    kept: Csr = stored(pairs, pairs.data >= np.asarray(least, dtype=np.float32))
    return kept


def describe_fed(recipe: object, train: Interactions) -> str:
    """What a recipe learns from, for a report.

    >>> from fullrank.models.least_squares.ials import IALS
    >>> rated = Interactions.of([1, 1, 2, 2], [1, 2, 1, 3], [5, 1, 4, 2])
    >>> describe_fed(IALS(relevant=4), rated), describe_fed(IALS(), rated)
    ('values from 4 on: 2 of 4 rows', 'all 4 rows, whatever their value')
    """
    rows = f"all {len(train):,} rows"
    if train.value is None:
        return rows
    if not hasattr(recipe, "relevant"):
        return f"{rows} with their values"
    given, least = recipe.relevant, threshold(recipe.relevant, train)
    if least is None:
        return f"{rows}, whatever their value"
    kept = f"{len(train.relevant(least)):,} of {len(train):,} rows"
    return f"values from everybody's own mean on: {kept}" if given == OWN_MEAN else f"values from {least:g} on: {kept}"


def liked(recipe: object, train: Interactions) -> float:
    """The value of an item that somebody names without one: the median of what counts, else of the better half."""
    if train.value is None:
        return 1.0
    relevant = getattr(recipe, "relevant", None)
    least: Any = threshold("50%" if relevant is None or relevant == OWN_MEAN else relevant, train)
    counted = train.value[train.value >= np.float32(least)]
    return float(np.partition(counted, len(counted) // 2)[len(counted) // 2])


def _share(given: object) -> float:
    """The share of a text such as "30%", from above 0 to 1; 0 where it is none."""
    match = SHARE.fullmatch(given) if isinstance(given, str) else None
    share = float(match[1]) / 100 if match else 0.0
    return share if share <= 1 else 0.0
