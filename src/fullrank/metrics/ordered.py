"""Measures of order among graded items, as metrics of ranks: what a case's grades say against what its scores say.

Ranks keep the order of a case's relevant items (`relevant_above`) and their grades; with sessions ranked inside their
offer sets and everything relevant (`rank(model, sessions, relevant=0)`), that is the whole predicted order. Each is
defined in `metrics.partial_order` or `metrics.edrc`; NaN where a case's grades are all equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fullrank.arrays import Doubles
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.errors import DataError
from fullrank.metrics import edrc as _edrc
from fullrank.metrics import partial_order
from fullrank.metrics.edrc import Discount
from fullrank.metrics.metric import CutOff, Metric
from fullrank.metrics.similar_users import Shares
from fullrank.ranks import Ranks


def _make(name: str, measure: Callable[..., Doubles], best: float, worst: float, **options: Any) -> Metric:
    def function(ranks: Ranks, k: CutOff) -> Doubles:
        if ranks.grade is None:
            raise DataError(f"{name} needs grades, and these ranks have none; rank held-out data with values.")
        return measure(_as_graded(ranks), -ranks.relevant_above, **options)

    function.__doc__ = measure.__doc__
    return Metric(name, function, cut="", best=best, worst=worst)


def edrc_by_similar(share: Shares, discount: Discount = "linear") -> Metric:
    """EDRC with the share of similar users where truth or prediction leave a pair open.

    `share(user, better, worse)` of columns of codes: `share_from(train.graded())`, or your own; `discount` as in
    `metrics.edrc`.
    """

    def function(ranks: Ranks, k: CutOff) -> Doubles:
        if ranks.grade is None or ranks.item is None or ranks.user is None:
            raise DataError("edrc by similar users needs grades, items and users; use the ranks of rank(...).")
        numbered = _as_graded(ranks)

        def by_code(case: Any, better: Any, worse: Any) -> Any:
            first = ranks.start[case]  # items are numbered from there
            return share(ranks.user[case], ranks.item[first + better], ranks.item[first + worse])

        return _edrc.edrc(numbered, -ranks.relevant_above, discount, by_code)

    function.__doc__ = _edrc.edrc.__doc__
    return Metric("edrc, similar users", function, cut="", best=1.0, worst=-1.0)


def _as_graded(ranks: Ranks) -> Graded:
    """The relevant items of each case, numbered in place of their ids, which orders do not need."""
    cases = np.arange(len(ranks), dtype=np.int32)
    place = (np.arange(len(ranks.case)) - ranks.start[ranks.case]).astype(np.int32)
    names = Ids(np.arange(max(len(ranks), int(ranks.sizes.max(initial=0)))))
    return Graded(start=ranks.start, item=place, grade=ranks.grade, user=cases, users=names, items=names)


pairwise_loss = _make("pairwise_loss", partial_order.pairwise_loss, 0.0, 1.0)
fcp = _make("fcp", partial_order.fcp, 1.0, 0.0)
ndpm = _make("ndpm", partial_order.ndpm, 0.0, 1.0)
kendall = _make("kendall", partial_order.kendall, 1.0, -1.0)
spearman = _make("spearman", partial_order.spearman, 1.0, -1.0)
tau_ap = _make("tau_ap", partial_order.tau_ap, 1.0, -1.0)
edrc = _make("edrc", _edrc.edrc, 1.0, -1.0)
edrc_log = _make("edrc_log", _edrc.edrc, 1.0, -1.0, discount="logarithmic")
edrc_exp = _make("edrc_exp", _edrc.edrc, 1.0, -1.0, discount="exponential")
