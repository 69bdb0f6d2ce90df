"""Relevance classes from positions on a line, by the bisecting split of Ackerman's (2012) user study (section 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.data.canonical import value_fault, values_ok
from fullrank.errors import DataError, check, check_integer, is_number


def relevance_classes(positions: ArrayLike, span: float, seed: int = 0) -> NDArray[np.int64]:
    """The class of every item of one session from where somebody put it, 0 is the lowest.

    Positions are scaled to [0, 1]. A group that spans less than `span`, or stands at one place, is a class. Any other
    is divided: a random point z and its mirror image at the group's mean attract what is nearer, and both halves go on
    in the same way. What is nearer is what is on the same side of the mean, so wherever z falls the cut is the mean;
    z decides only where an item goes that stands exactly there, on the side of z. The same positions and seed give the
    same classes, in whatever order the items come.

    >>> relevance_classes([0.05, 0.9, 0.1, 0.5, 0.95], span=0.2)
    array([0, 2, 0, 1, 2])
    """
    check("span", span, is_number(span) and 0 <= span <= 1, "a number from 0 to 1")
    check_integer("seed", seed, 0, 2**63 - 1)
    distinct, place, often = np.unique(_scale(positions), return_inverse=True, return_counts=True)
    cuts = _cuts(distinct, often, float(span), np.random.default_rng(seed))
    return np.searchsorted(np.array(sorted(cuts), dtype=np.int64), place.reshape(-1), side="right").astype(np.int64)


def _scale(positions: ArrayLike) -> NDArray[np.float64]:
    array: NDArray[Any] = np.asarray(positions)
    if array.ndim != 1 or (array.dtype.kind not in "fiu" and len(array)):
        raise DataError(f"positions must be one column of numbers, got {array.dtype} of shape {array.shape}.")
    at = array.astype(np.float64)
    ok = values_ok(at)
    if not ok.all():
        raise DataError(f"position {value_fault(float(at[ok.argmin()]))} (item {int(ok.argmin())}).")
    if not len(at) or at.min() == at.max():
        return np.zeros(len(at))
    scaled: NDArray[np.float64] = (at - at.min()) / (at.max() - at.min())
    return scaled


def _cuts(at: NDArray[np.float64], often: NDArray[np.int64], span: float, rng: np.random.Generator) -> list[int]:
    """Where classes begin among distinct positions in rising order, but for the first."""
    cuts: list[int] = []
    groups = [(0, len(at))] if len(at) else []
    while groups:
        low, high = groups.pop()
        if high - low == 1 or at[high - 1] - at[low] < span:
            continue
        mean = np.average(at[low:high], weights=often[low:high])
        z = rng.uniform(at[low], at[high - 1])
        cut = low + int(np.searchsorted(at[low:high], mean, side="left" if z > mean else "right"))
        cut = min(max(cut, low + 1), high - 1)  # a mean may round to an end
        cuts.append(cut)
        groups += [(cut, high), (low, cut)]
    return cuts
