"""Results → charts of how far they go: other parameters, sampled candidates, complete data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullrank.comparison.results import Results, SampledRow, TruthRow, as_plain
from fullrank.comparison.tables import lower_is_better, marked, ranked
from fullrank.report.charts import models_of
from fullrank.report.vega import (
    ACCENT,
    INK,
    PAPER,
    SOFT,
    WARN,
    Chart,
    Row,
    Spec,
    by_model,
    drawn,
    layered,
    name,
    number,
    spread,
    steps,
)
from fullrank.tuning.summary import TuningPoint, TuningSummary

KINDS = ("exact", "sampled", "corrected")


def sensitivities(results: Results) -> list[Chart]:
    """For every tuned model, the metric against each parameter that was varied."""
    charts = []
    for place, model in enumerate(ranked(results)):
        tuned = model.tuned
        if tuned is None:
            continue
        scored = [point for point in tuned.points if point.value is not None]
        names = dict.fromkeys(key for point in tuned.points for key in point.parameters)
        varied = [key for key in names if len({repr(point.parameters.get(key)) for point in scored}) > 1]
        if varied:
            charts.append(_sensitivity(results, model.name, tuned, varied, place))
    return charts


def _sensitivity(results: Results, model: str, tuned: TuningSummary, varied: Sequence[str], place: int) -> Chart:
    metric = tuned.metric
    scored = [point for point in tuned.points if point.value is not None]
    done = [point for point in scored if point.state == "complete"] or scored
    best = (min if lower_is_better(results, metric) else max)(done, key=lambda point: point.value or 0.0)
    stopped = f", {tuned.pruned} of them stopped early (hollow)" if tuned.pruned else ""
    return Chart(
        f"sensitivity-{place}", model,
        f"{tuned.trials} settings{stopped}. The ring marks the best.",
        tuple(_parameter(key, scored, best, metric) for key in varied), (*varied, metric, "state"),
        tuple((*(p.parameters.get(key) for key in varied), p.value, p.state) for p in tuned.points), size="third",
    )  # fmt: skip


def _parameter(key: str, points: Sequence[TuningPoint], best: TuningPoint, metric: str) -> Spec:
    """The metric against one parameter; on a log axis where its values ask for it."""
    values: list[Any] = [point.parameters.get(key) for point in points]
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    x = number("x", key, **spread(values)) if numeric else name("x", key, axis={"labelAngle": 0})
    y = number("y", metric, scale={"zero": False}, axis={"tickCount": 4})
    tooltip = [{"field": "x", "type": x["type"], "title": key}, number("y", metric, format=".4f")]

    def marks(some: Sequence[TuningPoint], **mark: Any) -> Spec:
        places = [point.parameters.get(key) for point in some]
        rows = [{"x": v if numeric else str(v), "y": point.value} for v, point in zip(places, some, strict=True)]
        return drawn(rows, {"type": "point", "opacity": 0.9, **mark}, {"x": x, "y": y, "tooltip": tooltip})

    return layered(
        marks([point for point in points if point.state != "complete"], color=SOFT, size=36),
        marks([point for point in points if point.state == "complete"], color=ACCENT, filled=True, size=40),
        marks([best], color=INK, size=170, strokeWidth=2),
        height=170,
    )


def sampled(results: Results) -> Chart | None:
    """The order of models by exact, sampled and corrected values, a panel for each metric."""
    panel = results.sampled
    if panel is None or not panel.rows:
        return None
    models = models_of(results)
    rows = [row for one in panel.rows for row in _places(one, lower_is_better(results, one.metric))]
    panels = tuple(
        _bump([r for r in rows if r["metric"] == one.metric], marked(results, one.metric), models) for one in panel.rows
    )
    table = tuple(
        (one.metric, model, *(getattr(one, kind).get(model) for kind in KINDS))
        for one in panel.rows
        for model in one.exact
    )
    return Chart(
        "sampled", f"Who would have led among {panel.m:,} sampled candidates",
        "Models from best (top) to worst by the exact value, by the value among sampled candidates, and by that value "
        "corrected. Lines that cross are models whose order was lost.",
        panels, ("metric", "model", *KINDS), table, size="half",
    )  # fmt: skip


def _places(one: SampledRow, lower: bool) -> list[Spec]:
    rows = []
    for kind in KINDS:
        there = {model: value for model, value in getattr(one, kind).items() if value is not None}
        order = sorted(there, key=lambda model: there[model], reverse=not lower)
        rows += [
            {"metric": one.metric, "kind": kind, "model": model, "place": place, "value": there[model]}
            for place, model in enumerate(order, start=1)
        ]
    return rows


def _bump(rows: Sequence[Row], title: str, models: Sequence[str]) -> Spec:
    x = name("kind", axis={"orient": "top", "labelAngle": 0, "domain": False, "ticks": False, "labelFontWeight": 600})
    x["scale"] = {"type": "point", "padding": 1.5}
    last = max(row["place"] for row in rows)
    digits = ".3f" if 0.01 < max(row["value"] for row in rows) < 10 else ".3r"
    y = number("place", axis=None, scale={"domain": [0.4, last + 0.4], "reverse": True, "nice": False})
    tooltip = [name("model"), name("kind"), number("value", format=".4f")]
    base = {"x": x, "y": y}
    beside: Spec = {"fontSize": 11, "limit": {"expr": "0.3 * width - 9"}}
    over: Spec = {"dy": -11, "fontSize": 10.5, "color": SOFT}

    def text(some: Sequence[Row], field: str, **mark: Any) -> Spec:
        shown: Spec = {"field": field, "type": "nominal"} if field == "model" else number(field, format=digits)
        return drawn(some, {"type": "text", "color": INK, **mark}, {**base, "text": shown})

    return layered(
        drawn(rows, {"type": "line", "strokeWidth": 2}, {**base, **by_model(models, dash=True)}),
        drawn(rows, {"type": "circle", "size": 70, "opacity": 1}, {**base, **by_model(models), "tooltip": tooltip}),
        text([r for r in rows if r["kind"] == KINDS[0]], "model", align="right", dx=-9, **beside),
        text([r for r in rows if r["kind"] == KINDS[-1]], "model", align="left", dx=9, **beside),
        text(rows, "value", **over, stroke=PAPER, strokeWidth=4),
        text(rows, "value", **over),
        height=steps(last, 32), title=title,
    )  # fmt: skip


def truth(results: Results) -> Chart | None:
    """Estimate and complete-data value of every model, a panel for each metric."""
    panel = results.truth
    if panel is None or not panel.rows:
        return None
    panels = tuple(_dumbbell(one, results) for one in panel.rows)
    table = tuple(
        (one.metric, model, both.estimate, both.truth, "yes" if one.order_kept else "no")
        for one in panel.rows
        for model, both in one.models.items()
    )
    return Chart(
        "truth", "Estimate and truth",
        "Hollow: estimated from the ratings that were observed. Filled: measured on complete data.",
        panels, ("metric", "model", "estimate", "truth", "order kept"), table, size="third",
    )  # fmt: skip


def _dumbbell(one: TruthRow, results: Results) -> Spec:
    order = [model for model in models_of(results) if model in one.models]
    rows = [{"model": model, **as_plain(one.models[model])} for model in order]
    x = number("truth", scale={"zero": False}, axis={"tickCount": 4})
    y = name("model", axis={"labelLimit": 110, "ticks": False, "domain": False})
    tooltip = [name("model"), number("estimate", format=".4f"), number("truth", format=".4f")]

    def points(field: str, **mark: Any) -> Spec:
        shape = {"type": "point", "size": 60, "color": ACCENT, "opacity": 1, **mark}
        return drawn(rows, shape, {"x": {**x, "field": field}, "y": y, "tooltip": tooltip})

    rule = drawn(rows, {"type": "rule", "color": SOFT}, {"x": x, "x2": {"field": "estimate"}, "y": y})
    title = {"text": marked(results, one.metric), "subtitle": "✓ order of models kept"}
    if not one.order_kept:
        title.update(subtitle="▲ order of models not kept", subtitleColor=WARN)
    return layered(
        rule, points("truth", filled=True), points("estimate", fill=PAPER), height=steps(len(rows), 22), title=title
    )
