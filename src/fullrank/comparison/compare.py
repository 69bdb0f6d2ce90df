"""The main job: fit recommenders on the same data, judge them on the full ranking, say which to use and how sure."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from fullrank.comparison import defaults, examples, findings
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.measuring import measure
from fullrank.comparison.naming import Compared, Recipes, name_recipes
from fullrank.comparison.pairs import all_pairs
from fullrank.comparison.profile import profile
from fullrank.comparison.progress import PHASES, Count, Progress, Steps
from fullrank.comparison.protocol import Setting, Truth, make_setting
from fullrank.comparison.provenance import fingerprint_of_split, manifest
from fullrank.comparison.results import FORMAT, Example, Manifest, Results, SplitSummary
from fullrank.comparison.runs import Part, Store
from fullrank.comparison.titles import Titles
from fullrank.comparison.verdict import caveats, decide, trusted
from fullrank.comparison.words import Words
from fullrank.errors import DataError, OutputError, check_integer
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.result import Result, evaluate
from fullrank.metrics.metric import Metric
from fullrank.models.kinds.model import Model
from fullrank.runtime.atomic import locked
from fullrank.runtime.output import output_folder
from fullrank.runtime.stopping import stop_if_asked
from fullrank.tuning.tune import need_optuna


def compare(
    data: Any,
    recipes: Recipes | None = None,
    *,
    split: str | None = None,
    relevant: float | None = None,
    metrics: Sequence[str | Metric] | None = None,
    tune: int = 0,
    seed: int = 0,
    kind: str | None = None,
    exclude: Literal["train"] | None = "train",
    repeat: bool = False,
    sampled: int = 100,
    title: str = "",
    titles: Titles = (),
    attributes: Words = (),
    truth: Truth | None = None,
    strict: bool = False,
    libraries: Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Fit recipes on the same part of the data, rank what was held out among all items, and compare.

    Parameters
    ----------
    data
        Ratings, events, sessions or preferences, or a `Split` of them. `Events` where people take an item again.
    recipes
        Names, recipes, or both by the name they are to have; by default those that suit the data. Of ratings, recipes
        that know one class are fed the relevant ones where they are given by name; recipes are taken as they are. Among
        them may be what was made elsewhere, judged as it is: fitted models, `OutsideLists`, what `from_implicit` and
        its like give, functions from users (codes) to scores, arrays (users, items).
    split
        "leave-last:5", "holdout:0.2", "time:0.2" or "time:2001-01-31"; by default the last fifth of all
        time of `Events`, else the last five of everybody where there are times, else a fifth at random.
    relevant
        The least rating that counts as relevant; by default the highest that 15% of all ratings reach.
    metrics
        Names or metrics; the first one decides.
    tune
        Trials for every recipe, on a part of the training data; 0 takes them as they are.
    seed
        Of the split, the fits and all that is drawn.
    kind
        "ratings", "events", "sessions" or "preferences", where the data should be taken for something else than it
        looks like.
    exclude
        "train" leaves what somebody has seen out of their candidates, None does not.
    repeat
        Of `Events`: whether what somebody had before stays a candidate, and counts where it was held out again.
    sampled
        Among how many sampled candidates models are ranked to show what that does.
    title
        What the report is called.
    titles
        Of the items: a dict by their ids, or one for each by code.
    attributes
        Words of the items, such as genres: a dict from ids to lists of words, or such a list for each by code. They
        tell how diverse lists are; no model learns from them.
    truth
        Gives all relevant interactions, where they are known.
    strict
        Whether irregular lists, and fitted models that know what is held out, are refused instead of told.
    libraries
        Names of other libraries, such as "implicit" or "trec_eval": the same lists as they count them, beside ours.
    out
        A folder that keeps what is done, so that an interrupted comparison goes on.
    overwrite
        Whether a comparison of something else in that folder is replaced.
    progress
        Called with what is going on and the share of everything that is done, while models rank from any thread.

    >>> import fullrank
    >>> world = fullrank.simulate.ratings(60, 80)
    >>> comparison = compare(world.data, ["Bestseller", fullrank.AllRank(factors=4)], split="holdout:0.2")
    >>> sorted(model.name for model in comparison.results.models)
    ['AllRank', 'Bestseller']
    """
    check_integer("tune", tune, 0)
    check_integer("sampled", sampled, 1)
    if tune:
        need_optuna()
    setting = make_setting(
        data, split=split, relevant=relevant, metrics=metrics, kind=kind, exclude=exclude, repeat=repeat, seed=seed,
        titles=titles, attributes=attributes, truth=truth, strict=strict,
        libraries=libraries,
    )  # fmt: skip
    if recipes is None:
        recipes = defaults.recipes(setting.kind, setting.split.train, setting.cut, repeat=setting.split.overlaps)
    named = name_recipes(recipes, setting.suits)
    _ = setting.judged  # nothing to judge is told before anything is fitted
    if strict:
        setting.check_leaks()
    folder = None if out is None else output_folder(Path(out))
    if folder is not None and not overwrite:
        _check_same(folder, setting)
    with nullcontext() if folder is None else locked(folder / "results.json"):
        return _run(setting, named, folder, title, tune, sampled, progress)


