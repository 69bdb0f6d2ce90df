"""What happens between the sweeps or epochs of a fit: progress, checkpoints, judging, stopping, resuming."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

import numpy as np

from fullrank.data.feedback import Feedback
from fullrank.data.interactions import Interactions
from fullrank.errors import DivergedError
from fullrank.models.kinds.model import Model
from fullrank.models.training.checkpoint import Checkpointer
from fullrank.models.training.state import Judged, Length, Parameters, Rounds, State, Training
from fullrank.runtime.atomic import locked
from fullrank.runtime.stopping import kept_steps, stop_if_asked
from fullrank.runtime.threads import one_blas_thread

Data = TypeVar("Data", bound=Feedback, contravariant=True)
Made = TypeVar("Made", bound=Model, covariant=True)


class Trained(Protocol[Data, Made]):
    """What the loop asks of a recipe; `fullrank.models.protocols.IterativeRecipe` is what recipes are."""

    @property
    def length(self) -> Length:
        """How long it trains."""

    def rate_in(self, number: int) -> float | None:
        """The rate in a round, where there is one."""

    def prepare(self, train: Data, seed: int) -> Rounds:
        """What is trained."""

    def model(self, parameters: Parameters, train: Interactions) -> Made:
        """What parameters predict."""


def train(recipe: Trained[Data, Made], data: Data, seen: Interactions, seed: int, training: Training) -> Made:
    """Run from the start, or from the checkpoint; the model of the final state, or of the best by `judge`."""
    with one_blas_thread():
        rounds = recipe.prepare(data, seed)
        loop = TrainingLoop(recipe, seen, training)
        if training.checkpoint is None:
            state = loop.run(rounds, State(rounds.start(), 0, np.inf))
        else:
            loop.checkpointer = Checkpointer(training.checkpoint, recipe, data, seed, recipe.length)
            with _keep(loop.checkpointer):
                state = loop.resume(rounds, loop.checkpointer)
    return recipe.model(state.parameters, seen)


@contextmanager
def _keep(checkpointer: Checkpointer) -> Iterator[None]:
    """Nobody else keeps steps in this file meanwhile, and whoever asks to stop waits for the one under way."""
    with locked(checkpointer.path), kept_steps():
        yield


class TrainingLoop:
    """One fit on its way."""

    def __init__(self, recipe: Trained[Data, Made], seen: Interactions, training: Training) -> None:
        self.recipe, self.seen, self.training = recipe, seen, training
        self.judged = Judged()
        self.objective = np.inf
        self.checkpointer: Checkpointer | None = None

    def resume(self, rounds: Rounds, checkpointer: Checkpointer) -> State:
        """Go on from the checkpoint where there is one."""
        state = State(rounds.start(), 0, np.inf)
        kept = checkpointer.restore(state.parameters)
        if kept is not None:
            state, self.judged = kept
        return self.run(rounds, state)

    def run(self, rounds: Rounds, state: State) -> State:
        """Round after round, watched; the final state, or the best by `judge`."""
        if not self.has_ended(state):
            for number in range(state.done, self.recipe.length.of):
                state = State(state.parameters, number + 1, rounds.run(state.parameters, number))
                if self.watch(state):
                    break
        return state if self.judged.best is None else self.judged.best

    def watch(self, state: State) -> bool:
        """Check, tell, judge, keep; True where training is to stop."""
        self._check_objective(state)
        if self.training.progress is not None:
            self.training.progress(state.done, self.recipe.length.of, state.objective)
        self.judged = self.judged._replace(before=self.objective)
        self.objective = state.objective
        if self.training.judge is not None:
            self._judge(state, self.training.judge)
        if self.checkpointer is not None:
            self.checkpointer.keep(state, self.judged)
        stop_if_asked()
        return self.has_ended(state)

    def has_ended(self, state: State) -> bool:
        """Whether it has settled, or has not become better for long enough."""
        self.objective = state.objective
        before = self.judged.before
        settled = np.isfinite(before) and before - state.objective <= self.training.tolerance * abs(before)
        out_of_patience = self.training.judge is not None and self.judged.waited >= self.training.patience
        return out_of_patience or (self.training.tolerance > 0 and bool(settled))

    def _judge(self, state: State, judge: Callable[[Model], float]) -> None:
        kept = state.copied()
        score = float(judge(self.recipe.model(kept.parameters, self.seen)))
        if score > self.judged.score:
            self.judged = self.judged._replace(score=score, waited=0, best=kept)
        else:
            self.judged = self.judged._replace(waited=self.judged.waited + 1)

    def _check_objective(self, state: State) -> None:
        if np.isfinite(state.objective):
            return
        name, rate = self.recipe.length.name, self.recipe.rate_in(state.done - 1)
        remedy = "; use" if rate is None else f" at rate {rate:g}; use a smaller rate,"
        raise DivergedError(
            f"{type(self.recipe).__name__}: the objective became {state.objective} in {name[:-1]} {state.done}"
            f"{remedy} more regularisation, or look at the scale of the values."
        )
