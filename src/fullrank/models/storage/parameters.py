"""Recipes and their parameters as JSON, and the way back: found in a table, never imported."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np

from fullrank.errors import FullrankError, ModelFileError, did_you_mean, shown
from fullrank.models.storage.header import _dumps, damaged

Recipes: TypeAlias = Mapping[str, type]


def recipe_to_json(recipe: object, recipes: Recipes) -> dict[str, Any]:
    """The name of a recipe and its parameters."""
    name = next((name for name, known in recipes.items() if type(recipe) is known), None)
    if name is None or not is_dataclass(recipe):
        raise ModelFileError(f"recipe {shown(recipe)} is not in the table of recipes and could not be loaded again.")
    kept = [part.name for part in fields(recipe) if part.init]
    return {"name": name, "parameters": {part: to_json(getattr(recipe, part), part) for part in kept}}


def recipe_from_json(entry: object, recipes: Recipes) -> Any:
    """The recipe again, found in a table and never imported; parameters a file is too old for have their defaults."""
    match entry:
        case {"name": str(name), "parameters": dict(entries), **others} if not others:
            parameters = {part: from_json(value) for part, value in entries.items()}
        case _:
            raise damaged(f"the recipe is {shown(entry)}")
    if name not in recipes:
        raise ModelFileError(
            f"unknown recipe {shown(name)}; upgrade fullrank, or fit again. {did_you_mean(name, list(recipes))}"
        )
    names = [part.name for part in fields(recipes[name]) if part.init]
    for part in sorted(parameters.keys() - names):
        raise ModelFileError(f"unknown parameter {shown(part)} of recipe '{name}'. {did_you_mean(part, names)}")
    try:
        return recipes[name](**parameters)
    except FullrankError:
        raise
    except Exception as error:  # a recipe may stumble over a type it never expects
        raise damaged(f"recipe '{name}' refuses its parameters ({error})") from error


def to_json(value: object, where: str) -> Any:
    """A parameter as JSON that gives the same back: tuples and dicts are marked as such."""
    value = value.item() if isinstance(value, np.generic) else value
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case list():
            return [to_json(part, where) for part in value]
        case tuple():
            return {"tuple": [to_json(part, where) for part in value]}
        case Mapping():
            pairs = [[to_json(key, where), to_json(part, where)] for key, part in value.items()]
            if all(map(_is_pair, pairs)):
                return {"dict": sorted(pairs, key=lambda pair: _dumps(pair[0]))}
    raise ModelFileError(f"{where}={shown(value)} cannot be kept in a file; use finite numbers, text, lists or dicts.")


def from_json(value: object) -> Any:
    """The parameter that `to_json` was given."""
    match value:
        case list():
            return [from_json(part) for part in value]
        case {"tuple": list(parts), **others} if not others:
            return tuple(from_json(part) for part in parts)
        case {"dict": list(pairs), **others} if not others and all(map(_is_pair, pairs)):
            return {key: from_json(part) for key, part in pairs}
        case dict():
            raise damaged(f"a parameter is {shown(value)}, which stands for nothing")
    return value


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], list | dict)
