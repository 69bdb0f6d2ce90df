from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.comparison.results import Results
from fullrank.errors import OutputError
from fullrank.report import render, write
from tests.report.fixture import HOSTILE, bare, results

EMPTY = {"meta", "input", "br", "img"}
SECTIONS = [
    "models",
    "trust",
    "elsewhere",
    "ranking",
    "best",
    "lists",
    "tuning",
    "sampling",
    "complete",
    "people",
    "data",
    "making",
]


class Outline(HTMLParser):
    """Tags in order, what is open, texts, and the contents of scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


@pytest.fixture(scope="module")
def page() -> str:
    return render(Results.from_json(results()))


def test_a_page_is_whole_and_well_formed(page: str) -> None:
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert not outline.open
    ids = [attributes["id"] for _, attributes in outline.attributes if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert len(outline.scripts) == 5


def test_sections_are_there_in_order(page: str) -> None:
    assert re.findall(r'<h2 id="([^"]+)"', page) == SECTIONS
    assert re.findall(r'href="#([^"]+)"', page) == SECTIONS


def test_sections_without_data_are_left_out() -> None:
    shown = render(Results.from_json(bare()))
    assert re.findall(r'<h2 id="([^"]+)"', shown) == ["models", "data", "making"]
    assert "<figure" not in shown
    assert 'aria-label="Lists' not in shown


def test_a_page_is_small() -> None:
    assert len(render(Results.from_json(results(models=20))).encode()) < 2_000_000


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    for tag, attributes in Outline(page).attributes:
        assert "src" not in attributes, tag
        assert tag not in ("link", "iframe", "object", "base")
        if "href" in attributes:
            assert str(attributes["href"]).startswith("#")
    assert "sourceMappingURL" not in page
    assert "url(" not in page[: page.index("</style>")]


def test_the_policy_names_every_script_that_runs(page: str) -> None:
    outline = Outline(page)
    policy = next(str(a["content"]) for tag, a in outline.attributes if tag == "meta" and "http-equiv" in a)
    assert "unsafe-eval" not in policy
    assert policy.startswith("default-src 'none'")
    for script in outline.scripts[1:]:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_every_chart_has_its_panels_and_its_table(page: str) -> None:
    charts = json.loads(Outline(page).scripts[0])
    figures = re.findall(r'<figure id="([^"]+)".*?</figure>', page, re.DOTALL)
    assert sorted(charts) == sorted(figures)
    for name in charts:
        figure = page[page.index(f'<figure id="{name}"') :].split("</figure>", maxsplit=1)[0]
        assert figure.count('<div class="panel">') == len(charts[name]["panels"]) > 0
        assert figure.count("<details>") == 1
        assert figure.count("<tbody>") == 1


def test_the_verdict_and_all_models_are_shown(page: str) -> None:
    found, text = results(), Outline(page).text
    assert found["verdict"]["sentence"] in text
    for model in found["models"]:
        assert model["name"] in text
    assert found["models"][-1]["failed"] in text
    for note in found["trust"]:
        assert note["text"] in text
    assert found["manifest"]["data"] in text


def test_warnings_come_first_and_look_different(page: str) -> None:
    marked = re.findall(r'<li class="(warning|note)"><b>(\w+)', page)
    assert marked == [("warning", "Failed"), ("warning", "Warning"), ("note", "Note")]


def test_unbiased_metrics_are_marked_and_explained(page: str) -> None:
    head = page[page.index('<table class="models">') :].split("</thead>", maxsplit=1)[0]
    assert re.findall(r'>([\w@ ]+)<abbr class="mark"', head) == ["recall@10", "atop"]
    assert "unbiased when ratings are missing not at random" in Outline(page).text


def test_every_metric_has_its_definition(page: str) -> None:
    outline, metrics = Outline(page), results()["metrics"]
    ids = [a["id"] for tag, a in outline.attributes if tag == "div" and "popover" in a]
    openers = [a["popovertarget"] for _, a in outline.attributes if a.get("class") == "define"]
    closers = [a["popovertarget"] for _, a in outline.attributes if a.get("popovertargetaction") == "hide"]
    assert ids == openers == closers == [f"metric-{n}" for n in range(1, 1 + len(metrics))]
    for metric, rest in zip(metrics, page.split('class="definition"')[1:], strict=True):
        part = rest.split("</div>", maxsplit=1)[0]
        assert f"<p>{metric['text']}</p><pre>{metric['name']} = &lt;hits&gt; / |R|</pre><p>In [0, 1].</p>" in part
        assert ("Stays unbiased" in part, "Lower is better" in part) == (metric["unbiased"], metric["lower_is_better"])


def test_the_lists_have_a_column_for_everything_measured(page: str) -> None:
    content = results()
    table = page[page.index('<h2 id="lists"') :].split("</section>", maxsplit=1)[0]
    columns = ["coverage", "bestsellers", "novelty", "personalisation", "diversity"]
    assert re.findall(r'<th scope="col">(\w+)</th>', table) == ["model", *columns]
    assert re.findall(r"<dt>(\w+)</dt>", table) == columns
    cells = re.findall(r"<td>([^<]*)</td>", table)
    assert cells[:5] == ["60.0%", "50.0%", "8.00 bits", "80.0%", "75.0%"]
    assert cells[-2] == "–"
    for model in content["models"][:-1]:
        model["lists"]["diversity"] = None
    assert "diversity" not in render(Results.from_json(content))


def test_leaders_are_bold_and_letters_shown(page: str) -> None:
    table = page[page.index('<table class="models">') :].split("</table>", maxsplit=1)[0]
    assert table.count('class="leads"') == 2 * 5
    assert re.findall(r'class="group"[^>]*>(\w+)<', table)[::5] == ["a", "a", "b", "b", "c", "c", "d"]


def test_hits_are_marked_in_words_too(page: str) -> None:
    hits = sum(one["hit"] for user in results()["examples"] for found in user["lists"].values() for one in found)
    assert hits > 0
    assert page.count('<td class="hit">') == page.count('<span class="unseen">hit: </span>') == hits


def test_known_attacks_stay_text(page: str) -> None:
    text = Outline(page).text
    for title in HOSTILE:
        assert title in text
    assert "<img" not in page
    assert page.count("</script>") == 5


hostile = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=30), st.from_regex(r"[<>/!'\"&a-z-]{1,20}"))


@settings(max_examples=25)
@given(hostile, hostile, hostile)
def test_no_text_breaks_out_of_the_page(name: str, title: str, sentence: str) -> None:
    def named(model: str, item: str, said: str) -> str:
        found = results(models=2)
        for user in found["examples"][:2]:
            user["user"] = user["held_out"][0]["item"] = item
            user["held_out"][0]["title"] = user["history"][0]["title"] = item
            user["lists"] = {model: user["lists"]["AllRank"]}
            user["lists"][model][0].update(title=item, hit=True)
        found["verdict"].update(sentence=said, best=model, metric=model)
        found["models"][0].update(name=model, recipe=item, parameters={item: said})
        found["models"][0]["tuned"]["points"][0]["parameters"][item] = 1
        found["models"][-1]["failed"] = said
        found["metrics"][0]["definition"] = f"said\n\n    x {' '.join((item + said).split())}"
        found["metrics"][0]["text"] = found["truth"]["sentence"] = found["title"] = said
        found["pairs"][0]["one"] = model
        found["data"]["values"] = {item: 3, item + "2": 4}
        return render(Results.from_json(found))

    made = Outline(named(name, title, sentence))
    assert made.tags == Outline(named("a", "b", "c")).tags
    assert not made.open
    shown = made.text
    assert title in shown
    assert sentence in shown
    charts = json.loads(made.scripts[0])
    assert charts["values"]["panels"][0]["data"]["values"][0]["value"] == title


def test_ids_that_utf8_cannot_hold_are_written_all_the_same(tmp_path: Path) -> None:
    found = results(models=2)
    found["examples"][0]["user"] = "lone \ud800 surrogate"
    write(Results.from_json(found), tmp_path / "report.html")
    assert "lone \\ud800 surrogate" in (tmp_path / "report.html").read_text("utf-8")


def test_a_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write(Results.from_json(bare()), path)
    before = path.read_bytes()
    with pytest.raises(OutputError, match="exists"):
        write(Results.from_json(results()), path)
    assert path.read_bytes() == before
    write(Results.from_json(results()), path, overwrite=True)
    assert path.read_bytes() != before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_same_results_give_the_same_bytes() -> None:
    assert render(Results.from_json(results())) == render(Results.from_json(results()))


@pytest.mark.parametrize("models", [1, 2, 30])
def test_any_number_of_models(models: int) -> None:
    assert not Outline(render(Results.from_json(results(models=models)))).open


def test_missing_numbers_are_dashes() -> None:
    found = results(models=3)
    found["models"][0]["metrics"]["recall@10"].update(mean=None, low=None, high=None, group="")
    del found["models"][1]["metrics"]["auc"]
    found["truth"]["rows"][0]["models"]["AllRank"]["truth"] = None
    found["sampled"]["rows"][0]["agreement"] = {"sampled": None, "corrected": None}
    found["data"]["missing"]["points"][0]["mean"] = None
    page: Any = render(Results.from_json(found))
    assert '<span class="mean">–</span>' in page


def test_what_models_were_fed_and_fell_back_on_is_told() -> None:
    page = render(Results.from_json(results()))
    assert "values from 4 on: 44,140 of 80,000 rows; served what is popular in 37 of" in page
    assert "all 80,000 rows with their values" in page


def test_new_and_known_people_are_shown_apart() -> None:
    content = results()
    page = render(Results.from_json(content))
    table = page[page.index("<h3>New and known people</h3>") :]
    assert table.index("new people</th>") < table.index("known people</th>")
    for model in content["models"]:
        model["people"] = {}
    assert "New and known people" not in render(Results.from_json(content))
