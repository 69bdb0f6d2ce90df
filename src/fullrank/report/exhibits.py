"""Pages of tables and figures that were run again, and their index."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fullrank.data.atomic import write_bytes
from fullrank.experiments.parts import as_json
from fullrank.models.manifest import this_version
from fullrank.report import exhibit_words as words
from fullrank.report.charts import embedded
from fullrank.report.exhibit_charts import charts
from fullrank.report.page import licences, packaged, script_json, scripts, template

LIBRARY = "charts.js"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
PARTS = {"name", "title", "place", "why", "stands_in", "missing", "get", "colour", "numbers", "claims", "figures"}
CELL = {"row", "column", "published", "ours", "within", "digits", "difference", "holds"}
MARKS = {"green": "✓", "amber": "▲", "red": "✗", words.NOT_RUN: "–"}


def write_site(shown: Sequence[dict[str, Any]], folder: Path) -> Path:
    """A page for each, and index.html, those of earlier runs among them; the path of the index.

    The libraries that draw charts are a file beside them. Every file is whole or not there.
    """
    every = _merged(folder / "shown.json", shown)
    _put(folder / "shown.json", as_json({one["name"]: one for one in every}))
    if any(one["figures"] for one in every):
        _put(folder / LIBRARY, _library())
    for place, one in enumerate(every):
        before, after = every[place - 1] if place else None, every[place + 1] if place + 1 < len(every) else None
        _put(folder / f"{one['name']}.html", _encoded(render(one, before, after)))
    _put(folder / "index.html", _encoded(render_index(every)))
    return folder / "index.html"


def render_index(every: Sequence[dict[str, Any]]) -> str:
    """The page that lists them all, by document."""
    groups = words.by_document(every, lambda one: str(one["name"]))
    return _filled("exhibits_index.html.j2", title="Tables and figures, run again", every=every, groups=groups)


def render(one: dict[str, Any], before: dict[str, Any] | None = None, after: dict[str, Any] | None = None) -> str:
    """The page of one, with links to those before and after it.

    Its only script is allowed by a nonce, which the browser asks for on files as on sites ('self' and digests of
    other files are not understood by all of them on files). The nonce is a digest of the page, so that no text on
    the page can know it.
    """
    drawn = charts(one["figures"])
    filled = {
        "title": one["title"], "one": one, "before": before, "after": after, "charts": drawn,
        "pivot": pivot(one["numbers"]), "specs": script_json(embedded(drawn)), "library": LIBRARY,
    }  # fmt: skip
    if not drawn:
        return _filled("exhibit.html.j2", nonce="", **filled)
    plain = _filled("exhibit.html.j2", nonce="", **filled)
    digest = hashlib.sha256(plain.encode("utf-8", "backslashreplace")).digest()
    return _filled("exhibit.html.j2", nonce=base64.b64encode(digest).decode(), **filled)


def pivot(numbers: Sequence[dict[str, Any]]) -> tuple[list[str], list[tuple[str, list[list[dict[str, Any]]]]]]:
    """Columns, and for each row its name and the numbers in each of its cells, in the order they appear."""
    columns = list(dict.fromkeys(number["column"] for number in numbers))
    cells: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for number in numbers:
        cells.setdefault(number["row"], {}).setdefault(number["column"], []).append(number)
    return columns, [(row, [found.get(column, []) for column in columns]) for row, found in cells.items()]


def flat(numbers: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """A line for each number with all that is known of it."""
    return [
        (
            number["row"], number["column"], words.fixed(number["published"], number["digits"]),
            words.fixed(number["ours"], number["digits"]), words.signed(number["difference"], number["digits"]),
            words.tolerance(number), words.verdict(number),
        )
        for number in numbers
    ]  # fmt: skip


def coded(text: str) -> Any:
    """A text with what stands between backticks as code.

    >>> str(coded("run `a < b`"))
    'run <code>a &lt; b</code>'
    """
    from markupsafe import Markup, escape

    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(re.split(r"`([^`]*)`", text))
    )


def _filled(name: str, *, nonce: str = "", **more: Any) -> str:
    allowed = f"{POLICY}; script-src 'nonce-{nonce}'" if nonce else POLICY
    page: str = template(name).render(
        style=packaged("style.css") + packaged("exhibits.css"), version=this_version(), policy=allowed, nonce=nonce,
        words=words, marks=MARKS, flat=flat, coded=coded, **more,
    )  # fmt: skip
    return page.lstrip()


def _merged(kept: Path, shown: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """These and those kept by earlier runs, in the order of their documents."""
    try:
        before = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    except ValueError:  # not whole: those pages come back when they are run again
        before = {}
    earlier = {name: one for name, one in before.items() if _is_whole(one)}
    every = earlier | {one["name"]: one for one in shown}
    return words.in_order(every.values(), lambda one: str(one["name"]))


def _is_whole(one: dict[str, Any]) -> bool:
    """Whether a page can be made of it; another version may have kept something else."""
    return one.keys() >= PARTS and all(number.keys() >= CELL for number in one["numbers"])


@cache
def _library() -> bytes:
    """The libraries, their licences before them, and the script that draws with them."""
    told = [f"/*! {name}\n\n{licence}\n*/\n" for name, licence in licences().items()]
    return "\n;\n".join(["".join(told), *scripts()]).encode()


def _put(path: Path, content: bytes) -> None:
    """A whole file; left alone where it is there already."""
    if not path.exists() or path.read_bytes() != content:
        write_bytes(path, content, overwrite=True)


def _encoded(page: str) -> bytes:
    return page.encode("utf-8", "backslashreplace")
