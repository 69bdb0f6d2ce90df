"""Pages of tables and figures that were run again, and their index."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fullrank._version import __version__
from fullrank.errors import DataError
from fullrank.report import exhibit_words as words
from fullrank.report.charts import embedded
from fullrank.report.exhibit_charts import charts
from fullrank.report.page import licences, packaged, script_json, scripts, template
from fullrank.reproduction.findings import Number, Reproduced
from fullrank.runtime.atomic import write_bytes
from fullrank.runtime.output import as_json

LIBRARY = "charts.js"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MARKS = {"green": "✓", "amber": "▲", "red": "✗", words.NOT_RUN: "–"}


def write_site(results: Sequence[Reproduced], folder: Path) -> Path:
    """A page for each, and index.html, those of earlier runs among them; the path of the index.

    The libraries that draw charts are a file beside them. Every file is whole or not there.
    """
    every = _merge(folder / "shown.json", results)
    _put(folder / "shown.json", as_json({one.name: one.to_json() for one in every}))
    if any(one.findings.figures for one in every):
        _put(folder / LIBRARY, _library())
    for place, one in enumerate(every):
        before, after = every[place - 1] if place else None, every[place + 1] if place + 1 < len(every) else None
        _put(folder / f"{one.name}.html", _encode(render(one, before, after)))
    _put(folder / "index.html", _encode(render_index(every)))
    return folder / "index.html"


def render_index(every: Sequence[Reproduced]) -> str:
    """The page that lists them all, by document."""
    groups = words.by_document(every, lambda one: one.name)
    return _fill("exhibits_index.html.j2", title="Tables and figures, run again", every=every, groups=groups)


def render(one: Reproduced, before: Reproduced | None = None, after: Reproduced | None = None) -> str:
    """The page of one, with links to those before and after it.

    Its only script is allowed by a nonce, which the browser asks for on files as on sites ('self' and digests of
    other files are not understood by all of them on files). The nonce is a digest of the page, so that no text on
    the page can know it.
    """
    drawn = charts(one.findings.figures)
    content = {
        "title": one.title, "one": one, "before": before, "after": after, "charts": drawn,
        "pivot": pivot(one.findings.numbers), "specs": script_json(embedded(drawn)), "library": LIBRARY,
    }  # fmt: skip
    if not drawn:
        return _fill("exhibit.html.j2", nonce="", **content)
    plain = _fill("exhibit.html.j2", nonce="", **content)
    digest = hashlib.sha256(plain.encode("utf-8", "backslashreplace")).digest()
    return _fill("exhibit.html.j2", nonce=base64.b64encode(digest).decode(), **content)


def pivot(numbers: Sequence[Number]) -> tuple[list[str], list[tuple[str, list[list[Number]]]]]:
    """Columns, and for each row its name and the numbers in each of its cells, in the order they appear."""
    columns = list(dict.fromkeys(number.column for number in numbers))
    rows: dict[str, dict[str, list[Number]]] = {}
    for number in numbers:
        rows.setdefault(number.row, {}).setdefault(number.column, []).append(number)
    return columns, [(row, [cells.get(column, []) for column in columns]) for row, cells in rows.items()]


def flatten(numbers: Iterable[Number]) -> list[tuple[str, ...]]:
    """A line for each number with all that is known of it."""
    return [
        (
            number.row, number.column, words.fixed(number.published, number.digits),
            words.fixed(number.ours, number.digits), words.signed(number.difference, number.digits),
            words.tolerance(number), words.verdict(number),
        )
        for number in numbers
    ]  # fmt: skip


def mark_code(text: str) -> Any:
    """A text with what stands between backticks as code.

    >>> str(mark_code("run `a < b`"))
    'run <code>a &lt; b</code>'
    """
    from markupsafe import Markup, escape

    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(re.split(r"`([^`]*)`", text))
    )


def _fill(name: str, *, nonce: str = "", **more: Any) -> str:
    allowed = f"{POLICY}; script-src 'nonce-{nonce}'" if nonce else POLICY
    page: str = template(name).render(
        style=packaged("style.css") + packaged("exhibits.css"), version=__version__, policy=allowed, nonce=nonce,
        words=words, marks=MARKS, flatten=flatten, mark_code=mark_code, **more,
    )  # fmt: skip
    return page.lstrip()


def _merge(kept: Path, results: Iterable[Reproduced]) -> list[Reproduced]:
    """These and those kept by earlier runs, in the order of their documents."""
    every = {one.name: one for one in (*_read(kept), *results)}
    return words.in_order(every.values(), lambda one: one.name)


def _read(kept: Path) -> list[Reproduced]:
    """What earlier runs kept; the pages of what is damaged, or of another format, come back when they are run again."""
    try:
        content = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    except ValueError:
        return []
    results = []
    for one in content.values() if isinstance(content, dict) else ():
        with suppress(DataError):
            results.append(Reproduced.from_json(one))
    return results


@cache
def _library() -> bytes:
    """The libraries, their licences before them, and the script that draws with them."""
    notices = [f"/*! {name}\n\n{licence}\n*/\n" for name, licence in licences().items()]
    return "\n;\n".join(["".join(notices), *scripts()]).encode()


def _put(path: Path, content: bytes) -> None:
    """A whole file; left alone where it is there already."""
    if not path.exists() or path.read_bytes() != content:
        write_bytes(path, content, overwrite=True)


def _encode(page: str) -> bytes:
    return page.encode("utf-8", "backslashreplace")
