"""What an experiment found, as types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fullrank.comparison.results import as_plain


@dataclass(frozen=True)
class Arm:
    """A model in an experiment: how many people it served, and the mean over them."""

    name: str
    people: int
    mean: float | None


@dataclass(frozen=True)
class Lead:
    """Arm `one` minus arm `two`: the difference of means over people, its interval, and whether that is `sure`.

    `p` and the interval stay valid at any time. About `still` more people would make a difference of this size sure;
    None where there is no difference.
    """

    one: str
    two: str
    people: int
    difference: float
    low: float
    high: float
    p: float
    sure: bool
    still: int | None
    sentence: str


@dataclass(frozen=True)
class Judged:
    """What an experiment says by now: arms, every pair of them, who or what was left out, what to distrust."""

    kind: str  # split or interleaving
    level: float
    arms: tuple[Arm, ...]
    pairs: tuple[Lead, ...]
    sentence: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def ahead(self) -> str | None:
        """The arm that is surely better than every other, if there is one."""
        won = [pair.one if pair.difference > 0 else pair.two for pair in self.pairs if pair.sure]
        return next((arm.name for arm in self.arms if won.count(arm.name) == len(self.arms) - 1 > 0), None)

    def to_json(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and strings."""
        plain: dict[str, Any] = as_plain(self) | {"ahead": self.ahead}
        return plain

    def __str__(self) -> str:
        return self.sentence
