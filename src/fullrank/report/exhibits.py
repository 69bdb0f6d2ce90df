"""Pages of tables and figures that were run again, and their index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fullrank.data.atomic import write_bytes
from fullrank.experiments.parts import as_json
from fullrank.models.manifest import this_version
from fullrank.report.page import packaged, template


def write_site(shown: Sequence[dict[str, Any]], folder: Path) -> Path:
    """A page for each, and index.html, which lists those of earlier runs too; its path."""
    kept = folder / "shown.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    every = dict(sorted((before | {one["name"]: one for one in shown}).items()))
    write_bytes(kept, as_json(every), overwrite=True)
    page = template("exhibits.html.j2")
    common = {"style": packaged("style.css"), "version": this_version(), "mark": _mark, "number": _number}
    for one in shown:
        filled = page.render(title=one["title"], shown=[one], above=True, **common)
        write_bytes(folder / f"{one['name']}.html", filled.encode(), overwrite=True)
    index = page.render(title="Tables and figures, run again", shown=list(every.values()), above=False, **common)
    write_bytes(folder / "index.html", index.encode(), overwrite=True)
    return folder / "index.html"


def _mark(one: dict[str, Any]) -> Any:
    from markupsafe import Markup

    colour = one["colour"] or "none"
    return Markup('<span class="result {}">{}</span>').format(colour, one["colour"] or "no data")


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
