"""One model of a comparison: tuned, fitted, ranked; or what is kept of it from before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from fullrank.comparison import examples
from fullrank.comparison.lists import measure_lists
from fullrank.comparison.naming import AnyRecipe
from fullrank.comparison.progress import FITTED, RANKED, Steps
from fullrank.comparison.protocol import Setting
from fullrank.comparison.runs import Part, Store
from fullrank.data.feedback import seen
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.models.feedback import fit
from fullrank.models.kinds.model import Model
from fullrank.models.positives import describe_fed
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.training.state import TrainingOptions
from fullrank.tuning.tune import tune


def measure(
    setting: Setting, name: str, recipe: AnyRecipe, trials: int, store: Store | None, steps: Steps
) -> tuple[Part, Model | None]:
    """One model: tuned, fitted and ranked; or found in the store, then without the model itself."""
    if store is not None and (kept := store.find(name, recipe)) is not None:
        return kept, None
    seconds: dict[str, float] = {}
    tuned, model, ranks, lists, failed = None, None, None, None, None
    given = recipe
    try:
        if trials:
            with _timed(seconds, "tune"):
                journal = None if store is None else store.folder.parent / "tuning.journal"
                best = tune(
                    recipe, setting.for_tuning(), trials=trials, metric=setting.metrics[0], relevant=setting.relevant,
                    seed=setting.seed, journal=journal, progress=steps.tuning,
                )  # fmt: skip
            seconds["tune"] = best.seconds
            recipe, tuned = best.recipe, best.summary()
        with _timed(seconds, "fit"):
            model = fit(recipe, setting.split.train, setting.seed, _training(recipe, name, store, steps))
        steps.at("ranking", FITTED)
        with _timed(seconds, "rank"):
            ranks, lists = setting.rank(model, steps.ranking)
        steps.at("looking at its lists", RANKED)
    except (DataError, ParameterError) as error:  # a full disk or a lock is no fault of the model
        failed = str(error)
    part = Part(
        name, recipe, ranks, failed, tuned, seconds=seconds,
        lists=[] if lists is None else examples.pick(lists, setting.people),
        measures=None if lists is None else measure_lists(lists.item, setting.split.train, setting.similarity),
        truth=_on_the_truth(setting, model) if model is not None and ranks is not None else {},
        fed=describe_fed(recipe, seen(setting.split.train)) if ranks is not None else "",
        new=setting.new if ranks is not None else None,
    )  # fmt: skip
    if store is not None:
        store.keep(part, None if failed else model, given)
    return part, model


def _training(recipe: AnyRecipe, name: str, store: Store | None, steps: Steps) -> TrainingOptions:
    """What recipes that are trained in rounds are told beside data and seed."""
    if store is None or not isinstance(recipe, IterativeRecipe):
        return {"progress": steps.fitting}
    return {"progress": steps.fitting, "checkpoint": store.state(name, recipe)}


def _on_the_truth(setting: Setting, model: Model) -> dict[str, float]:
    if setting.complete is None:
        return {}
    return evaluate(rank(model, setting.complete), setting.metrics).mean()


@contextmanager
def _timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    seconds[what] = time.monotonic() - start
