"""Results → charts of the data they come from."""

from __future__ import annotations

from fullrank.comparison.results import Results, as_plain
from fullrank.report.charts import PERCENT
from fullrank.report.vega import (
    ACCENT,
    SOFT,
    Chart,
    drawn,
    layered,
    name,
    number,
)


def values(results: Results) -> Chart | None:
    """Histogram of ratings or grades."""
    counts = results.data.values
    if not counts:
        return None
    rows = [{"value": value, "rows": n} for value, n in counts.items()]
    encoding = {
        "x": name("value", "value", axis={"labelAngle": 0}),
        "y": number("rows", "rows", axis={"format": "~s", "tickCount": 4}),
        "tooltip": [name("value"), number("rows", format=",")],
    }
    return Chart(
        "values", "Values people gave", "How often each value occurs.",
        (drawn(rows, {"type": "bar", "color": ACCENT}, encoding, height=200),),
        ("value", "rows"), tuple(counts.items()), size="third",
    )  # fmt: skip


def popularity(results: Results) -> Chart | None:
    """Share of all rows on the most popular items."""
    curve = results.data.popularity
    if not curve:
        return None
    rows = [{"x": x, "y": y} for x, y in curve]
    encoding = {
        "x": number("x", "items, most popular first", axis=PERCENT, scale={"nice": False}),
        "y": number("y", "share of rows", axis=PERCENT),
    }
    even = drawn(
        [{"x": 0, "y": 0}, {"x": 1, "y": 1}],
        {"type": "line", "color": SOFT, "strokeWidth": 1, "strokeDash": [4, 3]},
        encoding,
    )
    line = drawn(rows, {"type": "line", "color": ACCENT, "strokeWidth": 2}, encoding)
    return Chart(
        "popularity", "Popularity", "Share of all rows on the most popular items; dashed: all items alike.",
        (layered(even, line, height=200),), ("share of items", "share of rows"), tuple(curve),
        size="third",
    )  # fmt: skip


def missing(results: Results) -> Chart | None:
    """Mean value by number of ratings: evidence that values are missing not at random."""
    evidence = results.data.missing
    if evidence is None:
        return None
    points = [as_plain(point) for point in evidence.points if point.mean is not None]
    if not points:
        return None
    encoding = {
        "x": name("ratings", "ratings of an item", axis={"labelAngle": -45, "labelOverlap": False}),
        "y": number("mean", "mean value", scale={"zero": False}, axis={"tickCount": 4}),
        "tooltip": [name("ratings"), number("items", format=","), number("mean", format=".3f")],
    }
    mark = {"type": "line", "color": ACCENT, "point": {"color": ACCENT, "size": 60}}
    return Chart(
        "missing", "Are values missing at random?",
        "Were it so, items with few and with many ratings would be rated alike.",
        (drawn(points, mark, encoding, height=200),), ("ratings of an item", "items", "mean value"),
        tuple((p.ratings, p.items, p.mean) for p in evidence.points), size="third",
    )  # fmt: skip
