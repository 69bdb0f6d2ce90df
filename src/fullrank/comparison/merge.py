"""Comparisons of the same split as one: their models beside each other, as if they had been compared together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fullrank.comparison import findings
from fullrank.comparison.comparison import Comparison
from fullrank.comparison.pairs import all_pairs
from fullrank.comparison.provenance import result_id
from fullrank.comparison.results import Caveat, Example, Results
from fullrank.comparison.runs import Part, Store
from fullrank.comparison.verdict import decide, trusted
from fullrank.errors import DataError, NoInputError
from fullrank.evaluation.result import evaluate
from fullrank.metrics.table import parse


def read_results(folder: str | Path) -> Results:
    """The results.json of a comparison."""
    path = Path(folder) / "results.json" if Path(folder).is_dir() else Path(folder)
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise NoInputError(f"{path}: cannot be read ({error.strerror or error}); give the folder of a comparison.") from error  # fmt: skip # noqa: E501
    except ValueError as error:
        raise DataError(f"{path}: is no JSON ({error}); give the folder of a comparison.") from error
    return Results.from_json(content, str(path))


def merge(folders: Sequence[str | Path]) -> Comparison:
    """The models of all these comparisons; refused unless they were judged on the same."""
    each = [read_results(folder) for folder in folders]
    for folder, other in zip(folders[1:], each[1:], strict=True):
        _check_same(folders[0], each[0], folder, other)
    if len(each) == 1:
        return Comparison(each[0])
    parts: list[Part] = []
    for folder, results in zip(folders, each, strict=True):
        parts += _read_parts(Path(folder), results, {part.name for part in parts})
    return Comparison(_together(each, parts))


def _check_same(first: str | Path, one: Results, folder: str | Path, other: Results) -> None:
    if one.manifest.split != other.manifest.split or one.manifest.seed != other.manifest.seed:
        what = "the split" if one.manifest.split != other.manifest.split else "the seed"
        raise DataError(f"{first} and {folder} cannot be merged: {what} differs; compare on the same split.")
    if one.manifest.protocol != other.manifest.protocol:
        raise DataError(
            f"{first} and {folder} cannot be merged: they are not of one sealed protocol; judge both by it."
        )
    for name in ("relevant", "candidates", "excluded"):
        here, there = getattr(one.split, name), getattr(other.split, name)
        if here != there:
            both = f"'{here}' and '{there}'"
            raise DataError(f"{first} and {folder} cannot be merged: {name} differs, {both}; compare in the same way.")


def _read_parts(folder: Path, results: Results, taken: set[str]) -> list[Part]:
    """The parts of one comparison; models of the same name get the folder's."""
    store, parts = Store(folder / "parts", ""), []
    for model in results.models:
        try:
            _, part = store.read(model.name)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{folder}: the parts of {model.name} are missing or damaged; compare again.") from error
        parts.append(part if part.name not in taken else replace(part, name=f"{part.name} ({folder.name})"))
    return parts


def _together(each: Sequence[Results], parts: Sequence[Part]) -> Results:
    first = each[0]
    metrics = [parse(metric.name) for metric in first.metrics]
    results = {part.name: evaluate(part.ranks, metrics) for part in parts if part.ranks is not None}
    pairs = all_pairs(results, first.manifest.seed)
    sampled = first.sampled and findings.simulate_sampling(parts, metrics, pairs, first.sampled.m, first.manifest.seed)
    merged = replace(
        first,
        verdict=decide(trusted(parts, results), pairs),
        trust=_caveats(each),
        models=findings.summarise_models(parts, results, pairs),
        pairs=pairs,
        sampled=sampled,
        examples=_examples(each, parts),
        truth=findings.compare_to_truth(parts, results, pairs),
    )
    if not first.manifest.protocol:
        return merged
    return replace(merged, manifest=replace(merged.manifest, result=result_id(merged)))


def _caveats(each: Sequence[Results]) -> tuple[Caveat, ...]:
    """Those of all, each once, warnings first."""
    every = dict.fromkeys(caveat for results in each for caveat in results.trust)
    return tuple(sorted(every, key=lambda caveat: caveat.level != "warning"))


def _examples(each: Sequence[Results], parts: Sequence[Part]) -> tuple[Example, ...]:
    """The same people, with the lists of all models, in the order of the parts."""
    names = [part.name for part in parts if part.lists]
    examples = []
    for place, example in enumerate(each[0].examples):
        lists = [items for results in each for items in results.examples[place].lists.values()]
        examples.append(replace(example, lists=dict(zip(names, lists, strict=True))))
    return tuple(examples)
