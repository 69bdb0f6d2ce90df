"""Results → one HTML file that needs nothing else: no network, no eval, no other file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from fullrank.comparison.results import Estimate, Results, as_plain
from fullrank.comparison.tables import BOUNDS, GROUPS, MARK, UNBIASED, decimals, elsewhere, leaders, ranked
from fullrank.comparison.tables import number as fixed
from fullrank.report import charts, data_charts, trust_charts
from fullrank.report.fairness import feeding, people_table
from fullrank.report.list_table import list_table
from fullrank.report.vega import COLOURS, DASHES, SHAPES
from fullrank.runtime.atomic import write_bytes
from fullrank.runtime.formatting import show

LIBRARIES = ("vendor/vega.min.js", "vendor/vega-lite.min.js", "vendor/vega-interpreter.js")
LICENCES = ("vega", "vega-lite", "vega-interpreter", "d3", "topojson-client")
HIDDEN = ("kind", "values")  # parts of the description that are shown elsewhere


class Cell(NamedTuple):
    """A metric of a model, as it is written; `leads` where no model is surely better."""

    mean: str
    low: str
    high: str
    group: str
    leads: bool
    bounds: tuple[str, str] | None = None  # of lists that leave it open, instead of a mean


class Line(NamedTuple):
    """A model in the table."""

    name: str
    recipe: str
    cells: list[Cell]


def render(results: Results) -> str:
    """The whole page."""
    drawn = _charts(results)
    every = [chart for group in drawn.values() for chart in (group if isinstance(group, list) else [group]) if chart]
    run = scripts()
    page: str = template("template.html.j2").render(
        results=results,
        charts=drawn,
        table=_table(results),
        lists=list_table(results),
        feeding=feeding(results),
        elsewhere=elsewhere(results),
        people=people_table(results),
        models=charts.models_of(results),
        bounded=any(cell.bounds for line in _table(results) for cell in line.cells),
        failed=[model for model in results.models if model.failed],
        description=_flat({k: v for k, v in results.data.description.items() if k not in HIDDEN}),
        split=_flat(as_plain(results.split)),
        manifest=_flat(as_plain(results.manifest)),
        policy=_policy(run),
        scripts=run,
        style=packaged("style.css"),
        specs=script_json(charts.embedded(every)),
        licences=licences(),
        words={"mark": MARK, "unbiased": UNBIASED, "groups": GROUPS, "bounds": BOUNDS},
    )
    return page.lstrip()


def write(results: Results, path: str | Path, *, overwrite: bool = False) -> None:
    """The page as a file, whole or not at all."""
    write_bytes(path, render(results).encode("utf-8", "backslashreplace"), overwrite=overwrite)


def _charts(results: Results) -> dict[str, Any]:
    single = (
        charts.curves, charts.histograms, charts.differences, charts.times, trust_charts.sampled, trust_charts.truth,
        data_charts.values, data_charts.popularity, data_charts.missing,
    )  # fmt: skip
    tuned = trust_charts.sensitivities(results)
    return {"sensitivities": tuned, **{draw.__name__: draw(results) for draw in single}}


def _table(results: Results) -> list[Line]:
    """A line for each model: its name, recipe and a cell for each metric."""
    names = [metric.name for metric in results.metrics]
    best = {name: leaders(results, name) for name in names}
    places = {name: decimals(model.metrics.get(name) for model in results.models) for name in names}
    lines = []
    for model in ranked(results):
        cells = []
        for name in names:
            value = model.metrics.get(name) or Estimate(None, None, None, "")
            mean, low, high = (fixed(number, places[name]) for number in (value.mean, value.low, value.high))
            ends = (
                None
                if value.bounds is None
                else (fixed(value.bounds[0], places[name]), fixed(value.bounds[1], places[name]))
            )
            cells.append(Cell(mean, low, high, value.group, model.name in best[name], ends))
        lines.append(Line(model.name, model.recipe, cells))
    return lines


def paragraphs(text: str) -> list[tuple[str, str]]:
    """A definition cut at empty lines: the tag each part is to have, "pre" where it is a formula, and its text.

    >>> paragraphs("A share\\nof two:\\n\\n    hits / all")
    [('p', 'A share of two:'), ('pre', 'hits / all')]
    """
    parts = [part for part in text.split("\n\n") if part.strip()]
    formula = [all(line.startswith("    ") for line in part.split("\n")) for part in parts]
    return [
        ("pre", dedent(part)) if is_formula else ("p", " ".join(part.split()))
        for part, is_formula in zip(parts, formula, strict=True)
    ]


def _flat(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), show(value)) for name, value in facts.items() if value not in (None, "", {}, [])]


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in, nor a line of old JavaScript."""
    raw = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        raw = raw.replace(char, f"\\u{ord(char):04x}")
    return raw


@cache
def packaged(name: str) -> str:
    """The text of a file of this package."""
    return files("fullrank.report").joinpath(name).read_text("utf-8")


def licences() -> dict[str, str]:
    """The licences of the libraries, by name."""
    return {name: packaged(f"vendor/{name}.LICENSE") for name in LICENCES}


@cache
def scripts() -> tuple[str, ...]:
    """The libraries, without the lines that name their source maps, and the page's own script."""
    return (*(re.sub(r"(?m)^//# sourceMappingURL=.*$", "", packaged(name)) for name in LIBRARIES), packaged("page.js"))


def _policy(scripts: tuple[str, ...]) -> str:
    """A content security policy that lets these scripts run and nothing else load or run."""
    digests = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@cache
def template(name: str) -> Any:
    """A page with places to fill; whatever is filled in is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(packaged), undefined=StrictUndefined,
        autoescape=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(shown=show, paragraphs=paragraphs)
    environment.globals.update(colours=COLOURS, dashes=DASHES, shapes=SHAPES)
    return environment.get_template(name)
