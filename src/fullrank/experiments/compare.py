"""The main job: fit recommenders on the same data, judge them on the full ranking, say which to use and how sure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fullrank.data.atomic import locked
from fullrank.data.split import Split
from fullrank.errors import DataError, OutputError, ParameterError, check_integer, did_you_mean
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.rank import rank
from fullrank.evaluation.result import Result, evaluate
from fullrank.experiments import defaults, examples, findings
from fullrank.experiments.comparison import Comparison
from fullrank.experiments.feedback import fit
from fullrank.experiments.pairs import all_pairs
from fullrank.experiments.parts import Part, Store, output_folder
from fullrank.experiments.portrait import portrait
from fullrank.experiments.provenance import fingerprint_of_split, provenance
from fullrank.experiments.setting import Setting, Truth, setting
from fullrank.experiments.titles import Titles
from fullrank.experiments.tune import need_optuna
from fullrank.experiments.tune import tune as search
from fullrank.experiments.verdict import trust, verdict
from fullrank.metrics.metric import Metric
from fullrank.models.recipes import RECIPES
from fullrank.models.training import IterativeRecipe

FORMAT = 1

Recipes: TypeAlias = Mapping[str, Any] | Sequence[Any] | None
Progress: TypeAlias = Callable[[str, float], None]  # what is going on, and the share of everything that is done


def compare(
    data: Any,
    recipes: Recipes = None,
    *,
    split: str | None = None,
    relevant: float | None = None,
    metrics: Sequence[str | Metric] | None = None,
    tune: int = 0,
    seed: int = 0,
    kind: str | None = None,
    exclude: Literal["train"] | None = "train",
    sampled: int = 100,
    title: str = "",
    titles: Titles = (),
    truth: Truth | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Fit recipes on the same part of the data, rank what was held out among all items, and compare.

    `data`: ratings, events, sessions or preferences, or a `Split` of them. `recipes`: names, recipes, or both by the
    name they are to have; by default those that suit the data. `split`: "leave-last:5", "holdout:0.2", "time:0.2"...
    `relevant`: the least rating that counts as relevant. The first of the `metrics` decides. `tune`: trials for every
    recipe, on a part of the training data. `out`: a folder that keeps what is done, so that an interrupted comparison
    goes on; a comparison of something else in it is replaced only with `overwrite`. `titles` are those of the items: a
    dict by their ids, or one for each by code; `truth` gives all relevant interactions where they are known.

    >>> import fullrank
    >>> world = fullrank.simulate.ratings(60, 80)
    >>> found = compare(world.data, ["Bestseller", fullrank.AllRank(factors=4)], split="holdout:0.2")
    >>> sorted(model["name"] for model in found.results["models"])
    ['AllRank', 'Bestseller']
    """
    check_integer("tune", tune, 0)
    check_integer("sampled", sampled, 1)
    if tune:
        need_optuna()
    asked = setting(
        data, split=split, relevant=relevant, metrics=metrics, kind=kind, exclude=exclude, seed=seed, titles=titles,
        truth=truth,
    )  # fmt: skip
    chosen = named(recipes) if recipes is not None else defaults.recipes(asked.kind, asked.relevant)
    _ = asked.judged  # nothing to judge is told before anything is fitted
    folder = None if out is None else output_folder(Path(out))
    if folder is not None and not overwrite:
        _check_same(folder, asked)
    with nullcontext() if folder is None else locked(folder / "results.json"):
        return _compared(asked, chosen, folder, title, tune, sampled, progress)


