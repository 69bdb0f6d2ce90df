"""The same lists as other libraries count them, beside our numbers."""

from __future__ import annotations

from collections.abc import Sequence

from fullrank.comparison.results import LibraryCount
from fullrank.data.outside import OutsideLists
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.conventions.table import as_library, find_convention
from fullrank.evaluation.given_lists import given_lists
from fullrank.evaluation.result import evaluate
from fullrank.evaluation.top import TopN
from fullrank.metrics.metric import Metric
from fullrank.metrics.table import parse
from fullrank.ranks import Ranks

LENGTH = 10  # where no metric has a cut-off


def count_as(
    libraries: Sequence[str], lists: OutsideLists | TopN, cases: Cases, ranks: Ranks, metrics: Sequence[Metric]
) -> tuple[LibraryCount, ...]:
    """What each of these libraries would say of lists, at the cut-offs of our metrics that are within them."""
    if not libraries:
        return ()
    length = lists.longest if isinstance(lists, OutsideLists) else lists.item.shape[1]
    cuts = dict.fromkeys(metric.k for metric in metrics if isinstance(metric.k, int) and metric.k <= length)
    given = given_lists(lists, cases, graded=any(metric.name.startswith("graded") for metric in metrics))
    rows = {name: as_library(name, given, tuple(cuts) or (min(LENGTH, length),)) for name in libraries}
    nearest = list(dict.fromkeys(row.ours for each in rows.values() for row in each))
    found = evaluate(ranks, [parse(name) for name in nearest])
    ours = {name: None if name in found.bounds() else mean for name, mean in found.mean().items()}
    return tuple(
        LibraryCount(
            name, find_convention(name).checked, row.measure, row.value, row.ours, ours[row.ours], row.sentence
        )
        for name, each in rows.items()
        for row in each
    )
