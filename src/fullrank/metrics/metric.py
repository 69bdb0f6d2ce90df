"""What a metric is: a name, perhaps a cut-off, and a function from ranks to a value per case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import TypeAlias

import numpy as np

from fullrank.arrays import Doubles
from fullrank.errors import ParameterError, shown
from fullrank.ranks import Ranks

CutOff: TypeAlias = int | float | None
Function: TypeAlias = Callable[[Ranks, CutOff], Doubles]


@dataclass(frozen=True)
class Metric:
    """A measure of rankings as a value: `ndcg @ 10` is code, column title and command line argument at once.

    `unbiased` says that it is unbiased to missing data (Steck 2010): where relevant items are missing at random
    within a user, its expectation from the observed ones is the value on all of them.

    >>> from fullrank.metrics import recall
    >>> str(recall @ 10), (recall @ 10).unbiased
    ('recall@10', True)
    """

    name: str
    function: Function = field(repr=False)
    k: CutOff = None
    unbiased: bool = False
    cut: str = "length"  # what k may be: "length", "share or length", "half-life", "" (none)
    best: float = 1.0
    worst: float = 0.0
    whole: bool = False  # needs all cases at once; others are computed some cases at a time
    linear: bool = False  # in the candidates above each relevant item, without k: sampled ones then give no bias

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)  # the formula and its denominator, for help()

    def __call__(self, ranks: Ranks) -> Doubles:
        """The value of every case."""
        return self.function(ranks, self.k)

    def __matmul__(self, k: CutOff) -> Metric:
        return replace(self, k=_check_cut_off(self, k))

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    @property
    def survives_sampling(self) -> bool:
        """Whether its expectation over sampled candidates is its value among all of them."""
        return self.linear and self.k is None

    @property
    def doc(self) -> str:
        """The formula and its denominator, without examples in Python."""
        return cleandoc(self.function.__doc__ or "").split("\n\n>>>")[0]


def _check_cut_off(metric: Metric, k: CutOff) -> CutOff:
    if not metric.cut:
        raise ParameterError(f"{metric.name} has no cut-off; write it without @{k}.")
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if whole and int(k) >= 1:  # type: ignore[arg-type]
        return int(k)  # type: ignore[arg-type]
    if metric.cut == "share or length" and isinstance(k, float) and 0 <= k <= 1:
        return float(k)
    may_be = "an integer >= 1"
    if metric.cut == "share or length":
        may_be += " (a list length), or a float from 0 to 1 (a share of the catalogue)"
    raise ParameterError(f"The cut-off of {metric.name} must be {may_be}. Got {shown(k)} instead.")


def metric(
    name: str,
    *,
    unbiased: bool = False,
    cut: str = "length",
    best: float = 1.0,
    worst: float = 0.0,
    linear: bool = False,
) -> Callable[[Function], Metric]:
    """Make a metric of one function from (ranks, k) to a value per case; its docstring says the formula.

    `unbiased`, `cut`, `best`, `worst` and `linear` are those of `Metric`. One that is linear must estimate from sampled
    ranks what it is among all candidates, as `ranks.full_positions()` does.

    >>> @metric("first")
    ... def first(ranks, k):
    ...     '''1 where the best relevant item is on top.'''
    ...     return (ranks.per_case(ranks.positions() == 1) > 0).astype(float)
    >>> first(Ranks(start=[0, 1], above=[0], tied=[0], pool=[5]))
    array([1.])
    """

    def make(function: Function) -> Metric:
        return Metric(name, function, unbiased=unbiased, cut=cut, best=best, worst=worst, linear=linear)

    return make
