"""What a convention is: a library's measures, how it reads lists, and where that is not ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from fullrank.arrays import Bools, Doubles
from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.conventions.view import View

Read: TypeAlias = Callable[[Given, int], View]
Count: TypeAlias = Callable[[View], Doubles]


@dataclass(frozen=True)
class Measure:
    """A measure of a library, and our nearest."""

    name: str  #: as the library writes it, with {k} where the cut-off stands
    ours: str  #: the nearest of our metrics, without the cut-off
    count: Count = field(repr=False)  #: the value of every case
    divides: str  #: what it divides by, for the table of the documentation
    says: str = ""  #: how it differs from ours on lists without anything irregular; nothing where it does not
    graded: str = ""  #: the nearest of our metrics where there are grades; `ours` where not said
    habits: Mapping[str, str] = field(default_factory=dict)  #: over those of the convention; "" where it has none
    refuses: Mapping[str, str] = field(default_factory=dict)  #: as that of the convention
    weight: Count | None = None  #: of the mean; equal where not said
    cut: bool = True  #: whether our nearest has the cut-off too

    @property
    def at(self) -> bool:
        """Whether it has a cut-off."""
        return "{k}" in self.name

    def label(self, k: int) -> str:
        """The name with its cut-off."""
        return self.name.format(k=k)

    def nearest(self, given: Given, k: int) -> str:
        """The name of our nearest metric, with its cut-off."""
        name = self.graded if self.graded and given.grade is not None else self.ours
        return f"{name}@{k}" if self.cut else name


@dataclass(frozen=True)
class Convention:
    """How a library counts.

    `habits` tells by the irregularity (see `IRREGULARITIES`) what the library does with it where that is not what we
    do, and `refuses` what makes it end with an error: there is no value then.
    """

    name: str  #: as `--as` takes it
    title: str  #: as people write it
    checked: str | None  #: the package and version that produced the figures of the tests; None: it was not run
    measures: tuple[Measure, ...]
    read: Read = field(repr=False)
    averages: str  #: who is averaged
    ties: str
    duplicates: str
    habits: Mapping[str, str] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)
    drops_unlisted: bool = False  #: whether people without a list are left out of the mean
    counts_extra: bool = False  #: whether people with nothing held out are in the mean, with 0

    def habits_of(self, measure: Measure) -> dict[str, str]:
        """What is done with irregular lists, for one measure: its own first."""
        return {name: says for name, says in {**self.habits, **measure.habits}.items() if says}

    def refusals_of(self, measure: Measure) -> dict[str, str]:
        """What makes it end with an error."""
        return {**self.refuses, **measure.refuses}

    def counted(self, given: Given) -> Bools:
        """Which cases are in the mean."""
        return np.asarray((given.item >= 0).any(axis=1) | (not self.drops_unlisted))


def view_of(convention: Convention, given: Given, k: int | None) -> View:
    """The first k places as the library takes them; without k all of them."""
    return convention.read(given, max(given.item.shape[1], int(np.diff(given.start).max())) if k is None else k)


def count_cases(convention: Convention, measure: Measure, given: Given, view: View) -> tuple[Doubles, Doubles]:
    """The value of every case and its weight in the library's mean: 0 for those that are left out."""
    weight = np.ones(len(given.item)) if measure.weight is None else measure.weight(view)
    return measure.count(view), np.where(convention.counted(given), weight, 0.0)


def average(convention: Convention, measure: Measure, given: Given, view: View) -> float:
    """The mean as the library takes it; NaN where nobody is averaged."""
    values, weight = count_cases(convention, measure, given, view)
    total = weight.sum() + given.extra * convention.counts_extra
    return float((values * weight).sum() / total) if total else float("nan")
