"""Comparisons of the same split as one: their models beside each other, as if they had been compared together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fullrank.errors import DataError, NoInputError
from fullrank.evaluation.result import evaluate
from fullrank.experiments import findings
from fullrank.experiments.comparison import Comparison
from fullrank.experiments.pairs import all_pairs
from fullrank.experiments.parts import Part, Store
from fullrank.experiments.verdict import verdict
from fullrank.metrics.table import parse

SAME = {"split": "the split", "seed": "the seed"}  # of the manifests


def read_results(folder: str | Path) -> dict[str, Any]:
    """The results.json of a comparison."""
    path = Path(folder) / "results.json" if Path(folder).is_dir() else Path(folder)
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise NoInputError(f"{path}: cannot be read ({error.strerror or error}); give the folder of a comparison.") from error  # fmt: skip # noqa: E501
    except ValueError as error:
        raise DataError(f"{path}: is no JSON ({error}); give the folder of a comparison.") from error
    if not isinstance(found, dict) or found.get("format") != 1:
        raise DataError(f"{path}: is not the result of a comparison; give the folder of one.")
    return found


def merge(folders: Sequence[str | Path]) -> Comparison:
    """The models of all these comparisons; refused unless they were judged on the same."""
    found = [read_results(folder) for folder in folders]
    for folder, other in zip(folders[1:], found[1:], strict=True):
        _check_same(folders[0], found[0], folder, other)
    if len(found) == 1:
        return Comparison(found[0])
    parts: list[Part] = []
    for folder, results in zip(folders, found, strict=True):
        parts += _parts(Path(folder), results, {part.name for part in parts})
    return Comparison(_together(found, parts))


def _check_same(first: Any, one: dict[str, Any], folder: Any, other: dict[str, Any]) -> None:
    for key, what in SAME.items():
        if one["manifest"][key] != other["manifest"][key]:
            raise DataError(f"{first} and {folder} cannot be merged: {what} differs; compare on the same split.")
    for key in ("relevant", "candidates", "excluded"):
        if one["split"][key] != other["split"][key]:
            told = f"'{one['split'][key]}' and '{other['split'][key]}'"
            raise DataError(f"{first} and {folder} cannot be merged: {key} differs, {told}; compare in the same way.")


def _parts(folder: Path, results: dict[str, Any], taken: set[str]) -> list[Part]:
    """The parts of one comparison; models of the same name get the folder's."""
    store, found = Store(folder / "parts", ""), []
    for model in results["models"]:
        try:
            _, part = store.read(model["name"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{folder}: the parts of {model['name']} are missing or damaged; compare again.") from error
        name = part.name if part.name not in taken else f"{part.name} ({folder.name})"
        found.append(Part(**{**part.__dict__, "name": name}))
    return found


def _together(found: list[dict[str, Any]], parts: list[Part]) -> dict[str, Any]:
    first = found[0]
    metrics = [parse(metric["name"]) for metric in first["metrics"]]
    results = {part.name: evaluate(part.ranks, metrics) for part in parts if part.ranks is not None}
    pairs = all_pairs(results, first["manifest"]["seed"])
    told = {(note["level"], note["text"]): None for one in found for note in one["trust"]}
    return {
        **first,
        "verdict": verdict(results, pairs),
        "trust": [{"level": level, "text": text} for level, text in sorted(told, key=lambda t: t[0] != "warning")],
        "models": findings.model_parts(parts, results, pairs),
        "pairs": pairs,
        "sampled": first["sampled"]
        and findings.sampled(parts, metrics, pairs, first["sampled"]["m"], first["manifest"]["seed"]),
        "examples": _examples(found, parts),
        "truth": findings.truth(parts, results, pairs),
    }


def _examples(found: list[dict[str, Any]], parts: list[Part]) -> list[dict[str, Any]]:
    """The same people, with the lists of all models, in the order of the parts."""
    rows = []
    for place, example in enumerate(found[0]["examples"]):
        lists = [items for one in found for items in one["examples"][place]["lists"].values()]
        names = [part.name for part in parts if part.lists]
        rows.append({**example, "lists": dict(zip(names, lists, strict=True))})
    return rows
