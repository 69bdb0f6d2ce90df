from __future__ import annotations

from typing import Any

import pytest

from fullrank.comparison.results import Results
from fullrank.report import charts, data_charts, trust_charts
from fullrank.report.vega import COLOURS, by_model, spread
from tests.report.fixture import bare, results


@pytest.fixture
def content() -> dict[str, Any]:
    return results()


def test_nothing_to_draw() -> None:
    for draw in (charts.curves, charts.histograms, charts.differences, charts.times, trust_charts.sampled):
        assert draw(Results.from_json(bare())) is None
    for draw in (trust_charts.truth, data_charts.values, data_charts.popularity, data_charts.missing):
        assert draw(Results.from_json(bare())) is None
    assert trust_charts.sensitivities(Results.from_json(bare())) == []


def test_curves_have_a_zoom_and_a_line_for_each_point(content: dict[str, Any]) -> None:
    chart = charts.curves(Results.from_json(content))
    assert chart
    assert [label for label, _ in chart.views] == ["whole catalogue", "first 10%", "log scale"]
    assert len(chart.rows) == len(content["models"][0]["curve"])
    assert chart.rows[-1] == (1.0, *[1.0] * 7)


def test_the_log_view_starts_at_the_first_item(content: dict[str, Any]) -> None:
    for model in content["models"]:
        model["curve"] = [[0, 0.1], [0.001, 0.1], [0.01, 0.1], [0.02, 0.3], [1, 1]]
    chart = charts.curves(Results.from_json(content))
    assert chart
    assert chart.views[2][1]["transform"] == [{"filter": "datum.x >= 0.01"}]


def test_curves_on_different_grids_leave_cells_empty(content: dict[str, Any]) -> None:
    content["models"][1]["curve"] = [[0, 0], [0.333, 0.5], [1, 1]]
    chart = charts.curves(Results.from_json(content))
    assert chart
    line = next(row for row in chart.rows if row[0] == 0.333)
    assert line[1:3] == (None, 0.5)


def test_ranges_of_positions_end_with_the_catalogue(content: dict[str, Any]) -> None:
    for model in content["models"]:
        model["histogram"] = {"edges": [1, 2, 5, 1683], "counts": [3, 1, 0]}
    chart = charts.histograms(Results.from_json(content))
    assert chart
    assert [row[0] for row in chart.rows] == ["1", "2–4", "5–1,682"]
    assert "end at 1,682" in chart.text
    assert [bar["share"] for bar in chart.panels[0]["data"]["values"]] == [0.75, 0.25, 0]


def test_differences_are_other_minus_best_whichever_way_they_came(content: dict[str, Any]) -> None:
    pair = content["pairs"][0]
    turned = {**pair, "one": pair["two"], "two": pair["one"], "difference": -pair["difference"]}
    turned.update(low=-pair["high"], high=-pair["low"], won=pair["lost"], lost=pair["won"])
    one = charts.differences(Results.from_json(content))
    two = charts.differences(Results.from_json({**content, "pairs": [turned, *content["pairs"][1:]]}))
    assert one == two
    assert one
    model, difference, low, high, _, better, worse, *_ = one.rows[0]
    assert model == "IALS"
    assert low < difference < high
    assert difference == -pair["difference"]
    assert (better, worse) == (pair["lost"], pair["won"])


def test_differences_are_of_the_deciding_metric_and_the_best_model(content: dict[str, Any]) -> None:
    content["pairs"] += [
        {**content["pairs"][0], "metric": "auc"},
        {**content["pairs"][0], "one": "MFADG", "two": "IALS"},
    ]
    chart = charts.differences(Results.from_json(content))
    assert chart
    assert [row[0] for row in chart.rows] == [m["name"] for m in content["models"][1:-1]]


def test_no_time_at_all_is_drawn_on_the_log_axis(content: dict[str, Any]) -> None:
    content["models"][0]["seconds"]["fit"] = 0.0
    chart = charts.times(Results.from_json(content))
    assert chart
    assert all(row["seconds"] > 0 for row in chart.panels[0]["layer"][0]["data"]["values"])
    assert chart.rows[0][4] == 0.0


def test_only_parameters_that_varied_are_drawn(content: dict[str, Any]) -> None:
    (chart,) = trust_charts.sensitivities(Results.from_json(content))
    axes = [panel["layer"][0]["encoding"]["x"] for panel in chart.panels]
    assert [axis["title"] for axis in axes] == ["missing_weight", "missing_value", "reg"]
    assert [axis["scale"].get("type") for axis in axes] == ["symlog", None, "log"]
    assert len(chart.rows) == 40


def test_the_best_setting_is_the_lowest_where_lower_is_better(content: dict[str, Any]) -> None:
    tuned = content["models"][0]["tuned"]
    done = [point["value"] for point in tuned["points"] if point["state"] == "complete"]
    for metric, best in (("recall@10", max(done)), ("median rank", min(done))):
        tuned["metric"] = metric
        (chart,) = trust_charts.sensitivities(Results.from_json(content))
        assert chart.panels[0]["layer"][-1]["data"]["values"][0]["y"] == best


def test_parameters_that_are_no_numbers(content: dict[str, Any]) -> None:
    for i, point in enumerate(content["models"][0]["tuned"]["points"]):
        point["parameters"] = {"loss": ("squared", None, True)[i % 3]}
    (chart,) = trust_charts.sensitivities(Results.from_json(content))
    drawn = chart.panels[0]["layer"][1]
    assert drawn["encoding"]["x"]["type"] == "nominal"
    assert {row["x"] for row in drawn["data"]["values"]} == {"squared", "None", "True"}


def test_places_follow_the_direction_of_the_metric(content: dict[str, Any]) -> None:
    row = content["sampled"]["rows"][0]
    for metric, first in (("recall@10", "AllRank"), ("median rank", "Bestseller")):
        row["metric"] = metric
        chart = trust_charts.sampled(Results.from_json(content))
        assert chart
        exact = [r for r in chart.panels[0]["layer"][0]["data"]["values"] if r["kind"] == "exact"]
        assert next(r["model"] for r in exact if r["place"] == 1) == first


def test_whether_the_order_is_kept_is_said(content: dict[str, Any]) -> None:
    chart = trust_charts.truth(Results.from_json(content))
    assert chart
    said = {panel["title"]["text"]: panel["title"]["subtitle"] for panel in chart.panels}
    assert said["recall@10†"].endswith("kept")
    assert said["auc"].endswith("not kept")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, 2.0, 3.0], None),
        ([0.001, 0.01, 0.1, 1.0], "log"),
        ([0.0, 0.001, 0.01, 1.0], "symlog"),
        ([0.01, 0.9, 2.1, 3.2, 4.0], None),
        ([-1.0, 0.001, 0.01, 1.0], None),
        ([0.0, 0.0], None),
    ],
)
def test_axes_are_logarithmic_where_values_are(values: list[float], kind: str | None) -> None:
    assert spread(values)["scale"].get("type") == kind


def test_twenty_models_look_different() -> None:
    names = [str(i) for i in range(20)]
    lines, points = by_model(names, dash=True), by_model(names, shape=True)
    colours = lines["color"]["scale"]["range"]
    assert len(set(colours[:COLOURS])) == COLOURS
    for other in (lines["strokeDash"], points["shape"]):
        looks = {(colour, str(more)) for colour, more in zip(colours, other["scale"]["range"], strict=True)}
        assert len(looks) == 20
