"""Where a fit is, in a file: an interrupted one goes on and ends with the same bytes."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from fullrank.data.atomic import check_writable
from fullrank.data.interactions import Interactions
from fullrank.errors import DataError, ModelFileError
from fullrank.models.contents import Kept, fingerprint_of, id_arrays
from fullrank.models.files import fingerprint, load, save
from fullrank.models.state import Parameters, State
from fullrank.models.training import Judged, Length

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


class Keeper:
    """The checkpoint of one fit: the last state and the one before it, in two files beside a lock."""

    def __init__(self, path: str | os.PathLike[str], recipe: Any, train: Any, seed: int) -> None:
        self.path = Path(path)
        check_writable(self.path, overwrite=True)
        self.previous = self.path.with_name(self.path.name + ".previous")
        length = Length.of_recipe(recipe)
        again = replace(recipe, **{length.name: 1}) if length.open_end else recipe
        self.label = Checkpoint(repr(again), seed, mark(train))

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
        save(cast(Any, Kept(arrays, nobody, label)), self.path, overwrite=True, recipes={"Checkpoint": Checkpoint})

    def found(self, like: Parameters) -> tuple[State, Judged] | None:
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
        kept = cast(Any, load(path, recipes={"Checkpoint": Checkpoint}))
        if path != self.path and self.path.exists():
            warnings.warn(f"{self.path} is damaged; going on from {path}", RuntimeWarning, stacklevel=4)
        label: Checkpoint = kept.recipe
        for what in ("recipe", "seed", "data"):
            if getattr(label, what) != getattr(self.label, what):
                told = f"{getattr(label, what)} there, {getattr(self.label, what)} here"
                raise DataError(f"{path}: the checkpoint is of another fit: {what} differs ({told}); remove it, or resume that fit.")  # fmt: skip # noqa: E501
        state = State(_taken(kept.parameters, like, "", path), label.done, label.objective)
        best = state.copied() if label.best_done else None
        if best is not None and label.best_done != label.done:
            best = State(_taken(kept.parameters, like, BEST, path), label.best_done, label.best_objective)
        before = np.inf if label.before is None else label.before
        score = -np.inf if label.score is None else label.score
        return state, Judged(before, score, label.waited, best)


def mark(feedback: Any) -> str:
    """The fingerprint of ratings, or a digest of sessions or preferences: who, what, in which order."""
    if isinstance(feedback, Interactions):
        return fingerprint(feedback)
    named = {part.name: getattr(feedback, part.name) for part in fields(feedback) if part.name != "time"}
    arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
    return fingerprint_of(arrays | id_arrays("user", feedback.users) | id_arrays("item", feedback.items))


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _taken(arrays: Parameters, like: Parameters, prefix: str, path: Path) -> Parameters:
    """Copies of the parameters that begin so; they must be as the fit needs them."""
    for name, wanted in like.items():
        if prefix + name not in arrays or arrays[prefix + name].shape != wanted.shape:
            raise ModelFileError(f"{path}: {prefix + name} of shape {wanted.shape} is missing; remove the checkpoint.")
    return {name: arrays[prefix + name].copy() for name in like}
