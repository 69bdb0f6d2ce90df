"""Every parameter of a public recipe is explained beside it, where Sphinx finds it."""

import ast
import inspect
from dataclasses import fields
from textwrap import dedent
from typing import Any

import pytest

from fullrank.models import RECIPES, PostFiltered, PreFiltered, RankLoss

PUBLIC = [*RECIPES.values(), PreFiltered, PostFiltered, RankLoss]


def explained(source: str) -> set[str]:
    """The fields that a class declares right below a line that begins with `#:`."""
    lines, (whole, *_) = source.splitlines(), ast.parse(source).body
    declared = [node for node in ast.walk(whole) if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target) for node in declared if lines[node.lineno - 2].lstrip().startswith("#: ")}


@pytest.mark.parametrize("recipe", PUBLIC, ids=lambda recipe: str(recipe.__name__))
def test_every_parameter_is_explained(recipe: Any) -> None:
    """Fields that come from another class are explained there."""
    ours = [kind for kind in recipe.__mro__ if kind.__module__.startswith("fullrank.")]
    there = {name for kind in ours for name in explained(inspect.getsource(kind))}
    assert {field.name for field in fields(recipe)} <= there


def test_a_parameter_without_words_is_noticed() -> None:
    source = """
    class Recipe:
        #: length of the vectors
        factors: int = 3
        reg: float = 0.1  # Sphinx does not show this
    """
    assert explained(dedent(source).strip()) == {"factors"}
