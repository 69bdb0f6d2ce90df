"""A search for good parameters with optuna: the task, what is tried next, when a trial is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from fullrank.data.feedback import Feedback
from fullrank.errors import FullrankError, ParameterError
from fullrank.models.feedback import fit
from fullrank.models.protocols import IterativeRecipe, Model, Recipe
from fullrank.models.training.state import Length
from fullrank.tuning.spaces import Choice, Int, Part, Space
from fullrank.tuning.summary import State

JUDGED = 10  # times in a trial, evenly
AT_RANDOM = 6  # trials before the sampler learns from them
UNPRUNED = 4  # whole trials before others are compared with their median
WARM_UP = 0.3  # of the sweeps or epochs, in which nothing is stopped

STATES: dict[str, State] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}  # by optuna's names
Direction: TypeAlias = Literal["minimize", "maximize"]
Keep: TypeAlias = Callable[[Any], None]  # a finished trial of optuna's
Progress: TypeAlias = Callable[[int, int, float | None, str], None]  # trials done, of, the best value, what goes on


@dataclass(frozen=True)
class Trial:
    """A setting that was tried: `replace(recipe, **parameters)` has this value on the validation part.

    A pruned one has the best value that it had reached; a failed one has none, but a message.
    """

    number: int
    parameters: dict[str, Any]
    value: float | None
    state: State
    message: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """What is searched for."""

    recipe: Recipe[Any, Any]
    train: Feedback
    score: Callable[[Model], float]
    lower: bool  # whether less of it is better
    space: Space
    seed: int
    text: str  # all that decides about the trials

    @property
    def name(self) -> str:
        """The same for searches with the same trials."""
        return f"{type(self.recipe).__name__}-{sha256(self.text.encode()).hexdigest()[:16]}"

    @property
    def direction(self) -> Direction:
        """As optuna calls it."""
        return "minimize" if self.lower else "maximize"

    @property
    def length(self) -> Length | None:
        """Sweeps or epochs, of a recipe that can be judged after each of them and might as well have ended there."""
        if not isinstance(self.recipe, IterativeRecipe):
            return None
        return self.recipe.length if self.recipe.length.open_end else None

    def own(self) -> dict[str, Any]:
        """The recipe's own parameters as optuna has them, where they are in the space: a choice is its label there."""
        values = {name: getattr(self.recipe, name) for name in self.space}
        inside = {name: value for name, value in values.items() if value in self.space[name]}
        return {name: repr(v) if isinstance(self.space[name], Choice) else v for name, v in inside.items()}

    def grid(self) -> list[dict[str, Any]] | None:
        """All settings but the recipe's own, in random order, where there are only choices to be made."""
        choices = {name: part.labels for name, part in self.space.items() if isinstance(part, Choice)}
        if len(choices) < len(self.space):
            return None
        settings = [dict(zip(choices, labels, strict=True)) for labels in product(*choices.values())]
        order = np.random.default_rng(self.seed).permutation(len(settings))
        return [settings[i] for i in order if settings[i] != self.own()]

    def parameters(self, params: dict[str, Any]) -> dict[str, Any]:
        """What optuna's stand for; those it has not are the recipe's own."""
        values = {name: getattr(self.recipe, name) for name in self.space} | params
        for name in params:
            part = self.space[name]
            if isinstance(part, Choice):
                values[name] = part.values[part.labels.index(params[name])]
        return values

    def recipe_with(self, parameters: dict[str, Any]) -> Recipe[Any, Any]:
        """The recipe with these parameters instead of its own."""
        changed: Recipe[Any, Any] = replace(self.recipe, **parameters)  # type: ignore[type-var]
        return changed

    def best_of(self, values: dict[int, float]) -> tuple[int, float]:
        """The first of the best rounds, and its value."""
        return min(values.items(), key=lambda pair: (pair[1] if self.lower else -pair[1], pair[0]))

    def point(self, trial: Any, number: int) -> Trial:
        """A finished trial of optuna's in our words."""
        state = STATES[trial.state.name]
        parameters, length = self.parameters(trial.params), self.length
        if state == "failed":
            return Trial(number, parameters, None, state, trial.user_attrs["message"])
        if length is None:
            return Trial(number, parameters, trial.value, state)
        best, value = self.best_of(trial.intermediate_values)
        return Trial(number, parameters | {length.name: best}, value, state)


