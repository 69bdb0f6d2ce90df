"""The pages on the five documents, and the script that fills in what was measured."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAGES = Path(__file__).resolve().parents[1] / "docs" / "papers"
PAPERS = ("steck2010", "krichene2020", "ackerman2012", "lim2015", "steck2015")
SECTIONS = [
    "What it claims", "How it is implemented here", "Errata", "What we measured", "Where we go beyond", "Cite",
]  # fmt: skip


@pytest.fixture(scope="module")
def measured() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measured", PAGES / "measured.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def number(row: str, column: str, ours: float, published: float | None = None, **more: Any) -> dict[str, Any]:
    cell = {"row": row, "column": column, "ours": ours, "published": published}
    return cell | {"digits": 2, "holds": True, "within": 0.1} | more


def shown(name: str, rows: int = 2, **more: Any) -> dict[str, Any]:
    numbers = [number(f"row {n}", column, n / 8, 0.25) for n in range(rows) for column in ("recall@10 | all", "auc")]
    claims = [{"text": "Z leads | by far", "holds": False, "seen": "X_1 <b>"}]
    return {
        "name": name, "title": "A *table*", "place": "Table 1", "why": "", "stands_in": "", "missing": [],
        "colour": "red", "numbers": numbers, "claims": claims, "figures": [],
    } | more  # fmt: skip


@pytest.mark.parametrize("paper", PAPERS)
def test_every_page_has_its_sections_in_order_and_one_place_for_what_was_measured(paper: str) -> None:
    page = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == SECTIONS
    part = page.split("## What we measured")[1].split("## Where we go beyond")[0]
    assert part.count(f"<!-- measured {paper} -->") == part.count("<!-- end -->") == 1
    assert page.count("<!-- ") == 2
    assert "statements hold" in part  # it was filled


@pytest.mark.parametrize("paper", [*PAPERS, "index"])
def test_every_name_of_the_package_on_a_page_is_there(paper: str) -> None:
    page = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`(fullrank(?:\.\w+)+)`", page))
    assert names
    for name in sorted(names):
        assert there(name), name


def there(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):  # a function may have the name of its module
        try:
            value: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return part in getattr(value, "__dataclass_fields__", {})
            value = getattr(value, part)
        return True
    return False


def test_the_index_lists_all_pages() -> None:
    page = (PAGES / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^(\w+\d{4})$", page, re.MULTILINE) == list(PAPERS)


def test_the_examples_of_the_script_hold(measured: ModuleType) -> None:
    assert doctest.testmod(measured).failed == 0


def test_pages_are_filled_and_filling_again_changes_nothing(measured: ModuleType, tmp_path: Path) -> None:
    for paper in PAPERS:
        shutil.copy(PAGES / f"{paper}.md", tmp_path)
    results = {name: shown(name) for name in ("steck2010-table2", "steck2010-table10", "lim2015-table1")}
    kept = tmp_path / "shown.json"
    kept.write_text(json.dumps(results), encoding="utf-8")
    before = {paper: (tmp_path / f"{paper}.md").read_text(encoding="utf-8") for paper in PAPERS}
    pages = []
    for _ in range(2):
        assert measured.main([str(kept)], tmp_path) == 0
        pages.append({paper: (tmp_path / f"{paper}.md").read_text(encoding="utf-8") for paper in PAPERS})
    assert pages[0] == pages[1]
    assert [paper for paper in PAPERS if pages[0][paper] != before[paper]] == ["steck2010", "lim2015"]
    head, rest = pages[0]["steck2010"].split("<!-- measured steck2010 -->")
    assert rest.index("`steck2010-table2`") < rest.index("`steck2010-table10`") < rest.index("<!-- end -->")
    assert head == before["steck2010"].split("<!-- measured steck2010 -->")[0]
    assert rest.split("<!-- end -->")[1] == before["steck2010"].split("<!-- end -->")[1]


def test_the_table_has_rows_down_and_columns_across_and_pipes_are_escaped(measured: ModuleType) -> None:
    cells = [number("a|b", "x", 0.5, 0.25, holds=False), number("a|b", "y", 1.0), number("c", "y", float("nan"))]
    assert measured.numbers(cells).splitlines() == [
        "|  | x | y |",
        "| --- | ---: | ---: |",
        r"| a\|b | 0.50 (0.25) ✗ | 1.00 |",
        "| c |  | – |",
    ]
    text = measured.exhibit(shown("krichene2020-table3"))
    assert r"recall@10 \| all" in text
    assert r"- ✗ Z leads \| by far (X\_1 \<b\>)" in text
    assert "0 of 1 statements hold, 4 of 4 numbers are within their tolerance." in text


def test_numbers_of_other_data_are_not_said_to_be_within_a_tolerance(measured: ModuleType) -> None:
    beside = [number("a", "x", 0.5, 0.25, within=None), number("b", "x", 0.5)]
    text = measured.result(shown("lim2015-table1", claims=[], numbers=beside, colour="green"))
    assert text == "1 published numbers are shown beside ours, not judged"


def test_long_tables_are_folded(measured: ModuleType) -> None:
    assert "<details>" not in measured.exhibit(shown("krichene2020-table3", rows=measured.LONGEST))
    text = measured.exhibit(shown("krichene2020-table3", rows=measured.LONGEST + 1))
    assert "<summary>25 rows</summary>\n\n|" in text
    assert text.endswith("|\n\n</details>")


def test_what_was_not_run_says_so(measured: ModuleType) -> None:
    text = measured.exhibit(shown("steck2010-table3", colour=None, numbers=[], claims=[], missing=["netflix"]))
    assert text.endswith("not run, netflix is not there.")


def test_a_page_without_its_marks_is_refused(measured: ModuleType) -> None:
    with pytest.raises(ValueError, match="measured steck2010"):
        measured.fill("nothing here", "steck2010", {})