def _run(
    setting: Setting, recipes: dict[str, Compared], folder: Path | None, title: str, tune: int, sampled: int,
    progress: Progress | None,
) -> Comparison:  # fmt: skip
    start, started = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
    store = None if folder is None else Store(folder / "parts", f"{setting.key} {tune}")
    steps = Steps(list(recipes), progress, tuned=tune > 0)
    parts: list[Part] = []
    models: dict[str, Model] = {}
    interrupted: BaseException | None = None
    for name, recipe in recipes.items():
        try:
            stop_if_asked()
            with steps.of(name):
                part, model = measure(setting, name, recipe, tune, store, steps)
                models |= {name: model} if store is None and model is not None else {}
        except KeyboardInterrupt as error:
            interrupted = error
            break
        parts.append(part)
    unfinished = [name for name in recipes if name not in {part.name for part in parts}]
    if interrupted is not None and not parts:
        raise interrupted
    made = manifest(setting.data, setting.split, setting.seed, started, time.monotonic() - start)
    results = summarise(setting, parts, made, title, steps, sampled=sampled, tuned=tune > 0, unfinished=unfinished)
    comparison = Comparison(results, models, store)
    if folder is not None:
        comparison.save(folder)
    if interrupted is not None:
        raise Interrupted(comparison) from interrupted
    return comparison


def _check_same(folder: Path, setting: Setting) -> None:
    """Refuse a folder that holds a comparison of other data or another split."""
    try:
        before = json.loads((folder / "manifest.json").read_text())["split"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if before != fingerprint_of_split(setting.split):
        raise OutputError(
            f"{folder}: holds a comparison of other data or another split; choose another folder, or pass "
            "overwrite=True (--overwrite) to replace it."
        )


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a comparison; what was found so far is kept in `comparison`."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.comparison = comparison


def summarise(
    setting: Setting, parts: Sequence[Part], made: Manifest, title: str, steps: Steps, *, sampled: int, tuned: bool,
    unfinished: Sequence[str] = (),
) -> Results:  # fmt: skip
    """Everything a comparison found, from what was measured of every model."""
    metrics, pairwise, sampling, intervals = (steps.comparing(phase) for phase in PHASES)
    results = _evaluate(parts, setting.metrics, metrics)
    pairs = all_pairs(results, setting.seed, pairwise)
    verdict, data = decide(trusted(parts, results), pairs), profile(setting.data, setting.kind)
    panel = findings.simulate_sampling(parts, setting.metrics, pairs, sampled, setting.seed, sampling)
    return Results(
        format=FORMAT,
        title=title or f"{setting.kind} of {len(setting.data.users):,} users on {len(setting.data.items):,} items",
        verdict=verdict,
        trust=caveats(setting, parts, results, verdict, data, panel, tuned=tuned, unfinished=unfinished),
        data=data,
        split=_summarise_split(setting, next(iter(results.values()))),
        metrics=tuple(findings.summarise_metric(metric) for metric in setting.metrics),
        models=findings.summarise_models(parts, results, pairs, intervals),
        pairs=pairs,
        sampled=panel,
        examples=_examples(setting, parts),
        truth=findings.compare_to_truth(parts, results, pairs),
        manifest=made,
    )


def _evaluate(parts: Sequence[Part], metrics: Sequence[Metric], progress: Count) -> dict[str, Result]:
    """The metrics of every model that did not fail."""
    results = {}
    for done, part in enumerate(parts, start=1):
        if part.ranks is not None:
            results[part.name] = evaluate(part.ranks, metrics)
        progress(done, len(parts))
    if not results:
        raise DataError(f"no model could be fitted; the first failed because: {parts[0].failed}")
    return results


def _summarise_split(setting: Setting, result: Result) -> SplitSummary:
    split, about = setting.split, result.about
    rows = {"train": split.train, "visible": split.visible, "held out": split.held_out}
    candidates = f"all {len(setting.data.items):,} items" if about.candidates == "everything" else about.candidates
    return SplitSummary(
        split.how, {name: len(part) for name, part in rows.items() if part is not None}, len(result),
        dict(about.skipped), about.relevant, candidates, about.excluded,
        None if split.repeats is None else split.repeats.share,
    )  # fmt: skip


def _examples(setting: Setting, parts: Sequence[Part]) -> tuple[Example, ...]:
    judged = setting.judged
    if not isinstance(judged, Cases):
        return ()
    lists = {part.name: part.lists for part in parts if part.lists}
    return examples.show(setting.split, judged, setting.people, lists, setting.titles)
