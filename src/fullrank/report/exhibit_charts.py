"""Figures of an exhibit → charts: lines, or bars where x is a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fullrank.report.vega import (
    COLOURS,
    Chart,
    Row,
    Spec,
    by_model,
    drawn,
    layered,
    logarithmic,
    name,
    number,
    pivoted,
    steps,
)
from fullrank.reproduction.findings import Figure

FEW = 40  # points of a line that are marked one by one
UPRIGHT, SHORT = 16, 8  # bars, and letters of their names, that may stand; more than these lie
LYING = {"labelLimit": 160, "ticks": False, "domain": False}


def charts(figures: Sequence[Figure]) -> list[Chart]:
    """A chart for each figure that has points; the same line has the same colour in all of them, as far as they go."""
    drawable = [figure for figure in figures if any(figure.lines.values())]
    shared = list(dict.fromkeys(line for figure in drawable for line in figure.lines))
    return [
        _chart(figure, place, shared if len(shared) <= COLOURS else list(figure.lines))
        for place, figure in enumerate(drawable, start=1)
    ]


def _chart(figure: Figure, place: int, order: Sequence[str]) -> Chart:
    rows = [{"model": line, "x": x, "y": _round(y)} for line, points in figure.lines.items() for x, y in points]
    lines = tuple(figure.lines)
    log = [axis for axis in figure.log if _can_be_log(row[axis] for row in rows)]
    draw, swatch = _lines, "line"
    if any(isinstance(row["x"], str) for row in rows):
        draw, swatch = (_dots, "point") if log else (_bars, "block")
    head, table = _table(figure, rows)
    return Chart(
        f"figure-{place}", figure.title, _text(figure, log), (draw(figure, rows, order, log),), head, table, lines,
        places=tuple(map(order.index, lines)), swatch=swatch,
    )  # fmt: skip


def _round(value: float) -> float:
    """Without the noise of floating point, over which an axis would go on to the next tick.

    >>> _round(1.0000000000000002)
    1.0
    """
    return float(f"{value:.12g}")


def _can_be_log(values: Iterable[Any]) -> bool:
    """Whether a logarithmic axis can show them: numbers, none below 0 and some above it."""
    there = list(values)
    return not any(isinstance(value, str) for value in there) and min(there) >= 0 and max(there) > 0


def _text(figure: Figure, log: Sequence[str]) -> str:
    """What the axes are, for those who do not see them."""
    only = next(iter(figure.lines)) if len(figure.lines) == 1 else ""
    axes = f"{figure.y} against {figure.x}" if figure.x and figure.y else ""
    scale = "Both axes are logarithmic." if len(log) == 2 else ""
    if len(log) == 1:
        scale = f"The axis of {getattr(figure, log[0]) or log[0]} is logarithmic."
    axes_text = ": ".join(part for part in (only, axes) if part)
    return " ".join(part for part in (f"{axes_text}." if axes_text else "", scale) if part)


def _lines(figure: Figure, rows: Sequence[Row], order: Sequence[str], log: Sequence[str]) -> Spec:
    """Lines through their points in the order given, which need not be that of x."""
    placed = [{**row, "place": place} for place, row in enumerate(rows)]
    channels = {axis: _axis(axis, getattr(figure, axis), rows, axis in log) for axis in ("x", "y")}
    line = drawn(
        placed, {"type": "line", "strokeWidth": 2},
        {**channels, **by_model(order, dash=True), "order": {"field": "place", "type": "quantitative"}},
    )  # fmt: skip
    marked = [row for row in rows if len(figure.lines[row["model"]]) <= FEW]
    mark = {"type": "point", "filled": True, "size": 34, "opacity": 1}
    points = drawn(marked, mark, {**channels, **by_model(order), "tooltip": _tooltip(figure, "quantitative")})
    return layered(line, points, height=320)


def _axis(field: str, title: str, rows: Sequence[Row], log: bool) -> Spec:
    if log:
        scaled = logarithmic(row[field] for row in rows)
        return number(field, title, **{**scaled, "axis": {**scaled["axis"], "labelOverlap": "greedy"}})
    return number(field, title, scale={"zero": False, "nice": field == "y"}, axis={"tickCount": 5})


def _bars(figure: Figure, rows: Sequence[Row], order: Sequence[str], log: Sequence[str]) -> Spec:
    """Bars beside each other; lying where they are many."""
    names, lines = _names(rows), len(figure.lines)
    upright = len(rows) <= UPRIGHT and max(map(len, names)) <= SHORT
    along = name("x", figure.x, axis={"labelAngle": 0} if upright else LYING)
    value = number("y", figure.y, axis={"tickCount": 5}, stack=None)
    place = {"x": along, "y": value} if upright else {"y": along, "x": value}
    if lines > 1:
        place["xOffset" if upright else "yOffset"] = name("model", scale={"domain": list(figure.lines)})
    encoding = {**place, **by_model(order), "tooltip": _tooltip(figure, "nominal")}
    tall = 280 if upright else steps(len(rows) + len(names), 15)
    return drawn(_name_rows(rows), {"type": "bar"}, encoding, height=tall)


def _dots(figure: Figure, rows: Sequence[Row], order: Sequence[str], log: Sequence[str]) -> Spec:
    """Points instead of bars on a logarithmic axis, where a length says nothing."""
    place = {"y": name("x", figure.x, axis={**LYING, "grid": True}), "x": _axis("y", figure.y, rows, log=True)}
    mark = {"type": "point", "filled": True, "size": 90, "opacity": 1}
    encoding = {**place, **by_model(order, shape=True), "tooltip": _tooltip(figure, "nominal")}
    return drawn(_name_rows(rows), mark, encoding, height=steps(len(_names(rows)), 30))


def _name_rows(rows: Sequence[Row]) -> list[Spec]:
    return [{**row, "x": str(row["x"])} for row in rows]


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(str(row["x"]) for row in rows))


def _tooltip(figure: Figure, kind: str) -> list[Spec]:
    x = {"field": "x", "type": kind, "title": figure.x or "x"}
    return [name("model", "line"), x, number("y", figure.y or "y", format=".4~g")]


def _table(figure: Figure, rows: Sequence[Row]) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """A column for each line, or where a line comes back to an x, a row for each point."""
    x, y = figure.x or "x", figure.y or "y"
    if len({(row["model"], row["x"]) for row in rows}) < len(rows):
        return ("line", x, y), tuple((row["model"], row["x"], row["y"]) for row in rows)
    if not any(isinstance(row["x"], str) for row in rows):
        rows = sorted(rows, key=lambda row: row["x"])
    columns, table = pivoted(rows, "x", "model", "y")
    ordered = [1 + columns.index(line) for line in figure.lines if line in columns]
    return (x, *(columns[i - 1] for i in ordered)), tuple((row[0], *(row[i] for i in ordered)) for row in table)
