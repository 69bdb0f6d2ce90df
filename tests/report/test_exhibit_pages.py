"""Pages of tables and figures run again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.errors import DataError
from fullrank.report import exhibit_words as words
from fullrank.report.exhibit_charts import charts
from fullrank.report.exhibits import pivot, render, render_index, write_site
from fullrank.reproduction.findings import Claim, Figure, Findings, Number, Reproduced
from tests.report.exhibit_fixture import ERRORS, HOLDS, LINES, SHARES, exhibits, shown
from tests.report.fixture import HOSTILE
from tests.report.test_page import Outline

PAGES = [
    "steck2010-fig1",
    "steck2010-table2",
    "steck2010-table3",
    "krichene2020-table3",
    "krichene2020-table10",
    "steck2015-table1",
    "t-1",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(exhibits(), tmp_path_factory.mktemp("site")).parent


def text_of(page: str) -> str:
    return " ".join(Outline(page).text.split())


def policy(page: str) -> str:
    return next(str(a["content"]) for tag, a in Outline(page).attributes if tag == "meta" and "http-equiv" in a)


def test_a_site_has_a_page_for_each_and_the_libraries_once(site: Path) -> None:
    assert {path.name for path in site.iterdir()} == {
        "index.html", "shown.json", "charts.js", *(f"{name}.html" for name in PAGES)
    }  # fmt: skip
    assert sum("vegaLite" in path.read_text() for path in site.glob("*.html")) == 0
    library = (site / "charts.js").read_text()
    assert "sourceMappingURL" not in library
    assert library.count("Copyright") >= 3  # licences stay with the libraries
    assert max(path.stat().st_size for path in site.glob("*.html")) < 100_000


@pytest.mark.parametrize("name", ["index", *PAGES])
def test_pages_are_well_formed(site: Path, name: str) -> None:
    page = (site / f"{name}.html").read_text()
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert not outline.open
    ids = [attributes["id"] for _, attributes in outline.attributes if attributes.get("id")]
    assert len(ids) == len(set(ids))
    labels = [a["aria-labelledby"] for _, a in outline.attributes if "aria-labelledby" in a]
    assert set(labels) <= set(ids)
    assert outline.tags.count("h1") == 1
    for _, attributes in outline.attributes:
        if "href" in attributes:
            assert (site / str(attributes["href"])).exists()
    assert policy(page).startswith("default-src 'none'")
    assert "unsafe-eval" not in policy(page)


def test_the_index_groups_by_document_in_order(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert re.findall(r'<h2 id="([^"]+)"', page) == ["steck2010", "krichene2020", "steck2015", "others"]
    assert re.findall(r'<a href="([^"]+)\.html"', page) == PAGES
    heading = re.search(r'<h2 id="krichene2020">.*?</h2>', page)
    assert heading
    assert Outline(heading[0]).texts == [
        "krichene2020", " On sampled metrics for item recommendation", "Krichene and Rendle, KDD 2020"
    ]  # fmt: skip


def test_the_index_counts_in_words(site: Path) -> None:
    page = (site / "index.html").read_text()
    counts = re.search(r'<ul class="counts".*?</ul>', page, re.DOTALL)
    assert counts
    assert re.findall(r"</span> ([^<]+)</span>", counts[0]) == ["4 green", "1 amber", "1 red", "1 not run"]
    rows = {
        name: row
        for row, name in re.findall(r'(<li>\n<span class="result.*?<a href="([^"]+)\.html.*?</li>)', page, re.DOTALL)
    }
    assert "6 of 7 numbers" in rows["krichene2020-table3"]
    assert "1 of 1 statement<" in rows["krichene2020-table3"]
    assert "6 of 6 numbers" in rows["krichene2020-table10"]
    assert "2 of 2 statements<" in rows["krichene2020-table10"]
    assert "needs netflix, ta-feng" in rows["steck2010-table3"]
    assert "numbers not judged" in rows["steck2015-table1"]
    for name, result in (
        ("krichene2020-table3", "amber"),
        ("steck2010-table2", "red"),
        ("steck2010-table3", "not run"),
        ("t-1", "green"),
    ):
        assert re.search(rf"</span> {result}</span>", rows[name])


def test_numbers_stand_in_a_table_of_rows_and_columns(site: Path) -> None:
    page = (site / "krichene2020-table3.html").read_text()
    table = page[page.index('<table class="models pivot">') :].split("</table>")[0]
    assert re.findall(r'<th scope="col">([^<]*)<', table) == ["exact", "sampled", "corrected"]
    assert re.findall(r'<span class="name">([^<]*)<', table) == ["W", "X", "Y", "Z"]
    cells = re.findall(r"<td([^>]*)>(.*?)</td>", table.split("<tbody>")[1], re.DOTALL)
    assert len(cells) == 4 * 3
    attributes, content = cells[0]
    assert 'class="off"' in attributes
    assert "ours 0.600, published 0.500, difference +0.100; must be the same to the last digit: it is not" in attributes
    assert Outline(content).text.strip() == "✗outside its tolerance: 0.600published 0.500"
    assert Outline(cells[3][1]).text.strip() == "0.500published 0.500"
    assert (cells[1], cells[5][1].count("0.400")) == (("", ""), 1)  # there is no such number; only ours
    assert table.count("✗") == 1
    flat = page[page.index('<details class="flat">') :].split("</details>")[0]
    assert flat.count("<tr>") == 1 + 10
    assert "to the last digit" in flat
    assert "±0.01" in flat


def test_only_ours_where_nothing_was_published(site: Path) -> None:
    page = (site / "steck2015-table1.html").read_text()
    assert "1,234.5" in page
    assert 'class="published"' not in page
    assert "Differences and tolerances" not in page
    assert "<thead>" not in page  # the only column has no name
    assert "Nothing is judged here" in page


def test_numbers_that_are_not_judged_are_counted(site: Path) -> None:
    assert "None of them is judged." in (site / "t-1.html").read_text()
    mixed = render(shown("t-2", Findings((Number("a", "x", 1.0, 1.0), Number("b", "x", 1.0, 2.0, None)))))
    assert "1 of 2 stand beside each other without being judged." in mixed
    assert "difference +1.000; not judged" in mixed
    assert "not judged" not in (site / "krichene2020-table3.html").read_text()


def test_what_may_differ_is_prominent_where_a_number_does(site: Path) -> None:
    def kind(name: str) -> list[str]:
        return re.findall(r'<li class="(\w+)"><b>What may differ</b>', (site / f"{name}.html").read_text())

    assert (kind("krichene2020-table3"), kind("krichene2020-table10"), kind("steck2010-fig1")) == (
        ["warning"],
        ["note"],
        [],
    )


def test_data_that_is_missing_or_stands_in(site: Path) -> None:
    missing = text_of((site / "steck2010-table3.html").read_text())
    assert "netflix: run fullrank data netflix --download" in missing
    assert "ta-feng: get it from https://www.kaggle.com/" in missing
    assert "fullrank reproduce steck2010-table3 --data DIR" in missing
    assert "Data is missing: netflix, ta-feng." in missing
    page = (site / "krichene2020-table3.html").read_text()
    assert "MovieLens 1M." in page
    assert "The paper used netflix, which is taken where it is there: run fullrank data netflix" in text_of(page)
    assert "<code>fullrank data netflix --download</code>" in page


def test_statements_say_in_words_whether_they_hold(site: Path) -> None:
    text = text_of((site / "steck2010-table2.html").read_text())
    assert "✓Holds: it risesseen: from 1 to 2" in text
    assert "✗Does not hold: it fallsseen: it rises" in text
    assert "1 of 2 statements hold; all 6 numbers are within their tolerance." in text


def test_pages_are_linked_in_order(site: Path) -> None:
    for place, name in enumerate(PAGES):
        page = (site / f"{name}.html").read_text()
        assert 'href="index.html"' in page
        assert set(re.findall(r'rel="prev" href="([^"]+)\.html"', page)) == set(PAGES[max(place - 1, 0) : place])
        assert set(re.findall(r'rel="next" href="([^"]+)\.html"', page)) == set(PAGES[place + 1 : place + 2])


@pytest.mark.parametrize("name", ["index", *PAGES])
def test_only_pages_with_figures_have_a_script(site: Path, name: str) -> None:
    page = (site / f"{name}.html").read_text()
    scripts = [attributes for tag, attributes in Outline(page).attributes if tag == "script"]
    if name != "steck2010-fig1":
        assert scripts == []
        assert "script" not in policy(page)
        return
    assert scripts[0] == {"type": "application/json", "id": "charts"}
    assert scripts[1]["src"] == "charts.js"
    assert f"script-src 'nonce-{scripts[1]['nonce']}'" in policy(page)
    assert len(scripts) == 2


def test_the_nonce_is_of_the_page_and_of_no_other() -> None:
    nonces = set()
    for title in ("A", "B"):
        page = render(shown("krichene2020-a", Findings(figures=(Figure(title, "x", "y", LINES),))))
        nonces.add(re.findall(r'<script nonce="([^"]+)"', page)[0])
        assert page == render(shown("krichene2020-a", Findings(figures=(Figure(title, "x", "y", LINES),))))
    assert len(nonces) == 2


def test_every_figure_has_a_chart_and_its_table(site: Path) -> None:
    page = (site / "steck2010-fig1.html").read_text()
    specs = json.loads(Outline(page).scripts[0])
    assert list(specs) == [f"figure-{place}" for place in range(1, 6)]
    for name in specs:
        figure = page[page.index(f'<figure id="{name}"') :].split("</figure>", maxsplit=1)[0]
        assert figure.count('<div class="panel">') == len(specs[name]["panels"]) == 1
        assert figure.count("<details>") == figure.count("<tbody>") == 1


def figure(lines: dict[str, list[tuple[Any, float]]], log: str = "") -> Any:
    return charts([Figure("T", "x", "y", lines, log)])[0]


def test_axes_are_logarithmic_where_numbers_allow_it() -> None:
    def scales(lines: dict[str, list[tuple[Any, float]]]) -> list[str]:
        encoding = figure(lines, "xy").panels[0]["layer"][0]["encoding"]
        return [encoding[axis]["scale"].get("type", "linear") for axis in "xy"]

    assert scales(LINES) == ["log", "log"]
    assert scales(ERRORS) == ["log", "symlog"]  # 0 is drawn too
    assert scales({"a": [(1, -1.0), (2, 1.0)]}) == ["log", "linear"]
    assert figure(LINES, "x").text == "y against x. The axis of x is logarithmic."
    assert figure({"a": [(1, -1.0)]}, "y").text == "a: y against x."


def test_names_give_bars_and_points_where_a_length_says_nothing() -> None:
    standing, dots = figure(SHARES), figure(SHARES, "y")
    assert (standing.panels[0]["mark"]["type"], standing.swatch) == ("bar", "block")
    assert "xOffset" in standing.panels[0]["encoding"]
    assert (dots.panels[0]["mark"]["type"], dots.swatch) == ("point", "point")
    lying = figure({"a": [("a long name of a method", 1.0)]})
    assert lying.panels[0]["encoding"]["y"]["type"] == "nominal"


def test_the_same_line_has_the_same_colour_in_all_charts() -> None:
    one, two = Figure("", "", "", LINES), Figure("", "", "", {"sampled": LINES["sampled"]})
    assert [chart.places for chart in charts([one, two])] == [(0, 1), (1,)]
    many = Figure("", "", "", {f"line {n}": [(1, n)] for n in range(9)})
    assert [chart.places for chart in charts([many, two])] == [tuple(range(9)), (0,)]  # more than there are colours


def test_tables_of_charts() -> None:
    assert figure({"a": [(2, 0.2), (1, 0.1)], "b": [(3, 0.3)]}).rows == ((1, 0.1, None), (2, 0.2, None), (3, None, 0.3))
    loop = figure({"a": [(1, 0.1), (2, 0.2), (1, 0.3)]})
    assert (loop.head, len(loop.rows)) == (("line", "x", "y"), 3)
    assert charts([Figure("", "", "", {"a": []})]) == []


def test_a_cell_may_hold_several_numbers() -> None:
    numbers = [Number("r", "c", None, value) for value in (1, 2)]
    assert pivot(numbers) == (["c"], [("r", [numbers])])


def test_earlier_pages_stay_and_their_links_change(tmp_path: Path) -> None:
    write_site(
        [shown("krichene2020-a", Findings((), (HOLDS,))), shown("krichene2020-c", missing=("netflix",))], tmp_path
    )
    assert not (tmp_path / "charts.js").exists()
    assert "krichene2020-b" not in (tmp_path / "krichene2020-a.html").read_text()
    index = write_site(
        [shown("krichene2020-b", Findings()), shown("krichene2020-c", Findings((), (HOLDS,)))], tmp_path
    ).read_text()
    assert re.findall(r'<a href="([^"]+)\.html"', index) == ["krichene2020-a", "krichene2020-b", "krichene2020-c"]
    assert "needs netflix" not in index
    assert 'rel="next" href="krichene2020-b.html"' in (tmp_path / "krichene2020-a.html").read_text()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    write_site([], tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_what_another_version_kept_is_left_out(tmp_path: Path) -> None:
    one = shown("t-a", Findings((Number("a", "", 0.5, 0.5),))).to_json()
    renamed = json.loads(json.dumps(one))
    renamed["numbers"][0]["what"] = renamed["numbers"][0].pop("row")
    for damaged in (renamed, {**one, "format": 0}, {"name": "t-a", "numbers": []}, [], None):
        with pytest.raises(DataError, match=r"run it again\.$"):
            Reproduced.from_json(damaged)
        (tmp_path / "shown.json").write_text(json.dumps({"t-a": damaged}))
        index = write_site([shown("t-b", Findings())], tmp_path).read_text()
        assert re.findall(r'<a href="([^"]+)\.html"', index) == ["t-b"]
    for content in ("{", "[]"):
        (tmp_path / "shown.json").write_text(content)
        assert "t-b.html" in write_site([shown("t-b", Findings())], tmp_path).read_text()


@pytest.mark.parametrize("one", exhibits(), ids=lambda one: one.name)
def test_a_result_is_the_same_after_its_json(one: Reproduced) -> None:
    assert Reproduced.from_json(json.loads(json.dumps(one.to_json()))) == one


hostile = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=30), st.from_regex(r"[<>/!'\"&`a-z-]{1,20}"))


@settings(max_examples=25, deadline=None)
@given(hostile, hostile)
def test_no_text_breaks_out_of_the_page(one: str, two: str) -> None:
    def make(a: str, b: str) -> Reproduced:
        findings = Findings(
            (Number(a, b, 0.5, 0.6),), (Claim(a, True, b),), (Figure(a, b, a, {b: [(1, 2.0)], "other": [(2, 3.0)]}),)
        )  # fmt: skip
        return shown("krichene2020-a", findings, title=a, place=b, why=a, stands_in=b)

    plain = make("a", "b")
    page, index = render(make(one, two), plain, make(one, two)), render_index([make(one, two)])
    assert Outline(page).tags == Outline(render(plain, plain, plain)).tags
    assert Outline(index).tags == Outline(render_index([plain])).tags
    assert one in Outline(page).text
    assert two in Outline(index).text


def test_results_in_words() -> None:
    numbers = (Number("a", "", 0.5, 0.6, 0.01), Number("b", "", 0.5, 0.5))
    cases = {
        "Both statements hold; 1 of 2 numbers are within their tolerance.": Findings(numbers, (HOLDS, HOLDS)),
        "The number is outside its tolerance.": Findings(numbers[:1]),
        "All 3 statements hold.": Findings((), (HOLDS,) * 3),
        "Nothing is judged here; what the run gave is shown.": Findings((Number("a", "", 0.5, 9.0, None),)),
    }
    assert {sentence: words.sentence(shown("t-1", findings)) for sentence, findings in cases.items()} == {
        s: s for s in cases
    }
