"""Results → charts of the models: pure functions, each of which gives None where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from fullrank.comparison.results import ModelSummary, PairResult, Results, as_plain
from fullrank.comparison.tables import ranked
from fullrank.report.vega import (
    INK,
    PAPER,
    Chart,
    Row,
    Spec,
    by_model,
    colour,
    drawn,
    layered,
    name,
    number,
    pivoted,
    steps,
)

HEAD = 0.1  # of the catalogue, in the zoomed view of the curves
FASTEST = 1e-3  # seconds; what took less is drawn here
PERCENT = {"format": "~%", "tickCount": 5}


def models_of(results: Results) -> tuple[str, ...]:
    """Names of the measured models, best first: the order of colours, legends and columns."""
    return tuple(model.name for model in ranked(results))


def curves(results: Results) -> Chart | None:
    """TOPK(k): the share of relevant items found in the first k of the catalogue."""
    rows = [{"model": m.name, "x": x, "y": y} for m in ranked(results) for x, y in m.curve]
    if not rows:
        return None
    models = models_of(results)
    encoding = {
        "x": number("x", "k, as a share of the catalogue", axis=PERCENT, scale={"nice": False}),
        "y": number("y", "relevant items found", axis=PERCENT),
        **by_model(models, dash=True),
    }
    head = {"transform": [{"filter": f"datum.x <= {HEAD}"}], "encoding": {"x": {"scale": {"domain": [0, HEAD]}}}}
    logarithmic = {"scale": {"type": "log"}, "axis": {"tickCount": 4}}
    log = {"transform": [{"filter": f"datum.x >= {_start(results)}"}], "encoding": {"x": logarithmic}}
    panel = drawn(rows, {"type": "line", "strokeWidth": 2, "clip": True}, encoding, height=340)
    columns, table = pivoted(rows, "x", "model", "y")
    return Chart(
        "curves", "How far down the list relevant items are",
        "TOPK(k): the share of held-out relevant items among the first k of the ranked catalogue. Higher is better; "
        "what people see is the head, so zoom in on it.",
        (panel,), ("share of the catalogue", *columns), table, models,
        views=(("whole catalogue", {}), (f"first {HEAD:.0%}", head), ("log scale", log)),
    )  # fmt: skip


def _start(results: Results) -> float:
    """Where a logarithmic axis begins: the last share before any curve moves, that is, before the first item."""
    flat = [x for m in ranked(results) for (x, y), (_, then) in pairwise(m.curve) if x > 0 and y < then]
    return float(min(flat, default=HEAD / 100))


def histograms(results: Results) -> Chart | None:
    """Held-out relevant items by position, a panel for each model."""
    models = models_of(results)
    rows = [row for m in ranked(results) for row in _bins(m)]
    if not rows:
        return None
    top = max(row["share"] for row in rows)
    panels = [
        _bars([row for row in rows if row["model"] == model], colour(place), model, top)
        for place, model in enumerate(models)
        if any(row["model"] == model for row in rows)
    ]
    columns, table = pivoted(rows, "bin", "model", "count")
    last = max(m.histogram.edges[-1] - 1 for m in ranked(results) if m.histogram)
    return Chart(
        "histograms", "Positions of the held-out relevant items",
        f"Share of them at each range of positions; the ranges grow, and end at {last:,}, the last place there is. "
        "A good model has its mass on the left.",
        tuple(panels), ("position", *columns), table, size="third",
    )  # fmt: skip


def _bins(model: ModelSummary) -> list[Spec]:
    if model.histogram is None:
        return []
    edges, counts = model.histogram.edges, model.histogram.counts
    total = sum(counts) or 1
    return [
        {"model": model.name, "bin": _range(edges, i), "count": n, "share": n / total} for i, n in enumerate(counts)
    ]


def _range(edges: Sequence[int], i: int) -> str:
    """The i-th range of whole positions from one edge to below the next."""
    first, last = edges[i], edges[i + 1] - 1
    return f"{first:,}" if last <= first else f"{first:,}–{last:,}"


def _bars(rows: Sequence[Row], fill: str, title: str, top: float) -> Spec:
    encoding = {
        "x": name("bin", axis={"labelAngle": -45, "labelOverlap": False}),
        "y": number("share", axis={"format": ".0%", "tickCount": 3}, scale={"domain": [0, top], "nice": True}),
        "tooltip": [name("bin", "position"), number("count", "items")],
    }
    return drawn(rows, {"type": "bar", "color": fill}, encoding, title=title, height=120)


def differences(results: Results) -> Chart | None:
    """Every other model minus the best one, by the deciding metric."""
    best, metric = results.verdict.best, results.verdict.metric
    rows = [_against(p, best) for p in results.pairs if p.metric == metric and best in (p.one, p.two)]
    if not rows:
        return None
    models = models_of(results)
    rows.sort(key=lambda row: models.index(row["model"]) if row["model"] in models else len(models))
    y = name("model", axis={"labelLimit": 110, "ticks": False, "domain": False})
    x = number("low", f"{metric}, compared with {best}", axis={"tickCount": 5}, scale={"zero": True, "padding": 10})
    zero = drawn([{"low": 0}], {"type": "rule", "color": INK, "strokeWidth": 1.5}, {"x": x})
    rule = drawn(rows, {"type": "rule", "strokeWidth": 2.5}, {"x": x, "x2": {"field": "high"}, "y": y})
    tooltip = [
        name("model"),
        number("difference", format=".4f"),
        number("low", format=".4f"),
        number("high", format=".4f"),
    ]
    point = drawn(
        rows, {"type": "point", "filled": True, "size": 80, "opacity": 1},
        {"x": {**x, "field": "difference"}, "y": y, "tooltip": tooltip},
    )  # fmt: skip
    for layer in (rule, point):
        layer["encoding"].update(by_model(models))
    keys = ("model", "difference", "low", "high", "adjusted", "won", "lost", "cases", "needed")
    return Chart(
        "differences", f"Against {best}, user by user",
        f"Mean difference in {metric} over the same cases, with 95% intervals. "
        "An interval that touches the line leaves open who is better; each is for one comparison alone, while the "
        "letters in the table allow for there being several.",
        (layered(zero, rule, point, height=steps(len(rows))),),
        ("model", "difference", "low", "high", "p, adjusted", "better in", "worse in", "cases", "cases needed"),
        tuple(tuple(row[key] for key in keys) for row in rows), size="half",
    )  # fmt: skip


def _against(pair: PairResult, best: str) -> Spec:
    """A pair seen as the other model minus the best one."""
    same = {"adjusted": pair.adjusted, "cases": pair.cases, "needed": pair.needed}
    if pair.two == best:
        ends = {"difference": pair.difference, "low": pair.low, "high": pair.high, "won": pair.won, "lost": pair.lost}
        return {"model": pair.one, **ends, **same}
    turned = {"difference": -pair.difference, "low": -pair.high, "high": -pair.low, "won": pair.lost, "lost": pair.won}
    return {"model": pair.two, **turned, **same}


def times(results: Results) -> Chart | None:
    """The deciding metric against the seconds of training."""
    metric = results.verdict.metric
    rows = [
        {"model": m.name, **as_plain(value), "seconds": m.seconds["fit"], "tune": m.seconds.get("tune")}
        for m in ranked(results)
        if (value := m.metrics.get(metric)) is not None and value.mean is not None and "fit" in m.seconds
    ]
    if len(rows) < 2:
        return None
    shown = [{**row, "seconds": max(row["seconds"], FASTEST)} for row in rows]
    models = models_of(results)
    scale = {"type": "log", "nice": True, "padding": 12}
    x = number("seconds", "seconds of training", scale=scale, axis={"format": "~g", "tickCount": 5})
    y = number("mean", metric, scale={"zero": False}, axis={"tickCount": 5})
    rule = drawn(
        shown,
        {"type": "rule", "opacity": 0.6, "strokeWidth": 1.5},
        {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    )
    tooltip = [name("model"), number("mean", metric, format=".4f"), number("seconds", format=".3g")]
    mark = {"type": "point", "filled": True, "size": 110, "opacity": 1, "stroke": PAPER, "strokeWidth": 1}
    point = drawn(shown, mark, {"x": x, "y": y, "tooltip": tooltip, **by_model(models, shape=True)})
    rule["encoding"].update(by_model(models))
    return Chart(
        "times", "Accuracy against training time",
        f"{metric} with 95% intervals; the axis of seconds is logarithmic.",
        (layered(rule, point),), ("model", metric, "low", "high", "seconds of training", "seconds of tuning"),
        tuple((r["model"], r["mean"], r["low"], r["high"], r["seconds"], r["tune"]) for r in rows),
        models, swatch="point", size="half",
    )  # fmt: skip


def embedded(charts: Sequence[Chart]) -> Mapping[str, Any]:
    """What the page's script needs of them."""
    return {c.id: {"panels": c.panels, "views": [patch for _, patch in c.views]} for c in charts}