class Search:
    """A search on its way: a study in memory, which begins with the trials of a journal; new ones are kept."""

    def __init__(self, task: Task, trials: int, progress: Progress | None, earlier: list[Any], keep: Keep) -> None:
        import optuna

        self.task, self.progress, self.keep, self.grid = task, progress, keep, task.grid()
        self.of = trials if self.grid is None else min(trials, 1 + len(self.grid))
        warm = int(task.length.of * WARM_UP) if task.length else 0
        pruner = optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED, n_warmup_steps=warm)
        self.study = optuna.create_study(direction=task.direction, pruner=pruner)
        self.space = {name: distribution(part) for name, part in task.space.items()}
        self.points: list[Trial] = []
        self.seconds = 0.0
        for trial in earlier[: self.of]:
            self.study.add_trial(trial)
            self._count(trial)
        if self.points:
            self.tell(f"{len(self.points)} trials were there already")

    @property
    def best(self) -> Trial | None:
        """The first of the best whole trials."""
        whole = {place: one.value for place, one in enumerate(self.points) if one.state == "complete"}
        values = {place: value for place, value in whole.items() if value is not None}
        return self.points[self.task.best_of(values)[0]] if values else None

    def tell(self, text: str) -> None:
        """How far it is, and what goes on."""
        if self.progress is not None:
            self.progress(len(self.points), self.of, self.best.value if self.best else None, text)

    def step(self) -> None:
        """One more trial; whatever is drawn depends on the seed, its number and the trials before it."""
        import optuna
        from optuna.trial import TrialState

        trial, value = self._ask(), None
        try:
            value = self._value(self.task.recipe_with(self.task.parameters(trial.params)), trial)
            state = TrialState.COMPLETE
        except optuna.TrialPruned:
            state = TrialState.PRUNED
        except FullrankError as error:
            state = TrialState.FAIL
            trial.set_user_attr("message", str(error))
        finished = self.study.tell(trial, value, state=state)
        self.keep(finished)
        self._count(finished)
        self.tell(f"trial {len(self.points)}: {self.points[-1].message or self.points[-1].state}")

    def _ask(self) -> Any:
        """The recipe's own setting, one of the grid, or one that the sampler proposes."""
        import optuna

        number, fixed, space = len(self.points), {}, self.space
        if number == 0:
            fixed = self.task.own()
            space = {name: self.space[name] for name in fixed}
        elif self.grid is not None:
            fixed = self.grid[number - 1]
        if fixed:
            self.study.enqueue_trial(fixed)
        stream = int(np.random.SeedSequence([self.task.seed, number]).generate_state(1)[0])
        self.study.sampler = optuna.samplers.TPESampler(seed=stream, n_startup_trials=AT_RANDOM, multivariate=False)
        return self.study.ask(space)

    def _value(self, recipe: Recipe[Any, Any], trial: Any) -> float:
        task = self.task
        if task.length is None or not isinstance(recipe, IterativeRecipe):
            return task.score(fit(recipe, task.train, task.seed))
        watch, length = WatchedFit(self, trial), recipe.length
        if not length.open_end:
            raise ParameterError("settings that train feature by feature cannot be mixed with others; tune them apart.")
        fit(recipe, task.train, task.seed, {"progress": watch.tell, "judge": watch.judge, "patience": length.of})
        return task.best_of(watch.values)[1]

    def _count(self, finished: Any) -> None:
        self.points.append(self.task.point(finished, len(self.points)))
        self.seconds += finished.duration.total_seconds()


class WatchedFit:
    """One fit on its way: judged some times, and stopped where it is below the median of those before it."""

    def __init__(self, search: Search, trial: Any) -> None:
        self.search, self.trial = search, trial
        self.done = self.of = 0
        self.values: dict[int, float] = {}

    def tell(self, done: int, of: int, objective: float) -> None:
        """After every sweep or epoch."""
        self.done, self.of = done, of
        self.search.tell(f"trial {len(self.search.points) + 1}: {done} of {of}")

    def judge(self, model: Model) -> float:
        """What training takes for a validation metric, higher is better; -inf where it is not looked at."""
        import optuna

        if self.done not in judged_rounds(self.of):
            return -np.inf
        task = self.search.task
        value = self.values[self.done] = task.score(model)
        self.trial.report(value, self.done)
        if self.done < self.of and self.trial.should_prune():
            raise optuna.TrialPruned
        return -value if task.lower else value


def judged_rounds(of: int) -> set[int]:
    """Evenly over so many rounds, always the last.

    >>> sorted(judged_rounds(4)), sorted(judged_rounds(25))
    ([1, 2, 3, 4], [3, 5, 8, 10, 13, 15, 18, 20, 23, 25])
    """
    return {-(-of * part // JUDGED) for part in range(1, JUDGED + 1)}


def distribution(part: Part) -> Any:
    """What optuna draws from."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(part, Choice):
        return CategoricalDistribution(part.labels)
    if isinstance(part, Int):
        return IntDistribution(part.low, part.high, log=part.log)
    return FloatDistribution(part.low, part.high, log=part.log)
