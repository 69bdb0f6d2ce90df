"""A real browser opens a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullrank.comparison.results import Results
from fullrank.report import write
from tests.report.fixture import bare, results

UNDRAWN = """() => [...document.querySelectorAll(".panel")].filter((panel) => {
    const box = panel.querySelector("svg")?.getBoundingClientRect();
    return !(box && box.width > 100 && box.height > 60 && panel.querySelector("svg .role-mark :is(path, text)"));
}).length"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
LINES = "() => document.querySelectorAll('#curves .panel svg .mark-line path').length"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for name, found in (("7", results()), ("20", results(models=20)), ("bare", bare())):
        write(Results.from_json(found), folder / f"{name}.html")
    return folder


@pytest.fixture
def opened(visit: Any, reports: Path) -> Any:
    """Opens a report."""

    def go(name: str = "7", width: int = 1400, scheme: str = "light") -> Any:
        return visit((reports / f"{name}.html").as_uri(), width, scheme)

    return go


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 390, 1400])
@pytest.mark.parametrize("name", ["7", "20", "bare"])
def test_a_report_is_drawn(opened: Any, name: str, width: int, scheme: str) -> None:
    page = opened(name, width, scheme)
    assert (page.locator(".panel").count() > 10) == (name != "bare")
    assert page.evaluate(UNDRAWN) == 0
    assert page.evaluate(SIDEWAYS) == 0
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate(SIDEWAYS) == 0


def test_colours_follow_the_scheme(opened: Any) -> None:
    page = opened()
    colour = "getComputedStyle(document.querySelector('#curves .mark-line path')).stroke"
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(f"[{colour}, {background}]")
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(f"[{colour}, {background}]")
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate(f"[{colour}, {background}]") == light


def test_the_head_of_the_curves_by_keyboard(opened: Any) -> None:
    page = opened()
    labels = "[...document.querySelectorAll('#curves .mark-text.role-axis-label text')].map((one) => one.textContent)"
    whole = page.evaluate(labels)
    page.locator("#curves .views input").first.focus()
    page.keyboard.press("ArrowRight")
    head = page.evaluate(labels)
    page.keyboard.press("ArrowRight")
    log = page.evaluate(labels)
    assert "2%" in head
    assert "0.1%" in log
    assert not {"2%", "0.1%"} & set(whole)
    assert page.evaluate(LINES) == 7


def test_a_model_can_be_hidden_by_keyboard(opened: Any) -> None:
    page = opened()
    assert page.evaluate(LINES) == 7
    page.locator("#curves .legend button").nth(2).focus()
    page.keyboard.press("Enter")
    assert page.evaluate(LINES) == 6
    assert page.locator("#curves .legend button").nth(2).get_attribute("aria-pressed") == "false"
    page.keyboard.press("Space")
    assert page.evaluate(LINES) == 7


def test_a_definition_opens_and_closes_by_keyboard(opened: Any) -> None:
    page = opened(width=390)
    shown = "document.querySelectorAll('.definition:popover-open').length"
    second = page.locator(".define").nth(1)
    second.focus()
    for key in ("Enter", "Space"):
        page.keyboard.press(key)
        assert page.locator("#metric-2").is_visible()
        assert page.evaluate(shown) == 1
        box = page.locator("#metric-2").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        page.keyboard.press("Escape" if key == "Enter" else "Enter")  # its button has the focus
        assert page.evaluate(shown) == 0
        assert second.evaluate("one => one === document.activeElement")


def test_a_wide_table_scrolls_under_its_first_column_and_says_so(opened: Any) -> None:
    page = opened(width=390)
    table = page.locator(".scroll").first
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") > 100
    lefts = "one => [...one.querySelectorAll('tr > :first-child')].map((cell) => cell.getBoundingClientRect().left)"
    before, edge = table.evaluate(lefts), _right_edge(page, table)
    table.evaluate("one => { one.scrollLeft = 1e6; }")
    assert table.evaluate(lefts) == before
    end = _right_edge(page, table)
    assert edge != end
    page.set_viewport_size({"width": 1400, "height": 800})
    assert _right_edge(page, table) == end  # where nothing is hidden there is no shadow


def _right_edge(page: Any, table: Any) -> bytes:
    """A few pixels at the lower right corner of a table, where no text is."""
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    corner = {"x": box["x"] + box["width"] - 6, "y": box["y"] + box["height"] - 6, "width": 5, "height": 3}
    page.evaluate("() => new Promise(requestAnimationFrame)")
    picture: bytes = page.screenshot(clip=corner)
    return picture


def test_charts_follow_the_width_of_the_window(opened: Any) -> None:
    page = opened(width=1400)
    width = "document.querySelector('#curves svg').getBoundingClientRect().width"
    wide = page.evaluate(width)
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_function(f"{width} < 340 && document.querySelector('#curves .panel').dataset.width < 340")
    assert page.evaluate(SIDEWAYS) == 0
    page.set_viewport_size({"width": 1400, "height": 800})
    page.wait_for_function(f"{width} > {wide - 2}")


def test_a_report_can_be_printed(opened: Any) -> None:
    assert opened("7", 1400, "dark").pdf(format="A4").startswith(b"%PDF")
