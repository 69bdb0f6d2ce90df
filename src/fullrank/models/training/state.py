"""Training in rounds, as data: what is trained, where it stands, how long it goes on, what may be said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple, TypeAlias, TypedDict

import numpy as np

from fullrank.arrays import Array
from fullrank.errors import check, check_integer, is_number
from fullrank.models.kinds.model import Model

Parameters: TypeAlias = dict[str, Array]  # by name, of float32


class Rounds(NamedTuple):
    """What is trained: where it starts, and a sweep or epoch, in place, which gives the objective it reached.

    Whatever a round draws depends on the seed and its number only, so a fit that is interrupted goes on as if it had
    not been.
    """

    start: Callable[[], Parameters]
    run: Callable[[Parameters, int], float]  # (parameters, number from 0)


class Length(NamedTuple):
    """How long a recipe trains: so many "sweeps" or "epochs". With an open end, more of them may be asked for later."""

    name: str
    of: int
    open_end: bool = True


class State(NamedTuple):
    """The parameters by name, after so many sweeps or epochs, with this objective."""

    parameters: Parameters
    done: int
    objective: float

    def copied(self) -> State:
        """The same, not to be changed by what training does next."""
        return self._replace(parameters={name: array.copy() for name, array in self.parameters.items()})


class Judged(NamedTuple):
    """How training stands: the objective before the last one, the best metric, how long ago it was, and its state."""

    before: float = np.inf
    score: float = -np.inf
    waited: int = 0
    best: State | None = None


class TrainingOptions(TypedDict, total=False):
    """The keywords of `fit` beside data and seed: see `Training`."""

    progress: Callable[[int, int, float], None] | None
    tolerance: float
    judge: Callable[[Model], float] | None
    patience: int
    checkpoint: str | PathLike[str] | None


@dataclass(frozen=True)
class Training:
    """What can be said beside data and seed when a model is fitted in sweeps or epochs."""

    #: called after every one as `progress(done, of, objective)`
    progress: Callable[[int, int, float], None] | None = None
    #: stop when the objective falls by less than this share of itself, from 0 (never) to below 1
    tolerance: float = 0.0
    #: gives a validation metric of a model, higher is better: training stops once it has not risen for `patience` of
    #: them, and the model with the best one is returned
    judge: Callable[[Model], float] | None = None
    #: how many sweeps or epochs without a better metric are waited for
    patience: int = 2
    #: a file that is written after every one; where it is there already, training goes on from it and ends with the
    #: same bytes as without interruption
    checkpoint: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        check("tolerance", self.tolerance, is_number(self.tolerance) and 0 <= self.tolerance < 1, "a number in [0, 1)")
        check_integer("patience", self.patience, 1)
