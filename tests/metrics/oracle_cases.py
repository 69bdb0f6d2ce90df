"""Cases, and ranks counted from them one by one, for tests against other definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.metrics import RANKED, Metric
from fullrank.ranks import Ranks

CLOSE = 1e-12
CUTS: dict[str, list] = {"length": [None, 1, 2, 3, 5, 10, 100], "half-life": [None, 1, 2, 5, 10], "": [None]}
CUTS["share or length"] = [*CUTS["length"], 0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]
METRICS = [found if k is None else found @ k for found in RANKED.values() for k in CUTS[found.cut]]
BINARY = [metric for metric in METRICS if metric.name != "graded_ndcg"]


class Case(NamedTuple):
    """The candidates of a case: their scores, and grades of those that are relevant."""

    scores: tuple[float, ...]
    grades: tuple[float | None, ...]

    @property
    def relevant(self) -> list[bool]:
        return [grade is not None for grade in self.grades]

    def tie_groups(self, labels: Sequence[float]) -> tuple[tuple[float, ...], ...]:
        """Labels of items with equal scores, best first."""
        values = sorted(set(self.scores), reverse=True)
        pairs = list(zip(self.scores, labels, strict=True))
        return tuple(tuple(sorted(label for score, label in pairs if score == value)) for value in values)


def counted(cases: Sequence[Case], *, grades: bool = True) -> Ranks:
    """All cases as one Ranks, by comparing items one by one; without grades, `relevant_above` is left out too."""
    columns: dict[str, list] = {"start": [0], "above": [], "tied": [], "pool": [], "relevant_above": [], "grade": []}
    for case in cases:
        pairs = list(zip(case.scores, case.grades, strict=True))
        rest = [score for score, grade in pairs if grade is None]
        hits = [(score, grade) for score, grade in pairs if grade is not None]
        for score, grade in hits:
            columns["above"].append(sum(other > score for other in rest))
            columns["tied"].append(sum(other == score for other in rest))
            columns["relevant_above"].append(sum(other > score for other, _ in hits))
            columns["grade"].append(grade)
        columns["pool"].append(len(rest))
        columns["start"].append(len(columns["above"]))
    return Ranks(**(columns if grades else columns | {"relevant_above": None, "grade": None}))


def random_case(rng: np.random.Generator, n: int, *, levels: int, most: int = 99, whole: bool = False) -> Case:
    """n candidates with at most so many distinct scores (0: all distinct), and from 1 to `most` relevant ones."""
    scores = rng.permutation(n) if levels == 0 else rng.integers(0, levels, n)
    among = [0.0, 1.0, 2.0, 3.0] if whole else [0.0, 1.0, 2.0, 3.5]
    hits = set(rng.permutation(n)[: rng.integers(1, min(n, most) + 1)].tolist())
    grades = [float(rng.choice(among)) if item in hits else None for item in range(n)]
    return Case(tuple(scores.tolist()), tuple(grades))


def far_apart(metric: Metric, found: NDArray, expected: NDArray, cases: Sequence[Case]) -> str:
    """What to tell of the case in which found and expected values differ most; nothing where they agree."""
    assert found.shape == expected.shape == (len(cases),)
    apart = np.abs(found - expected)
    worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
    if apart[worst] <= CLOSE:
        return ""
    return f"{metric} is {found[worst]!r}, expected {expected[worst]!r}: {cases[worst]}"


def listed(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Runs in the form of trec_eval and ranx: item -> score, all distinct and exact in float32."""
    return {f"{n:05}": {str(i): float(score) for i, score in enumerate(case.scores)} for n, case in enumerate(cases)}
