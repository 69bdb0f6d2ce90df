"""A real browser opens pages of tables and figures, as files and from a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fullrank.report.exhibits import write_site
from tests.report.exhibit_fixture import exhibits
from tests.report.test_browser import SIDEWAYS, UNDRAWN

OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":  # asked for by the browser, not by a page
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(exhibits(), tmp_path_factory.mktemp("site")).parent


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize(
    ("name", "panels"), [("index", 0), ("krichene2020-table3", 0), ("steck2010-table3", 0), ("steck2010-fig1", 5)]
)
def test_a_page_is_drawn(visit: Any, site: Path, name: str, panels: int, width: int, scheme: str) -> None:
    page = visit((site / f"{name}.html").as_uri(), width, scheme)
    assert page.locator(".panel svg").count() == panels
    assert page.evaluate(UNDRAWN) == 0
    assert page.evaluate(SIDEWAYS) == 0
    page.evaluate(OPEN_ALL)
    assert page.evaluate(SIDEWAYS) == 0


def test_charts_are_drawn_from_a_server_too(visit: Any, served: str) -> None:
    page = visit(f"{served}/steck2010-fig1.html")
    assert page.locator(".panel svg").count() == 5
    assert page.evaluate(UNDRAWN) == 0


def test_a_script_without_the_nonce_does_not_run(browser: Any, site: Path) -> None:
    page = browser.new_page()
    changed = site / "changed.html"
    changed.write_text(
        (site / "steck2010-fig1.html").read_text().replace("</main>", "<script>ran = true</script></main>")
    )
    page.goto(changed.as_uri())
    changed.unlink()
    assert page.locator(".panel svg").count() == 5
    assert page.evaluate("typeof ran") == "undefined"
    page.close()


def test_a_logarithmic_axis_has_plain_labels_and_zero(visit: Any, site: Path) -> None:
    page = visit((site / "steck2010-fig1.html").as_uri())
    labels = page.locator("#figure-2 .role-axis-label text").all_text_contents()
    assert {"0", "1", "10", "100", "1000", "0.001", "0.1"} <= set(labels)


def test_a_line_can_be_hidden(visit: Any, site: Path) -> None:
    page = visit((site / "steck2010-fig1.html").as_uri())
    for figure, mark in (
        ("figure-1", ".mark-line path"),
        ("figure-2", ".mark-line path"),
        ("figure-3", ".mark-rect path"),
    ):
        marks = page.locator(f"#{figure} {mark}")
        before = marks.count()
        for button in page.locator(f"#{figure} .legend button").all():
            button.click()
        assert (before, marks.count()) in {(2, 0), (4, 0)}
        page.locator(f"#{figure} .legend button").first.click()
        assert marks.count() == before / 2


def test_pages_lead_to_each_other(visit: Any, site: Path) -> None:
    page = visit((site / "index.html").as_uri())
    page.get_by_role("link", name="Title of steck2010-fig1").click()
    page.get_by_role("link", name="After: steck2010-table2").first.click()
    assert page.locator("h1").inner_text() == "Title of steck2010-table2"
    page.get_by_role("link", name="All tables and figures").click()
    assert page.locator(".exhibits li").count() == 7
