"""A part to choose hyper-parameters on, for any split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank.data.split.hash_keys import HALVES, hash_keys_of, shuffled
from fullrank.data.split.parts import AnyData, Data, Split, joined, many, unit
from fullrank.errors import DataError, check


def halved(split: Split[Data], *, seed: int = 0) -> Split[Data]:
    """Half of the held-out part, at random, becomes the validation part (XV and test of Steck 2010).

    Of an odd number the test half keeps one more.

    >>> from fullrank.data.interactions import Interactions
    >>> from fullrank.data.split.rows import holdout
    >>> halved(holdout(Interactions.of([1] * 10, range(10)), 0.5))
    Split(5 train, 2 valid, 3 held_out)
    """
    _refuse_valid(split)
    half = len(split.held_out) // 2
    if not half:
        raise DataError("one held-out row cannot be halved; hold out more.")
    to_validate = np.zeros(len(split.held_out), dtype=bool)
    to_validate[shuffled(hash_keys_of(split.held_out, seed, HALVES))[:half]] = True
    valid, held_out = split.held_out.where(to_validate), split.held_out.where(~to_validate)
    how = f"Of these {half:,} at random are for validation and {len(held_out):,} for the test (seed {seed})."
    return replace(split, valid=valid, held_out=held_out, train_events=None, how=f"{split.how} {how}".strip())


def with_valid(split: Split[Data], make: Callable[[Data], Split[Data]]) -> Split[Data]:
    """The training part is split once more, by any rule, and what that holds out is for validation.

    Of a split of events the training events are, never the merged rows; both times repeats are left out, or kept.

    >>> from fullrank.data.interactions import Interactions
    >>> from fullrank.data.split.rows import leave_last
    >>> data = Interactions.of([1] * 5, range(5), time=range(5))
    >>> split = with_valid(leave_last(data), leave_last)
    >>> split.train.item, split.valid.item, split.held_out.item
    (array([0, 1, 2], dtype=int32), array([3], dtype=int32), array([4], dtype=int32))
    """
    _refuse_valid(split)
    inner = make(_to_split_again(split))
    check("make", make, isinstance(inner, Split), "a function from data to a Split")
    _refuse_valid(inner)
    if inner.overlaps != split.overlaps:
        raise DataError("repeats are kept in one split and left out in the other; say repeat=True in both or in none.")
    seen = [part for part in (split.visible, inner.visible) if part is not None]
    return replace(
        split,
        train=inner.train,
        valid=inner.held_out,
        visible=joined(seen) if seen else None,
        how=f"{split.how} For validation the rest is split again ({inner.how.removesuffix('.')}).".strip(),
    )


def _to_split_again(split: Split[Data]) -> Any:
    """The training part as it was before anything was merged."""
    if split.repeats is not None and split.train_events is None:
        raise DataError("the training events of this split are not kept; split the events again.")
    return split.train if split.train_events is None else split.train_events


def _refuse_valid(split: Split[Data]) -> None:
    check("split", split, isinstance(split, Split), "a Split")
    if split.valid is not None:
        have: AnyData = split.valid
        raise DataError(
            f"the split has a validation part already ({many(len(have), unit(have))}); use one that has none."
        )
