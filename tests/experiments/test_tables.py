from __future__ import annotations

import re
from typing import Any

import pytest

from fullrank.experiments import tables
from tests.report.fixture import bare, results


@pytest.fixture
def found() -> dict[str, Any]:
    return results()


def test_text_fits_the_width_and_names_everything(found: dict[str, Any]) -> None:
    shown = tables.text(found, width=80)
    body = shown.split("\n\nIn brackets")[0]
    assert max(map(len, body.splitlines())) <= 80
    for metric in found["metrics"]:
        assert re.search(re.escape(metric["name"]) + ("†" if metric["ubm"] else r"(\s|$)"), body)
    for model in found["models"]:
        assert model["name"] in shown
    assert shown.splitlines()[-1] == found["verdict"]["sentence"]
    assert "PureSVD <b> failed: The 'factors'" in shown


def test_text_has_one_block_where_there_is_room(found: dict[str, Any]) -> None:
    body = tables.text(found, width=400).split("\n\nIn brackets")[0]
    assert body.count("\n\n") == 0
    assert [line.split()[0] for line in body.splitlines()[1:]] == [m["name"] for m in found["models"][:-1]]


def test_models_are_best_first_by_the_deciding_metric(found: dict[str, Any]) -> None:
    found["models"].reverse()
    assert [m["name"] for m in tables.ranked(found)][:2] == ["AllRank", "IALS"]
    assert [m["name"] for m in tables.ranked(found, "median rank")][:2] == ["AllRank", "IALS"]


def test_a_model_without_a_value_is_last_and_shown_as_a_dash(found: dict[str, Any]) -> None:
    del found["models"][0]["metrics"]["recall@10"]
    found["models"][1]["metrics"]["recall@10"].update(mean=None, low=None, high=None, group="")
    assert [m["name"] for m in tables.ranked(found)][-2:] == ["AllRank", "IALS"]
    assert re.search(r"^IALS +–", tables.text(found), re.MULTILINE)


def test_leaders_share_a_letter_with_the_best(found: dict[str, Any]) -> None:
    assert tables.leaders(found, "recall@10") == {"AllRank", "IALS"}
    found["models"][1]["metrics"]["recall@10"]["group"] = "b"
    assert tables.leaders(found, "recall@10") == {"AllRank"}
    assert tables.leaders(found, "nothing") == set()


def test_markdown_has_as_many_cells_in_every_line(found: dict[str, Any]) -> None:
    found["models"][0]["name"] = "a|b *c*"
    lines = [line for line in tables.markdown(found).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 7
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {2 + len(found["metrics"])}
    assert r"a\|b \*c\*" in lines[2]


def test_latex_escapes_what_is_special(found: dict[str, Any]) -> None:
    found["models"][0]["name"] = r"50% & \more_ {x} #1 $ ~ ^"
    found["verdict"]["sentence"] = "one\ntwo"
    shown = tables.latex(found)
    escaped = r"50\% \& \textbackslash{}more\_ \{x\} \#1 \$ \textasciitilde{} \textasciicircum{}"
    assert escaped in shown
    assert "% one two" in shown
    body = [line for line in shown.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {len(found["metrics"])}


def test_the_least_a_comparison_can_hold() -> None:
    for function in (tables.text, tables.markdown, tables.latex):
        assert "AllRank" in function(bare())


def test_no_model_was_measured(found: dict[str, Any]) -> None:
    found["models"] = found["models"][-1:]
    for function in (tables.text, tables.markdown, tables.latex):
        assert "failed" in function(found)
