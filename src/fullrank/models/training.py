"""What happens between the sweeps or epochs of a fit: it is told, kept, judged, stopped, resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from fullrank.data.atomic import locked
from fullrank.data.interactions import Interactions
from fullrank.data.stopping import kept_steps, stop_if_asked
from fullrank.errors import DataError, DivergedError, check, check_integer, is_number
from fullrank.kernels.threads import one_blas_thread
from fullrank.models.state import Parameters, State, Watch

Run: TypeAlias = Callable[[State, Watch], State]


@dataclass(frozen=True)
class Training:
    """What can be said beside data and seed when a model is fitted in sweeps or epochs.

    `progress(done, of, objective)` is called after every one. `tolerance` stops when the objective falls by
    less than this share of itself. `judge(model)` gives a validation metric, higher is better: training
    stops once it has not risen for `patience` of them, and the model with the best one is returned. `checkpoint`
    names a file that is written after every one; where it is there already, training goes on from it and
    ends with the same bytes as without interruption.
    """

    progress: Callable[[int, int, float], None] | None = None
    tolerance: float = 0.0
    judge: Callable[[Any], float] | None = None
    patience: int = 2
    checkpoint: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        check("tolerance", self.tolerance, is_number(self.tolerance) and 0 <= self.tolerance < 1, "a number in [0, 1)")
        check_integer("patience", self.patience, 1)


@runtime_checkable
class IterativeRecipe(Protocol):
    """A recipe that is trained in rounds, with a state between them; whoever asks whether one is, asks this.

    It has `sweeps` or `epochs`, and perhaps `rounds`: see `Length`. A number of sweeps alone makes none: those of
    PureSVD have no state that predicts anything.
    """

    def fit(self, train: Any, seed: int = 0, **training: Any) -> Any:
        """Train on all of `train`; `training` is what `Training` has."""

    def model(self, state: State, train: Any) -> Any:
        """What a state of training predicts."""


class Length(NamedTuple):
    """How long a recipe trains: so many "sweeps" or "epochs"; or, where it has `rounds`, as its parameters say.

    Without such rounds, more of them may be asked for later.
    """

    name: str
    of: int
    open_end: bool = True

    @classmethod
    def of_recipe(cls, recipe: IterativeRecipe) -> Length:
        """What the recipe says."""
        name = "sweeps" if hasattr(recipe, "sweeps") else "epochs"
        rounds = getattr(recipe, "rounds", None)
        return cls(name, getattr(recipe, name) if rounds is None else rounds, rounds is None)


class Judged(NamedTuple):
    """How training stands: the objective before the last one, the best metric, how long ago it was, and its state."""

    before: float = np.inf
    score: float = -np.inf
    waited: int = 0
    best: State | None = None


def supervised(
    recipe: Any, train: Interactions, seed: int, training: Training, start: Callable[[], Parameters], run: Run,
    feedback: Any = None,
) -> State:  # fmt: skip
    """Run from the start, or from the checkpoint, watched; the final state, or the best by `judge`.

    `feedback`: what is learned from, where it is more than `train`; a checkpoint belongs to it.
    """
    check_integer("seed", seed, 0, 2**63 - 1)
    if not len(train):
        raise DataError(f"{type(recipe).__name__}: there is no feedback to train on; give some.")
    course = Course(recipe, train, training)
    keeper: Any = None
    if training.checkpoint is not None:
        from fullrank.models.checkpoint import Keeper

        course.keeper = keeper = Keeper(training.checkpoint, recipe, train if feedback is None else feedback, seed)
    with one_blas_thread(), nullcontext() if keeper is None else _kept(keeper.path):
        state = State(start(), 0, np.inf)
        if keeper is not None and (found := keeper.found(state.parameters)) is not None:
            state, course.judged = found
        if not course.ended(state):
            state = run(state, course.watch)
    return state if course.judged.best is None else course.judged.best


@contextmanager
def _kept(path: Path) -> Iterator[None]:
    """Nobody else keeps steps in this file meanwhile, and whoever asks to stop waits for the one under way."""
    with locked(path), kept_steps():
        yield


class Course:
    """One fit on its way."""

    def __init__(self, recipe: Any, train: Interactions, training: Training) -> None:
        self.recipe, self.train, self.training = recipe, train, training
        self.judged = Judged()
        self.objective = np.inf
        self.keeper: Any = None

    def watch(self, state: State) -> bool:
        """Check, tell, judge, keep; True where training is to stop."""
        name, of, _ = Length.of_recipe(self.recipe)
        if not np.isfinite(state.objective):
            raise DivergedError(
                f"{type(self.recipe).__name__}: the objective became {state.objective} in {name[:-1]} {state.done}"
                f"{self._remedy(state)} more regularisation, or look at the scale of the values."
            )
        if self.training.progress is not None:
            self.training.progress(state.done, of, state.objective)
        self.judged = self.judged._replace(before=self.objective)
        self.objective = state.objective
        if self.training.judge is not None:
            self._judge(state, self.training.judge)
        if self.keeper is not None:
            self.keeper.keep(state, self.judged)
            stop_if_asked()
        return self.ended(state)

    def ended(self, state: State) -> bool:
        """Whether it has settled, or has not become better for long enough."""
        self.objective = state.objective
        before = self.judged.before
        settled = np.isfinite(before) and before - state.objective <= self.training.tolerance * abs(before)
        weary = self.training.judge is not None and self.judged.waited >= self.training.patience
        return weary or (self.training.tolerance > 0 and bool(settled))

    def _judge(self, state: State, judge: Callable[[Any], float]) -> None:
        kept = state.copied()
        score = float(judge(self.recipe.model(kept, self.train)))
        if score > self.judged.score:
            self.judged = self.judged._replace(score=score, waited=0, best=kept)
        else:
            self.judged = self.judged._replace(waited=self.judged.waited + 1)

    def _remedy(self, state: State) -> str:
        if not hasattr(self.recipe, "rate"):
            return "; use"
        from fullrank.models.descent import rate_in

        return f" at rate {rate_in(self.recipe, state.done - 1):g}; use a smaller rate,"
