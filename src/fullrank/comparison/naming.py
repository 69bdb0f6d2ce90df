"""Recipes by the names they have in a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias, cast

from fullrank.comparison.outside import is_outside, name_outside
from fullrank.errors import ParameterError, did_you_mean
from fullrank.models.kinds.model import Model
from fullrank.models.protocols import Recipe
from fullrank.models.recipes import RECIPES

AnyRecipe: TypeAlias = Recipe[Any, Model]
Compared: TypeAlias = Any  # a recipe's name, a recipe, a fitted model, OutsideLists, or anything that scores
Chosen: TypeAlias = Mapping[str, Compared] | Sequence[Compared]
Suits: TypeAlias = Mapping[str, float | None]  # parameters on the scale of the data
Recipes: TypeAlias = Chosen | Callable[[Suits], Chosen]  # or what makes them for such parameters


def name_recipes(recipes: Recipes, suits: Suits | None = None) -> dict[str, Compared]:
    """Recipes by the name they have in the comparison; those given by name have the parameters that suit the data."""
    pairs: Iterable[tuple[str, Compared]]
    if callable(recipes):
        recipes = recipes(suits or {})
    pairs = recipes.items() if isinstance(recipes, Mapping) else [(_name(one), one) for one in recipes]
    by_name: dict[str, Compared] = {}
    for name, recipe in pairs:
        if name in by_name:
            raise ParameterError(f"two models are called '{name}'; give them names: {{'one': ..., 'other': ...}}.")
        by_name[name] = make_recipe(recipe, suits) if isinstance(recipe, str) else recipe
    if not by_name:
        raise ParameterError(f"there is no model to compare. Known: {', '.join(RECIPES)}.")
    return by_name


def _name(one: Compared) -> str:
    if isinstance(one, str):
        return one
    return name_outside(one) if is_outside(one) else type(one).__name__


def make_recipe(name: str, suits: Suits | None = None, **parameters: Any) -> AnyRecipe:
    """The recipe of a name, whatever its case; of what `suits` the data it takes what it has and was not given."""
    known = {known.lower(): kind for known, kind in RECIPES.items()}
    if name.lower() not in known:
        raise ParameterError(f"'{name}' is not a model. {did_you_mean(name, list(RECIPES))}")
    kind: Any = known[name.lower()]
    names = [part.name for part in fields(kind) if part.init]
    for parameter in parameters:
        if parameter not in names:
            raise ParameterError(
                f"'{parameter}' is not a parameter of {kind.__name__}. {did_you_mean(parameter, names)}"
            )
    parameters = {name: value for name, value in (suits or {}).items() if name in names} | parameters
    return cast(AnyRecipe, kind(**parameters))
