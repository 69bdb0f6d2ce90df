"""Where a fit is, in a file: an interrupted one goes on and ends with the same bytes."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from fullrank.data.feedback import Feedback
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ModelFileError
from fullrank.models.storage.feedback import fingerprint
from fullrank.models.storage.files import read_model, write_model
from fullrank.models.storage.layout import Kept
from fullrank.models.training.state import Judged, Length, Parameters, State
from fullrank.runtime.atomic import check_writable

BEST = "best_"  # before the names of the parameters of the best state


@dataclass(frozen=True)
class Checkpoint:
    """What a state belongs to and how it stands, kept in the place of the recipe of a model file."""

    recipe: str
    seed: int
    data: str
    done: int = 0
    objective: float = 0.0
    before: float | None = None  # None: infinite
    score: float | None = None
    waited: int = 0
    best_done: int = 0  # 0: there is none
    best_objective: float = 0.0


class Checkpointer:
    """The checkpoint of one fit: the last state and the one before it, in two files beside a lock."""

    def __init__(
        self, path: str | os.PathLike[str], recipe: object, train: Feedback, seed: int, length: Length
    ) -> None:
        self.path = Path(path)
        check_writable(self.path, overwrite=True)
        self.previous = self.path.with_name(self.path.name + ".previous")
        again = replace(cast(Any, recipe), **{length.name: 1}) if length.open_end else recipe
        self.label = Checkpoint(repr(again), seed, fingerprint(train))

    def keep(self, state: State, judged: Judged) -> None:
        """Write the state and the best one; whatever happens meanwhile, one whole file is there."""
        best = judged.best
        label = replace(
            self.label, done=state.done, objective=state.objective, before=_finite(judged.before),
            score=_finite(judged.score), waited=judged.waited,
            best_done=best.done if best else 0, best_objective=best.objective if best else 0.0,
        )  # fmt: skip
        arrays = dict(state.parameters)
        if best is not None and best.done != state.done:
            arrays |= {BEST + name: array for name, array in best.parameters.items()}
        if self.path.exists():
            os.replace(self.path, self.previous)
        nobody = Interactions.of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        write_model(cast(Any, Kept(arrays, nobody, label)), self.path, {"Checkpoint": Checkpoint}, overwrite=True)

    def restore(self, like: Parameters) -> tuple[State, Judged] | None:
        """The last state that is whole, with parameters of these names and shapes; None where there is none yet."""
        there = [path for path in (self.path, self.previous) if path.exists()]
        faults = []
        for path in there:
            try:
                return self._state(path, like)
            except ModelFileError as error:
                faults.append(str(error))
        if faults:
            raise ModelFileError(f"no checkpoint can be used ({' '.join(faults)}); remove {self.path} to start again.")
        return None

    def _state(self, path: Path, like: Parameters) -> tuple[State, Judged]:
        kept = cast(Any, read_model(path, {"Checkpoint": Checkpoint}))
        if path != self.path and self.path.exists():
            warnings.warn(f"{self.path} is damaged; going on from {path}", RuntimeWarning, stacklevel=4)
        label: Checkpoint = kept.recipe
        for what in ("recipe", "seed", "data"):
            if getattr(label, what) != getattr(self.label, what):
                both = f"{getattr(label, what)} there, {getattr(self.label, what)} here"
                raise DataError(f"{path}: the checkpoint is of another fit: {what} differs ({both}); remove it, or resume that fit.")  # fmt: skip # noqa: E501
        state = State(_copy(kept.parameters, like, "", path), label.done, label.objective)
        best = state.copied() if label.best_done else None
        if best is not None and label.best_done != label.done:
            best = State(_copy(kept.parameters, like, BEST, path), label.best_done, label.best_objective)
        before = np.inf if label.before is None else label.before
        score = -np.inf if label.score is None else label.score
        return state, Judged(before, score, label.waited, best)


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _copy(arrays: Parameters, like: Parameters, prefix: str, path: Path) -> Parameters:
    """Copies of the parameters that begin so; they must be as the fit needs them."""
    for name, array in like.items():
        if prefix + name not in arrays or arrays[prefix + name].shape != array.shape:
            raise ModelFileError(f"{path}: {prefix + name} of shape {array.shape} is missing; remove the checkpoint.")
    return {name: arrays[prefix + name].copy() for name in like}
