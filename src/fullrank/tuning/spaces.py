"""Where good parameters are looked for: a small space for a recipe, as data or by the names of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from fullrank.arrays import Floats
from fullrank.data.feedback import Feedback
from fullrank.errors import ParameterError, check, did_you_mean, is_integer, is_number
from fullrank.models.neighbours.bestseller import Bestseller
from fullrank.models.protocols import Recipe


class Range(Protocol):
    """What `Float` and `Int` share: two ends, and whether all between them is even in its logarithm."""

    low: float
    high: float
    log: bool

    @property
    def corners(self) -> tuple[float, float]:
        """Its ends."""
        return self.low, self.high

    def _is_one(self, value: object) -> bool:
        return is_number(value)

    def __contains__(self, value: object) -> bool:
        return self._is_one(value) and bool(self.low <= value <= self.high)  # type: ignore[operator]

    def __post_init__(self) -> None:
        kind = "integers" if isinstance(self, Int) else "finite numbers"
        ends = self._is_one(self.low) and self._is_one(self.high)
        rising = ends and bool(self.low <= self.high) and abs(self.low) < float("inf") > abs(self.high)
        check("low, high", (self.low, self.high), rising, f"two {kind}, the first not above the second")
        fits = isinstance(self.log, bool) and (self.low > 0 or not self.log)
        check("log", self.log, fits, "False where low is not > 0")


@dataclass(frozen=True)
class Float(Range):
    """Numbers from low to high, even in their logarithms where `log`."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Int(Range):
    """Whole numbers from low to high, even in their logarithms where `log`."""

    low: int
    high: int
    log: bool = False

    def _is_one(self, value: object) -> bool:
        return is_integer(value)


