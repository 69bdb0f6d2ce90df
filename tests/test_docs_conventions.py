"""The page on how other libraries count has the tables that the code makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from fullrank.evaluation.conventions import CONVENTIONS

DOCS = Path(__file__).resolve().parents[1] / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conventions_page", DOCS / "conventions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_code() -> None:
    """`python docs/conventions.py` writes them again."""
    page = (DOCS / "conventions.md").read_text(encoding="utf-8")
    assert script().renewed(page) == page


def test_a_changed_table_is_seen() -> None:
    page = (DOCS / "conventions.md").read_text(encoding="utf-8")
    changed = page.replace("| k | `precision` |", "| k | `recall` |", 1)
    assert changed != page
    assert script().renewed(changed) == page


def test_every_library_and_measure_is_there() -> None:
    page = (DOCS / "conventions.md").read_text(encoding="utf-8")
    for convention in CONVENTIONS.values():
        assert f"| {convention.title} | {convention.checked or 'not run'} |" in page
        for measure in convention.measures:
            assert f"| {convention.title} | `{measure.name.replace('{k}', 'k')}` |" in page


def test_the_example_of_the_page_runs() -> None:
    page = (DOCS / "conventions.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(compile(code, "conventions.md", "exec"), names)
    row = names["row"]
    assert (row.measure, row.ours) == ("NDCG@10", "ndcg@10")  # type: ignore[attr-defined]
    assert "a person without a list is left out" in row.sentence  # type: ignore[attr-defined]
