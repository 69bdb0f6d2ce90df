"""Pieces all charts share: Vega-Lite marks, axes and colours, and the chart with its table.

Colours are CSS variables, so that a chart follows the page between light, dark and paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = Mapping[str, Any]

INK, SOFT, PAPER, ACCENT, WARN = (f"var(--{name})" for name in ("ink", "soft", "paper", "accent", "warn"))
COLOURS = 8
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross")
DASHES = ([1, 0], [7, 3], [2, 3])
WIDE = 20  # from this ratio of largest to smallest on, an axis is logarithmic


@dataclass(frozen=True)
class Chart:
    """What is drawn, how to read it, and the same numbers as a table."""

    id: str
    title: str
    text: str
    panels: tuple[Spec, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    models: tuple[str, ...] = ()  # those in the legend, which can be switched off
    places: tuple[int, ...] = ()  # of their colours; without, the first is the first
    swatch: str = "line"  # in the legend: line, point or block
    views: tuple[tuple[str, Spec], ...] = ()  # names of other views, and what they change in the panels
    size: str = "wide"  # of a panel: wide, half or third


def colour(place: int) -> str:
    """The colour of the n-th model; after eight they start again, told apart by dashes or shapes."""
    return f"var(--c{place % COLOURS})"


def drawn(rows: Sequence[Row], mark: Any, encoding: Spec, **more: Any) -> Spec:
    """One view of one set of rows."""
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding, **more}


def layered(*layers: Spec, height: Any = 260, **more: Any) -> Spec:
    """Several views on the same axes."""
    return {"layer": list(layers), "height": height, **more}


def number(field: str, title: str | None = None, **more: Any) -> Spec:
    """A quantitative channel."""
    axis, scale = more.pop("axis", {}), more.pop("scale", {})
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scale, **more}


def name(field: str, title: str | None = None, **more: Any) -> Spec:
    """A channel of names, in the order of the rows."""
    return {"field": field, "type": "nominal", "title": title, "sort": None, **more}


def by_model(models: Sequence[str], *, dash: bool = False, shape: bool = False) -> Spec:
    """The same colour for the same model in every chart."""
    places = range(len(models))

    def scale(ranges: list[Any]) -> Spec:
        return {"field": "model", "type": "nominal", "legend": None, "scale": {"domain": list(models), "range": ranges}}

    channels = {"color": scale([colour(i) for i in places])}
    if dash:
        channels["strokeDash"] = scale([DASHES[i // COLOURS % len(DASHES)] for i in places])
    if shape:
        channels["shape"] = scale([SHAPES[i % len(SHAPES)] for i in places])
    return channels


def steps(count: int, size: int = 28) -> int:
    """The height of a list of rows."""
    return max(count, 2) * size


def spread(values: Iterable[float]) -> Spec:
    """Scale and axis of these numbers: logarithmic where most are small beside the largest, with or without 0."""
    there = sorted(values)
    positive = [value for value in there if value > 0]
    plain = {"scale": {"nice": False, "padding": 10, "zero": False}, "axis": {"tickCount": 5}}
    if not positive or there[0] < 0 or positive[-1] / positive[0] < WIDE:
        return plain
    if positive[len(positive) // 2] > (positive[0] + positive[-1]) / 4:
        return plain
    return logarithmic(there)


def logarithmic(values: Iterable[float]) -> Spec:
    """Scale and axis of numbers of at least 0, some above it; where 0 is among them it is drawn too."""
    there = sorted(values)
    positive = [value for value in there if value > 0]
    scale: Spec = {"nice": False, "padding": 10}
    if there[0] > 0:
        return {"scale": {**scale, "type": "log"}, "axis": {"format": "~g", "tickCount": 4}}
    exponents = range(math.floor(math.log10(positive[0])), math.ceil(math.log10(there[-1])) + 1)
    axis = {"format": ".6~g", "values": [0, *(float(f"1e{n}") for n in exponents)]}
    return {"scale": {**scale, "type": "symlog", "constant": positive[0]}, "axis": axis}


def pivoted(
    rows: Iterable[Row], index: str, column: str, value: str
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Head and rows of a table with one line for each `index` and one column for each `column`."""
    lines: dict[Any, dict[str, Any]] = {}
    columns: dict[str, None] = {}
    for row in rows:
        lines.setdefault(row[index], {})[row[column]] = row[value]
        columns[row[column]] = None
    return tuple(columns), tuple((key, *(line.get(c) for c in columns)) for key, line in lines.items())