@dataclass(frozen=True)
class Choice:
    """One of these values, which have no order."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        distinct = isinstance(self.values, tuple) and 0 < len(self.values) == len(set(self.labels))
        check("values", self.values, distinct, "a tuple of different values")

    @property
    def labels(self) -> list[str]:
        """The values as text, each its own."""
        return [repr(value) for value in self.values]

    @property
    def corners(self) -> tuple[Any, ...]:
        """All of them."""
        return self.values

    def __contains__(self, value: object) -> bool:
        return repr(value) in self.labels


Part: TypeAlias = Float | Int | Choice
Space: TypeAlias = Mapping[str, Part]

FACTORS = Int(8, 128, log=True)
FEW_FACTORS = Int(4, 64, log=True)

SPACES: dict[str, dict[str, Part]] = {
    "Bestseller": {"by": Choice(("count", "relevant", "mean"))},
    "PersonalFrequency": {"popularity": Float(0.3, 10.0, log=True)},
    "AllRank": {
        "factors": FACTORS,
        "reg": Float(0.005, 0.5, log=True),
        "missing_weight": Float(0.0005, 0.5, log=True),
        "missing_value": Float(0.0, 3.0),  # of ratings from 1 to 5
    },
    "AllRankBinary": {
        "factors": FACTORS,
        "reg": Float(0.001, 0.3, log=True),
        "missing_weight": Float(0.0005, 0.5, log=True),
    },
    "IALS": {
        "factors": FACTORS,
        "reg": Float(0.03, 5.0, log=True),  # with a frequency of 0.4
        "missing_weight": Float(0.001, 0.3, log=True),
    },
    "ItemCF": {
        "voters": Int(10, 500, log=True),
        "power": Float(0.5, 3.0, log=True),
        "scale": Choice((None, "unit")),
        "shrink": Float(0.0, 50.0),
        "user_weight": Float(0.0, 1.0),
    },
    "RecentItemCF": {
        "recency": Float(0.0, 0.6),
        "nearness": Float(0.0, 0.6),
        "backward": Float(0.0, 1.0),
        "shrink": Float(1.0, 200.0, log=True),
    },
    "EASE": {"reg": Float(5.0, 30_000.0, log=True), "binary": Choice((True, False))},
    "PureSVD": {"factors": Int(2, 256, log=True)},
    "BPR": {
        "factors": FACTORS,
        "rate": Float(0.02, 1.0, log=True),
        "reg": Float(0.0003, 0.1, log=True),
    },
    "MFAUC": {
        "factors": FACTORS,
        "rate": Float(0.01, 0.5, log=True),
        "reg": Float(0.003, 0.5, log=True),
    },
    "MFADG": {
        "factors": FACTORS,
        "rate": Float(0.01, 0.5, log=True),
        "reg": Float(0.003, 0.5, log=True),
        "gamma": Float(10.0, 300.0, log=True),
    },
    "GaussianRank": {
        "factors": FACTORS,
        "rate": Float(0.003, 0.1, log=True),
        "prior": Float(0.03, 3.0, log=True),
        "width": Float(0.5, 4.0, log=True),
        "dropout": Float(0.0, 0.8),
    },
    "HistoryBPR": {
        "factors": FACTORS,
        "rate": Float(0.003, 0.1, log=True),
        "negatives": Float(1.0, 20.0, log=True),
        "dropout": Float(0.0, 0.8),
    },
    "SoftmaxNegatives": {
        "factors": FACTORS,
        "rate": Float(0.003, 0.1, log=True),
        "negatives": Float(1.0, 20.0, log=True),
        "dropout": Float(0.0, 0.8),
    },
    "SquaredNegatives": {
        "factors": FACTORS,
        "rate": Float(0.002, 0.05, log=True),
        "negatives": Float(1.0, 20.0, log=True),
        "dropout": Float(0.0, 0.8),
    },
    "RSVD": {
        "factors": FACTORS,
        "rate": Float(0.002, 0.05, log=True),
        "reg": Float(0.01, 0.4, log=True),
    },
    "SVDpp": {
        "factors": FEW_FACTORS,
        "rate": Float(0.002, 0.03, log=True),
        "reg": Float(0.01, 0.4, log=True),
    },
    "OrdRec": {
        "factors": FEW_FACTORS,
        "rate": Float(0.005, 0.08, log=True),
        "reg": Float(0.005, 0.4, log=True),
    },
    "OpportunityCost": {
        "factors": FACTORS,
        "reg": Float(0.004, 0.4, log=True),
    },
    "SessionCost": {
        "factors": FEW_FACTORS,
        "rate": Float(0.02, 0.5, log=True),
        "reg": Float(0.001, 0.1, log=True),
    },
    "CCF": {
        "factors": FEW_FACTORS,
        "rate": Float(0.02, 0.5, log=True),
        "reg": Float(0.003, 0.3, log=True),
    },
}


NEAR = {"reg": 30.0, "rate": 10.0, "missing_weight": 30.0}  # how many times less or more than the recipe's own


def space_for(recipe: Recipe[Any, Any], train: Feedback) -> Space:
    """The space of this recipe, on the scale of the data.

    One that has no entry above is searched around its own `reg`, `rate` and `missing_weight`, and over `factors`.
    There are not more factors than users or items, `missing_value` moves from ratings of 1 to 5 to those here, and
    `binary` is chosen where there are values. A recipe that is fed ratings from a threshold on is also tried with those
    one grade below, and with all.
    """
    name = type(recipe).__name__
    space = dict(SPACES.get(name) or _by_names(recipe))
    if not space:
        raise ParameterError(f"no search space is known for {name}; give one, e.g. space={{'reg': Float(0.01, 1)}}.")
    most = min(len(train.users), len(train.items))
    if isinstance(wide := space.get("factors"), Int) and wide.high > most:
        space["factors"] = replace(wide, low=min(wide.low, most), high=most)
    values = getattr(train, "value", None)
    if values is None:
        space.pop("binary", None)  # there is nothing else to count
    if isinstance(usual := space.get("missing_value"), Float) and values is not None and values.min() < values.max():
        least, unit = float(values.min()), float(values.max() - values.min()) / 4
        space["missing_value"] = Float(least + (usual.low - 1) * unit, least + (usual.high - 1) * unit)
    given: Any = getattr(recipe, "relevant", None)
    if is_number(given) and values is not None and not isinstance(recipe, Bestseller):
        space["relevant"] = Choice((given, *_grade_below(given, values), None))
    return space


def _grade_below(threshold: float, values: Floats) -> tuple[float, ...]:
    """The next lower value, unless that is the lowest and means all."""
    lower = np.unique(values[values < np.float32(threshold)])
    return (float(lower[-1]),) if len(lower) > 1 else ()


def _by_names(recipe: Recipe[Any, Any]) -> dict[str, Part]:
    """A space from the names that mean the same in every recipe."""
    space: dict[str, Part] = {}
    for name in parameter_names(recipe):
        own = getattr(recipe, name)
        if name == "factors" and is_integer(own):
            space[name] = FACTORS
        elif name in NEAR and is_number(own) and own > 0:
            space[name] = Float(own / NEAR[name], own * NEAR[name], log=True)
    return space


def parameter_names(recipe: Recipe[Any, Any]) -> list[str]:
    """What can be set of a recipe."""
    return [part.name for part in fields(recipe)] if is_dataclass(recipe) else []


def check_space(recipe: Recipe[Any, Any], space: Space) -> None:
    """Refuse a space that is not of this recipe's parameters."""
    name, known = type(recipe).__name__, parameter_names(recipe)
    check("space", space, isinstance(space, Mapping) and len(space) > 0, "a dict from parameters to where to look")
    for parameter, part in space.items():
        if parameter not in known:
            raise ParameterError(f"'{parameter}' is no parameter of {name}. {did_you_mean(str(parameter), known)}")
        check(f"space[{parameter!r}]", part, isinstance(part, Float | Int | Choice), "a Float, Int or Choice")
