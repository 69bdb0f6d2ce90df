"""Signatures of models say what they take and give."""

import ast
from collections.abc import Iterator
from pathlib import Path

import fullrank

MODELS = Path(fullrank.__file__).parent / "models"


def annotations(source: str) -> Iterator[ast.expr]:
    """Of parameters, results and fields."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.ClassDef):
            yield from (part.annotation for part in node.body if isinstance(part, ast.AnnAssign))


def says_any(annotation: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "Any" for part in ast.walk(annotation))


def test_hardly_anything_is_of_any_type() -> None:
    whole = [one for path in MODELS.rglob("*.py") for one in annotations(path.read_text())]
    assert len(whole) > 1000
    assert sum(map(says_any, whole)) < 0.05 * len(whole)


def test_annotations_are_counted_wherever_they_stand() -> None:
    source = "class A:\n    x: list[Any]\n    def f(self, *y: Any, z: int = 0) -> Any:\n        w: Any = y\n"
    assert [says_any(one) for one in annotations(source)].count(True) == 3
