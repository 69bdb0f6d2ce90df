"""Two models on the same cases: by how much they differ, and how sure that is. The one place for paired statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, fsum, inf, isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Doubles
from fullrank.errors import DataError, check
from fullrank.evaluation.statistics import Sliced, bootstrap, percentile_interval, permutations, together

POWER = 1.959964 + 0.841621  # normal quantiles of .975 and .8


class Contrast(NamedTuple):
    """The mean of paired differences, its interval, and a permutation test of whether it is 0.

    `won` and `lost` are shares of cases. `effect` is the mean over the standard deviation (Cohen's d_z), `needed` the
    number of cases with which a difference of this size is found four times out of five at the 5% level:
    ((1.960 + 0.842) / effect)^2.
    """

    difference: float
    low: float
    high: float
    p: float
    effect: float
    won: float
    lost: float
    cases: int
    needed: float


def contrasts(
    difference: Doubles, weight: Doubles, samples: Doubles, *, level: float, repeats: int, seed: int
) -> list[Contrast]:
    """Every column of differences (people, columns), from means of people drawn again (repeats, columns) too.

    Sign changes are the same for all columns.
    """
    people = len(difference)
    weighted = difference * weight[:, None]
    mean = Sliced(weighted, people).summed(np.ones((1, people)))[0] / fsum(weight.tolist())
    p = permutations(weighted, repeats, seed)
    spread = difference.std(axis=0, ddof=1) if people > 1 else np.zeros(difference.shape[1])
    effect = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)
    rows = []
    for n in range(difference.shape[1]):
        low, high = percentile_interval(samples[:, n], level)
        needed = ceil((POWER / effect[n]) ** 2) if effect[n] else inf
        won, lost = float((difference[:, n] > 0).mean()), float((difference[:, n] < 0).mean())
        rows.append(Contrast(float(mean[n]), low, high, float(p[n]), float(effect[n]), won, lost, people, needed))
    return rows


@dataclass(frozen=True)
class Paired:
    """One metric of two models on the same cases: the first minus the second.

    As in `Contrast`, with a second test, Wilcoxon's. Where people have several cases, a case here is a person, with the
    mean over theirs.
    """

    difference: float
    low: float
    high: float
    permutation_p: float
    wilcoxon_p: float
    effect: float
    won: float
    lost: float
    cases: int
    needed: float

    @property
    def note(self) -> str:
        """A warning where the interval leaves open which model is better, else nothing."""
        if self.low > 0 or self.high < 0:
            return ""
        return shortfall(self.cases, self.needed) if isfinite(self.needed) else "no difference"

    def __str__(self) -> str:
        return (
            f"{self.difference:+.4f} ({self.low:+.4f}..{self.high:+.4f}), p={self.permutation_p:.3g}, "
            f"won {self.won:.0%}, lost {self.lost:.0%} of {self.cases:,} cases"
            + (f"; {self.note}" if self.note else "")
        )


def shortfall(cases: int, needed: float) -> str:
    """That there are not enough cases.

    >>> shortfall(100, 2400)
    'too few cases for the difference seen: 100, and about 2,400 are needed'
    """
    return f"too few cases for the difference seen: {cases:,}, and about {needed:,.0f} are needed"


Range: TypeAlias = tuple[Doubles, Doubles]  # the least and the largest value of every case


def nearest(one: Range, two: Range, weight: Doubles) -> Range:
    """Of two models with open values, those in which they are the most alike: a difference in them is one in all.

    Where either may be the better one they are the same; where nothing is open, the values themselves.

    >>> all_ones, half = np.ones(3), np.full(3, 0.5)
    >>> nearest((half, all_ones), (0 * half, half / 2), all_ones)[0]
    array([0.5, 0.5, 0.5])
    """
    (low, high), (other_low, other_high) = one, two
    if np.nansum((low - other_high) * weight) >= 0:
        return low, other_high
    return (high, other_low) if np.nansum((high - other_low) * weight) <= 0 else (low, low)


def paired(
    one: Doubles, two: Doubles, weight: Doubles, *, user: NDArray[Any] | None = None,
    level: float = 0.95, repeats: int = 2000, seed: int = 0,
) -> Paired:  # fmt: skip
    """Compare two models case by case, or person by person; both tests are two-sided."""
    check("level", level, 0 < level < 1, "a number between 0 and 1")
    check("repeats", repeats, isinstance(repeats, int) and repeats >= 100, "an integer >= 100")
    known = ~(np.isnan(one) | np.isnan(two))
    difference, weight = (one - two)[known], weight[known]
    if not len(difference):
        raise DataError("there is no case in which both results have a value; compare other metrics.")
    if user is not None:
        weight, total = together(user[known], weight, difference * weight)
        difference = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
    column = difference[:, None]
    samples = bootstrap(column, weight, repeats, seed)
    (contrast,) = contrasts(column, weight, samples, level=level, repeats=repeats, seed=seed)
    values = contrast._asdict()
    return Paired(permutation_p=values.pop("p"), wilcoxon_p=_wilcoxon(difference), **values)


def _wilcoxon(difference: Doubles) -> float:
    from scipy.stats import wilcoxon

    if not difference.any():
        return 1.0
    return float(wilcoxon(difference, method="approx" if len(difference) > 50 else "auto").pvalue)
