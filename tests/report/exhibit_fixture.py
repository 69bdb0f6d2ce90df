"""Results of every kind."""

from __future__ import annotations

from typing import Any

from fullrank.data.sources.known import KNOWN
from fullrank.reproduction.findings import Claim, Figure, Findings, Number, Reproduced
from tests.report.fixture import HOSTILE

HOLDS, FAILS = Claim("it rises", True, "from 1 to 2"), Claim("it falls", False, "it rises")
LINES = {"exact": [(1, 0.1), (10, 0.2), (100, 0.4)], "sampled": [(1, 0.9), (10, 0.8), (100, 0.7)]}
ERRORS = {"bias": [(0.001, 2.0), (0.1, 20.0), (1.0, 3000.0)], "variance": [(0.001, 100.0), (0.1, 1.0), (1.0, 0.0)]}
SHARES = {"exact": [("X", 0.5), ("Y", 0.25)], "sampled": [("X", 0.1), ("Y", 0.75)]}
SECONDS = {"": [(f"a method with a long name, the {place}th", place / 2) for place in range(9)]}
FIGURES = (
    Figure("Lines", "samples", "recall", LINES),
    Figure("Errors", "gamma", "error", ERRORS, "xy"),
    Figure("Bars", "model", "share", SHARES),
    Figure("Lying bars", "", "seconds", SECONDS),
    Figure("Dots", "model", "share", SHARES, "y"),
)
TABLE = tuple(
    Number(row, column, published, ours, 0.01)
    for row, values in {"X": (0.5, 0.1), "Y": (0.25, 0.2), "Z": (0.75, 0.3)}.items()
    for column, published, ours in zip(("exact", "sampled", "corrected"), (*values, None), (*values, 0.4), strict=True)
)


def shown(name: str, findings: Findings | None = None, missing: tuple[str, ...] = (), **about: Any) -> Reproduced:
    """As `reproduce` gives it: all that is missing, and the paper's own data, with how to get it."""
    to_get = {data: KNOWN[data].dataset.how_to_get for data in (*missing, about.pop("better", "")) if data}
    about = {"title": f"Title of {name}", "place": "Table 1", **about}
    return Reproduced(name, missing=missing, how_to_get=to_get, findings=findings or Findings(), **about)


def exhibits() -> list[Reproduced]:
    off = (Number("W", "exact", 0.5, 0.6), *TABLE)
    return [
        shown("krichene2020-table3", Findings(off, (HOLDS,)), why="Ties.", stands_in="MovieLens 1M.", better="netflix"),
        shown("krichene2020-table10", Findings(TABLE, (HOLDS, HOLDS)), why="Nothing much."),
        shown("steck2010-fig1", Findings((), (HOLDS,), FIGURES)),
        shown("steck2010-table2", Findings(TABLE, (HOLDS, FAILS))),
        shown("steck2010-table3", missing=("netflix", "ta-feng"), stands_in="Nothing."),
        shown("steck2015-table1", Findings((Number("a", "", None, 1234.5, digits=1), Number("b", "", None, 2.0)))),
        shown("t-1", Findings((Number("a", "n", 5.0, 9.0, None),)), title=HOSTILE[0]),
    ]
