"""Names that the pages mention are where they say."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import fullrank
from fullrank import metrics
from tests.test_docs_papers import there

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), DOCS.parent / "README.md"])
NAMED = re.compile(
    r"(?<![\w./-])((?:fullrank|metrics|evaluation|simulate|sources)(?:\.(?!md\b)[A-Za-z_]\w*)+)(?![\w/-])"
)
IMPORTED = re.compile(r"^from (fullrank[\w.]*) import ([\w, ]+)$", re.MULTILINE)


def mentioned(text: str) -> set[str]:
    """Dotted names of the package in prose and examples, in full.

    >>> sorted(mentioned("`metrics.parse(x)`, then fullrank.rank(model, split) and my/fullrank.toml"))
    ['fullrank.metrics.parse', 'fullrank.rank']
    """
    dotted = {name if name.startswith("fullrank") else f"fullrank.{name}" for name in NAMED.findall(text)}
    for module, names in IMPORTED.findall(text):
        dotted |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return dotted


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_every_dotted_name_is_there(page: Path) -> None:
    missing = {name for name in mentioned(page.read_text(encoding="utf-8")) if not there(name)}
    assert missing == set()


def test_a_name_that_is_nowhere_is_seen() -> None:
    assert mentioned("`metrics.no_such`\nfrom fullrank.metrics import recall, nor_this\n") == {
        "fullrank.metrics", "fullrank.metrics.no_such", "fullrank.metrics.recall", "fullrank.metrics.nor_this",
    }  # fmt: skip
    assert not there("fullrank.metrics.no_such")
    assert there("fullrank.metrics.partial_order.fcp")


def test_every_measure_is_in_the_package_of_measures() -> None:
    """By its own name; but `metrics.edrc` is the module of EDRC, and the measure is in it and in the table."""
    for name, measure in metrics.METRICS.items():
        home = importlib.import_module("fullrank.metrics.ordered") if name == "edrc" else metrics
        assert getattr(home, name) is measure
        assert name == "edrc" or name in metrics.__all__
    assert set(fullrank.__all__) <= set(dir(fullrank))