def _compared(
    asked: Setting, chosen: dict[str, Any], folder: Path | None, title: str, tune: int, sampled: int,
    progress: Progress | None,
) -> Comparison:  # fmt: skip
    start, begun = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    store = None if folder is None else Store(folder / "parts", f"{asked.key} {tune}")
    steps = Steps(list(chosen), progress)
    parts: list[Part] = []
    models: dict[str, Any] = {}
    interrupted: BaseException | None = None
    for name, recipe in chosen.items():
        try:
            with steps.of(name):
                part, model = measured(asked, name, recipe, tune, store, steps)
                models |= {name: model} if store is None and model is not None else {}
        except KeyboardInterrupt as error:
            interrupted = error
            break
        parts.append(part)
    left = [name for name in chosen if name not in {part.name for part in parts}]
    if interrupted is not None and not parts:
        raise interrupted
    steps.compare()
    results = told(asked, parts, title, sampled=sampled, tuned=tune > 0, unfinished=left)
    results["manifest"] |= {"started": begun, "seconds": {"total": time.monotonic() - start}}
    found = Comparison(results, models, store)
    if folder is not None:
        found.save(folder)
    if interrupted is not None:
        raise Interrupted(found) from interrupted
    return found


def _check_same(folder: Path, asked: Setting) -> None:
    """Refuse a folder that holds a comparison of other data or another split."""
    try:
        before = json.loads((folder / "manifest.json").read_text())["split"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if before != fingerprint_of_split(asked.split):
        raise OutputError(
            f"{folder}: holds a comparison of other data or another split; choose another folder, or pass "
            "overwrite=True (--overwrite) to replace it."
        )


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a comparison; what was found so far is kept in `comparison`."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison


def named(recipes: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Recipes by the name they have in the comparison; those given by name have their defaults."""
    pairs: Iterable[tuple[str, Any]]
    if isinstance(recipes, Mapping):
        pairs = recipes.items()
    else:
        pairs = [(one if isinstance(one, str) else type(one).__name__, one) for one in recipes]
    found: dict[str, Any] = {}
    for name, recipe in pairs:
        if name in found:
            raise ParameterError(f"two models are called '{name}'; give them names: {{'one': ..., 'other': ...}}.")
        found[name] = recipe_of(recipe) if isinstance(recipe, str) else recipe
    if not found:
        raise ParameterError(f"there is no model to compare. Known: {', '.join(RECIPES)}.")
    return found


def recipe_of(name: str, **parameters: Any) -> Any:
    """The recipe of a name, whatever its case."""
    known = {known.lower(): kind for known, kind in RECIPES.items()}
    if name.lower() not in known:
        raise ParameterError(f"'{name}' is not a model. {did_you_mean(name, list(RECIPES))}")
    kind = known[name.lower()]
    names = [part.name for part in fields(kind) if part.init]
    for parameter in parameters:
        if parameter not in names:
            raise ParameterError(
                f"'{parameter}' is not a parameter of {kind.__name__}. {did_you_mean(parameter, names)}"
            )
    return kind(**parameters)


def measured(
    asked: Setting, name: str, recipe: Any, trials: int, store: Store | None, steps: Steps
) -> tuple[Part, Any]:
    """One model: tuned, fitted and ranked; or found in the store, then without the model itself."""
    if store is not None and (kept := store.find(name, recipe)) is not None:
        return kept, None
    seconds: dict[str, float] = {}
    tuned, model, ranks, failed = None, None, None, None
    given = recipe
    try:
        if trials:
            with _timed(seconds, "tune"):
                journal = None if store is None else store.folder.parent / "tuning.journal"
                best = search(
                    recipe, asked.for_tuning(), trials=trials, metric=asked.metrics[0], relevant=asked.relevant,
                    seed=asked.seed, journal=journal, progress=steps.tuning,
                )  # fmt: skip
            seconds["tune"] = best.seconds
            recipe, tuned = best.recipe, best.to_json()
        with _timed(seconds, "fit"):
            model = fit(recipe, asked.split.train, asked.seed, **_training(recipe, name, store, steps))
        steps.at("ranking", 0.9)
        with _timed(seconds, "rank"):
            ranks = asked.rank(model)
    except (DataError, ParameterError) as error:  # a full disk or a lock is no fault of the model
        failed = str(error)
    part = Part(
        name, recipe, ranks, failed, tuned, seconds=seconds,
        lists=examples.lists(model, asked.split, asked.people) if ranks is not None and len(asked.people) else [],
        truth=_on_the_truth(asked, model) if ranks is not None else {},
    )  # fmt: skip
    if store is not None:
        store.keep(part, None if failed else model, given)
    return part, model


def _training(recipe: Any, name: str, store: Store | None, steps: Steps) -> dict[str, Any]:
    """What recipes that are trained in rounds can be told beside data and seed."""
    if not isinstance(recipe, IterativeRecipe):
        return {}
    state = {} if store is None else {"checkpoint": store.state(name, recipe)}
    return {"progress": steps.fitting, **state}


def _on_the_truth(asked: Setting, model: Any) -> dict[str, float]:
    if asked.complete is None:
        return {}
    return evaluate(rank(model, asked.complete), asked.metrics).mean()


@contextmanager
def _timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    seconds[what] = time.monotonic() - start


def told(
    asked: Setting, parts: Sequence[Part], title: str, *, sampled: int, tuned: bool, unfinished: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything a comparison found, as plain as JSON."""
    results: dict[str, Result] = {p.name: evaluate(p.ranks, asked.metrics) for p in parts if p.ranks is not None}
    if not results:
        raise DataError(f"no model could be fitted; the first failed because: {parts[0].failed}")
    pairs = all_pairs(results, asked.seed)
    found: dict[str, Any] = {
        "format": FORMAT,
        "title": title or f"{asked.kind} of {len(asked.data.users):,} users on {len(asked.data.items):,} items",
        "verdict": verdict(results, pairs),
        "trust": [],
        "data": portrait(asked.data, asked.kind),
        "split": _split(asked, next(iter(results.values()))),
        "metrics": [findings.metric_parts(metric) for metric in asked.metrics],
        "models": findings.model_parts(parts, results, pairs),
        "pairs": pairs,
        "sampled": findings.sampled(parts, asked.metrics, pairs, sampled, asked.seed),
        "examples": _examples(asked, parts),
        "truth": findings.truth(parts, results, pairs),
        "manifest": provenance(asked.data, asked.split, asked.seed),
    }
    found["trust"] = trust(asked, parts, results, found, tuned=tuned, unfinished=unfinished)
    return found


def _split(asked: Setting, result: Result) -> dict[str, Any]:
    split: Split[Any] = asked.split
    sizes = {"train": split.train, "visible": split.visible, "held out": split.held_out}
    about = result.about
    return {
        "how": split.how,
        "rows": {name: len(part) for name, part in sizes.items() if part is not None},
        "cases": len(result),
        "left_out": dict(about.skipped),
        "relevant": about.relevant, "candidates": _candidates(asked, about.candidates), "excluded": about.excluded,
    }  # fmt: skip


def _candidates(asked: Setting, candidates: str) -> str:
    return f"all {len(asked.data.items):,} items" if candidates == "everything" else candidates


def _examples(asked: Setting, parts: Sequence[Part]) -> list[dict[str, Any]]:
    judged = asked.judged
    if not isinstance(judged, Cases):
        return []
    lists = {part.name: part.lists for part in parts if part.lists}
    return examples.shown(asked.split, judged, asked.people, lists, asked.titles)


class Steps:
    """How far a comparison is: told to whoever wants to know."""

    def __init__(self, names: list[str], progress: Progress | None) -> None:
        self.names, self.progress, self.name = names, progress, ""

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """While one model is measured."""
        self.name = name
        self.at("fitting", 0.0)
        yield
        self.at("done", 1.0)

    def compare(self) -> None:
        """When all are measured."""
        if self.progress is not None:
            self.progress("comparing them", 1.0)

    def at(self, what: str, share: float) -> None:
        """The share of this model that is done."""
        if self.progress is not None:
            self.progress(f"{self.name}: {what}", (self.names.index(self.name) + share) / len(self.names))

    def fitting(self, done: int, of: int, objective: float) -> None:
        """After every sweep or epoch."""
        self.at(f"fitting, {done} of {of}", 0.9 * done / max(of, 1))

    def tuning(self, done: int, of: int, best: float | None, text: str) -> None:
        """After every trial, and between."""
        told = "" if best is None else f", best {best:.4f}"
        self.at(f"tuning, {done} of {of}{told} {text}".rstrip(), 0.8 * done / max(of, 1))
