from __future__ import annotations

import re
from typing import Any

import pytest

from fullrank.comparison import tables
from fullrank.comparison.results import Results
from tests.report.fixture import bare, results


@pytest.fixture
def content() -> dict[str, Any]:
    return results()


def test_text_fits_the_width_and_names_everything(content: dict[str, Any]) -> None:
    shown = tables.text(Results.from_json(content), width=80)
    body = shown.split("\n\nIn brackets")[0]
    assert max(map(len, body.splitlines())) <= 80
    for metric in content["metrics"]:
        assert re.search(re.escape(metric["name"]) + ("†" if metric["unbiased"] else r"(\s|$)"), body)
    for model in content["models"]:
        assert model["name"] in shown
    assert shown.splitlines()[-1] == content["verdict"]["sentence"]
    assert "PureSVD <b> failed: The 'factors'" in shown


def test_text_has_one_block_where_there_is_room(content: dict[str, Any]) -> None:
    body, counted, *_ = tables.text(Results.from_json(content), width=400).split("\n\n")
    assert counted.splitlines()[0].endswith("as implicit counts (implicit 0.7.3), beside ours:")
    assert counted.splitlines()[-1] == "  all: equal scores stay as they were listed"
    assert [line.split()[0] for line in body.splitlines()[1:]] == [m["name"] for m in content["models"][:-1]]


def test_models_are_best_first_by_the_deciding_metric(content: dict[str, Any]) -> None:
    content["models"].reverse()
    assert [m.name for m in tables.ranked(Results.from_json(content))][:2] == ["AllRank", "IALS"]
    assert [m.name for m in tables.ranked(Results.from_json(content), "median rank")][:2] == ["AllRank", "IALS"]


def test_a_model_without_a_value_is_last_and_shown_as_a_dash(content: dict[str, Any]) -> None:
    del content["models"][0]["metrics"]["recall@10"]
    content["models"][1]["metrics"]["recall@10"].update(mean=None, low=None, high=None, group="")
    assert [m.name for m in tables.ranked(Results.from_json(content))][-2:] == ["AllRank", "IALS"]
    assert re.search(r"^IALS +–", tables.text(Results.from_json(content)), re.MULTILINE)


def test_leaders_share_a_letter_with_the_best(content: dict[str, Any]) -> None:
    assert tables.leaders(Results.from_json(content), "recall@10") == {"AllRank", "IALS"}
    content["models"][1]["metrics"]["recall@10"]["group"] = "b"
    assert tables.leaders(Results.from_json(content), "recall@10") == {"AllRank"}
    assert tables.leaders(Results.from_json(content), "nothing") == set()


def test_markdown_has_as_many_cells_in_every_line(content: dict[str, Any]) -> None:
    content["models"][0]["name"] = "a|b *c*"
    lines = [line for line in tables.markdown(Results.from_json(content)).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 7
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {2 + len(content["metrics"])}
    assert r"a\|b \*c\*" in lines[2]


def test_latex_escapes_what_is_special(content: dict[str, Any]) -> None:
    content["models"][0]["name"] = r"50% & \more_ {x} #1 $ ~ ^"
    content["verdict"]["sentence"] = "one\ntwo"
    shown = tables.latex(Results.from_json(content))
    escaped = r"50\% \& \textbackslash{}more\_ \{x\} \#1 \$ \textasciitilde{} \textasciicircum{}"
    assert escaped in shown
    assert "% one two" in shown
    body = [line for line in shown.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {len(content["metrics"])}


def test_the_least_a_comparison_can_hold() -> None:
    for function in (tables.text, tables.markdown, tables.latex):
        assert "AllRank" in function(Results.from_json(bare()))


def test_no_model_was_measured(content: dict[str, Any]) -> None:
    content["models"] = content["models"][-1:]
    for function in (tables.text, tables.markdown, tables.latex):
        assert "failed" in function(Results.from_json(content))


def one_model(name: str, sentence: str, unbiased: bool = True) -> Results:
    """A comparison of one model by one metric, as small as its table can be."""
    content = bare()
    content["metrics"] = [{**content["metrics"][0], "unbiased": unbiased}]
    value = {"mean": 0.21, "low": 0.19, "high": 0.23, "group": "a"}
    content["models"] = [{**content["models"][0], "name": name, "metrics": {"recall@10": value}}]
    content["verdict"]["sentence"] = sentence
    return Results.from_json(content)


LEGEND = "In brackets 95% intervals; models that share a letter cannot be told apart."
MISSING = "† stays unbiased when ratings are missing not at random, as long as relevant ones are missing at random"


def test_text_to_the_letter() -> None:
    assert tables.text(one_model("AllRank", "Use AllRank.")).splitlines() == [
        "         recall@10†", "AllRank  0.210 [0.190, 0.230] a", "", LEGEND, MISSING, "Use AllRank.",
    ]  # fmt: skip


def test_markdown_to_the_letter() -> None:
    assert tables.markdown(one_model("All|Rank", "Use it.", unbiased=False)).splitlines() == [
        "| model | recall@10 |", "|:---|---:|",
        r"| All\|Rank | **0.210** [0.190, 0.230] a |", "", LEGEND, "", "Use it.",
    ]  # fmt: skip


def test_latex_to_the_letter() -> None:
    assert tables.latex(one_model("All_Rank", "100% sure.")).splitlines() == [
        r"% needs \usepackage{booktabs}", r"\begin{tabular}{lr}", r"\toprule", r"Model & recall@10$^\dagger$ \\",
        r"\midrule", r"All\_Rank & \textbf{0.210} {\scriptsize [0.190, 0.230]}\textsuperscript{a} \\",
        r"\bottomrule", r"\end{tabular}", f"% {LEGEND}", f"% {MISSING}", "% 100% sure.",
    ]  # fmt: skip
