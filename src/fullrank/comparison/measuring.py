"""One model of a comparison: tuned, fitted, ranked; or what is kept of it from before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fullrank.comparison import examples
from fullrank.comparison.libraries import count_as
from fullrank.comparison.lists import measure_lists
from fullrank.comparison.naming import AnyRecipe, Compared
from fullrank.comparison.outside import describe_outside, fed_outside, is_outside, prepare_outside
from fullrank.comparison.progress import FITTED, RANKED, Steps
from fullrank.comparison.protocol import Setting
from fullrank.comparison.runs import Part, Store
from fullrank.data.feedback import seen
from fullrank.data.outside import OutsideLists
from fullrank.errors import DataError, ParameterError
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import evaluate
from fullrank.evaluation.top import TopN
from fullrank.models.feedback import fit
from fullrank.models.kinds.model import Model
from fullrank.models.positives import describe_fed
from fullrank.models.protocols import IterativeRecipe
from fullrank.models.recipes import RECIPES
from fullrank.models.training.state import TrainingOptions
from fullrank.ranks import Ranks
from fullrank.tuning.tune import tune


def measure(
    setting: Setting, name: str, recipe: Compared, trials: int, store: Store | None, steps: Steps
) -> tuple[Part, Model | None]:
    """One model: tuned, fitted and ranked; or found in the store, then without the model itself."""
    if is_outside(recipe):
        return _measure_outside(setting, name, recipe, store, steps)
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
            ranks, lists = setting.rank(model, name, steps.ranking)
        steps.at("looking at its lists", RANKED)
    except (DataError, ParameterError) as error:  # a full disk or a lock is no fault of the model
        failed = str(error)
    part = Part(
        name, recipe, ranks, failed, tuned, seconds=seconds, **_look(setting, ranks, lists, lists),
        truth=_on_the_truth(setting, model) if model is not None and ranks is not None else {},
        fed=describe_fed(recipe, seen(setting.split.train)) if ranks is not None else "",
    )  # fmt: skip
    if store is not None:
        store.keep(part, None if failed else model, given)
    return part, model


def _measure_outside(
    setting: Setting, name: str, given: Compared, store: Store | None, steps: Steps
) -> tuple[Part, Model | None]:
    """What was made elsewhere: ranked as it is."""
    stands = describe_outside(given)
    if store is not None and stands.fingerprint and (kept := store.find(name, stands)) is not None:
        return kept, None
    seconds: dict[str, float] = {}
    ranks, lists, failed, truth = None, None, None, {}
    warnings: tuple[str, ...] = ()
    try:
        with _timed(seconds, "rank"):
            model, warnings = prepare_outside(given, setting.split)
            ranks, lists = setting.rank(model, name, steps.ranking)
        truth = _on_the_truth(setting, model)
    except (DataError, ParameterError) as error:
        if setting.strict:
            raise
        failed = str(error)
    if setting.strict and warnings:
        raise DataError(f"{name}: {warnings[0]}.")
    part = Part(
        name, stands, ranks, failed, seconds=seconds, **_look(setting, ranks, lists, given), truth=truth,
        fed=fed_outside(given) if ranks is not None else "", warnings=warnings,
    )  # fmt: skip
    fitted = given if isinstance(given, Model) and not failed and type(given.recipe) in RECIPES.values() else None
    if store is not None:
        store.keep(part, fitted, stands)
    return part, fitted


def _look(setting: Setting, ranks: Ranks | None, lists: TopN | None, given: Any) -> dict[str, Any]:
    """What is kept of the lists of a model, which were `given` or are its best, and who of the cases is new."""
    if ranks is None:
        return {}
    judged = setting.judged
    if lists is None or not isinstance(judged, Cases):
        return {"new": setting.new}
    counted = given if isinstance(given, OutsideLists) else lists
    return {
        "new": setting.new,
        "lists": examples.pick(lists, setting.people),
        "measures": measure_lists(lists.item, setting.split.train, setting.similarity),
        "libraries": count_as(setting.libraries, counted, judged, ranks, setting.metrics),
    }


def _training(recipe: AnyRecipe, name: str, store: Store | None, steps: Steps) -> TrainingOptions:
    """What recipes that are trained in rounds are told beside data and seed."""
    if store is None or not isinstance(recipe, IterativeRecipe):
        return {"progress": steps.fitting}
    return {"progress": steps.fitting, "checkpoint": store.state(name, recipe)}


def _on_the_truth(setting: Setting, model: Any) -> dict[str, float]:
    if setting.complete is None:
        return {}
    return evaluate(rank(model, setting.complete), setting.metrics).mean()


@contextmanager
def _timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    seconds[what] = time.monotonic() - start
