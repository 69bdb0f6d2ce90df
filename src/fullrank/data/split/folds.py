"""Several splits of one data set: folds and repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.data.graded import Graded
from fullrank.data.split.hash_keys import FOLDS, hash_keys, hash_keys_of, shuffled, shuffled_by_user
from fullrank.data.split.parts import HELD_OUT, TRAIN, Data, Split, cut, many, unit, usable
from fullrank.errors import check, check_integer

Made = TypeVar("Made")


def folds(data: Data, k: int = 5, *, per_user: bool | None = None, seed: int = 0) -> Iterator[Split[Data]]:
    """k splits, made one at a time; every row is held out in exactly one, and their sizes differ by at most one.

    Ratings and preferences are dealt at random; graded cases so that each user's are spread evenly over
    the folds (Ackerman 2012), which `per_user` also asks for, or forbids, elsewhere.

    >>> from fullrank.data.interactions import Interactions
    >>> data = Interactions.of([1, 1, 1, 2, 2], [1, 2, 3, 1, 2])
    >>> [len(split.held_out) for split in folds(data, 2)]
    [3, 2]
    """
    usable(data)
    check_integer("k", k, 2)
    check("k", k, k <= len(data), f"at most {len(data)}, the number of {unit(data)}")
    check("per_user", per_user, per_user is None or isinstance(per_user, bool), "True, False or None")
    spread = isinstance(data, Graded) if per_user is None else per_user
    key = hash_keys_of(data, seed, FOLDS)
    if spread:  # dealt like cards: user after user in random order, each one's rows shuffled
        turn = np.empty(len(data.users), dtype=np.int32)
        turn[shuffled(hash_keys(seed, FOLDS, np.arange(len(turn))))] = np.arange(len(turn))
        order = shuffled_by_user(turn[data.user], len(turn), key)
    else:
        order = shuffled(key)
    fold = np.empty(len(data), dtype=np.int32)
    fold[order] = np.arange(len(data)) % k
    whose = f"each user's {unit(data)}, spread evenly" if spread else unit(data)
    return (_fold(data, fold == number, f"Fold {number + 1} of {k} over {whose}", seed) for number in range(k))


def _fold(data: Data, held: NDArray[np.bool_], which: str, seed: int) -> Split[Data]:
    label = np.where(held, HELD_OUT, TRAIN).astype(np.int8)
    text = f"{which}: {int(held.sum()):,} of {many(len(data), unit(data))} are held out at random, seed {seed}"
    return cut(data, label, [text], "choose another k")


def repetitions(make: Callable[..., Made], times: int, *, seed: int = 0) -> Iterator[Made]:
    """`make(seed=...)` several times with seeds of its own, one at a time (Lim et al. 2015: four, Steck 2015: five).

    The r-th seed depends on (seed, r) only, and `how` names it: more repetitions leave the first as they were.

    >>> from functools import partial
    >>> from fullrank.data.interactions import Interactions
    >>> from fullrank.data.split.rows import holdout
    >>> data = Interactions.of([1] * 50, range(50))
    >>> a, b = repetitions(partial(holdout, data, 0.1), 2)
    >>> len(a.held_out), a == b
    (5, False)
    """
    check("make", make, callable(make), "a function that takes a seed")
    check_integer("times", times, 1)
    seeds = hash_keys(seed, FOLDS, np.arange(times)) >> 32
    return (make(seed=each) for each in seeds.tolist())
