"""What a score is the sum of: the words in which every kind of model explains itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fullrank.arrays import Codes, Doubles, Floats


class Person(NamedTuple):
    """Somebody whose score is explained, and what counts of what they did: of an order the latest last."""

    user: int | None  # the code of a known one
    items: Codes
    values: Floats


class Reasons(NamedTuple):
    """Parts that sum to the score: what each item of a history adds, and what is added besides, by its name."""

    items: Codes
    values: Floats
    parts: Doubles
    others: dict[str, float]


def besides(**others: float) -> Reasons:
    """A score in which no item of the history has a part of its own."""
    none = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32), np.zeros(0)
    return Reasons(*none, {name.replace("_", " "): float(part) for name, part in others.items()})
