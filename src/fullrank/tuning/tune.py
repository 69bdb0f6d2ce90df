"""Parameters that do best on the validation part, by its full ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from os import PathLike
from typing import Any

import numpy as np

from fullrank._version import __version__
from fullrank.data.feedback import as_graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.split import Split
from fullrank.errors import DataError, ParameterError, check, check_integer
from fullrank.evaluation.cases import Threshold, cases_of
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.metrics.metric import Metric
from fullrank.metrics.table import ORDERED, parse
from fullrank.models.feedback import adapt
from fullrank.models.parameters import plain
from fullrank.models.protocols import Model, Recipe
from fullrank.models.storage.feedback import fingerprint
from fullrank.tuning.journal import keep, open_trials
from fullrank.tuning.search import Keep, Progress, Search, Task, Trial
from fullrank.tuning.spaces import Space, check_space, space_for
from fullrank.tuning.summary import TuningPoint, TuningSummary


@dataclass(frozen=True)
class Tuned:
    """The best recipe that was found, its value on the validation part, and all that was tried."""

    recipe: Recipe[Any, Any]
    value: float
    metric: str
    points: tuple[Trial, ...]
    seconds: float  # of all trials, also of those of a journal

    def summary(self) -> TuningSummary:
        """What was tried, without timings, as plain as JSON has it."""
        points = tuple(
            TuningPoint({name: plain(value) for name, value in point.parameters.items()}, point.value, point.state)
            for point in self.points
        )
        return TuningSummary(self.metric, len(points), sum(point.state == "pruned" for point in points), points)

    def to_json(self) -> dict[str, Any]:
        """As it stands in results.json, without timings."""
        return self.summary().to_json()


def tune(
    recipe: Recipe[Any, Any],
    split: Split[Any],
    *,
    trials: int = 20,
    metric: str | Metric = "recall@10",
    relevant: Threshold = None,
    space: Space | None = None,
    seed: int = 0,
    journal: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """The best of so many settings of a recipe, trained on `split.train` and judged on `split.valid`.

    The recipe's own setting is the first, so tuning never ends below it there; what is not in the `space` stays. Sweeps
    or epochs become as many as were best, at most the recipe's own: fitted again, perhaps on more data, the recipe
    needs no validation part. Trials below the median of those before them are stopped on the way.

    Relevant are values or grades at or above `relevant`; measures of order look at all. The held-out part is not read.

    Trials are kept in the file `journal`: an interrupted search goes on from there and ends as it would have.
    """
    optuna = need_optuna()
    check_integer("trials", trials, 1)
    check_integer("seed", seed, 0, 2**63 - 1)
    measure = parse(metric) if isinstance(metric, str) else metric
    task = _task(recipe, split, measure, relevant, space, seed)
    same_again = journal is None or " at 0x" not in task.text
    check("recipe", recipe, same_again, "one without functions of your own where a journal is kept")
    with _quiet(optuna), _open(journal, task) as (earlier, keep_one):
        search = Search(task, trials, progress, earlier, keep_one)
        while len(search.points) < search.of:
            search.step()
    best = search.best
    if best is None or best.value is None:
        first = search.points[0].message
        raise DataError(f"{type(recipe).__name__}: all {search.of} trials failed, the first one because: {first}")
    return Tuned(task.recipe_with(best.parameters), best.value, str(measure), tuple(search.points), search.seconds)


def score_of(split: Split[Any], metric: Metric, relevant: Threshold) -> Callable[[Model], float]:
    """The mean of a metric over the validation cases, as a function of a model; the cases are made once."""
    on: Any = as_graded(split.valid) if isinstance(split.valid, Preferences) else split.valid
    ordered = metric.name in ORDERED
    if isinstance(on, Interactions):
        known = Split(split.train, on, visible=split.visible, how=split.how)
        on = cases_of(known, None if ordered else relevant, None if split.overlaps else "train")
    elif ordered:
        relevant = float(on.grade.min())

    def score(model: Model) -> float:
        value = next(iter(evaluate(rank(model, on, relevant=relevant), [metric]).mean().values()))
        if math.isnan(value):
            raise DataError(f"{metric} is not defined for any validation case; use another metric.")
        return value

    return score


def _task(
    recipe: Recipe[Any, Any], split: Split[Any], metric: Metric, relevant: Threshold, space: Space | None, seed: int
) -> Task:
    check("recipe", recipe, is_dataclass(recipe) and not isinstance(recipe, type), "a recipe, e.g. IALS()")
    check("split", split, isinstance(split, Split), "a Split")
    if split.valid is None or not len(split.valid):
        raise DataError("the split has no validation part to tune on; make one with `halved` or `with_valid`.")
    train = adapt(recipe, split.train)
    space = space_for(recipe, train) if space is None else space
    check_space(recipe, space)
    parts = [fingerprint(part) for part in (split.train, split.valid, split.visible) if part is not None]
    threshold = None if relevant is None else np.asarray(relevant).tolist()
    versions = __version__, need_optuna().__version__
    text = repr((versions, recipe, dict(space), str(metric), threshold, parts, seed))
    lower = metric.best < metric.worst
    return Task(recipe, train, score_of(split, metric, relevant), lower, space, seed, text)


@contextmanager
def _open(journal: str | PathLike[str] | None, task: Task) -> Iterator[tuple[list[Any], Keep]]:
    """The trials there are, and what keeps one more."""
    if journal is None:
        yield [], lambda trial: None
        return
    with open_trials(journal, task.name, task.direction) as study:
        yield study.trials, lambda trial: keep(study, trial, journal)


def need_optuna() -> Any:
    """The library that searches, or how to get it."""
    try:
        import optuna
    except ImportError:
        raise ParameterError("tuning needs optuna: pip install 'fullrank[tune]'.") from None
    return optuna


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without its messages; as it was afterwards."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
