"""Ackerman 2012, chapter 2: pairwise loss, nDCG and AP correlation by hand."""

from __future__ import annotations

import numpy as np

from fullrank.data.graded import Graded
from fullrank.data.preferences import Preferences
from fullrank.metrics.partial_order import preference_loss, tau_ap
from fullrank.metrics.positions import discounts
from fullrank.metrics.relevance import graded_ndcg
from fullrank.ranks import Ranks
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Findings, Number
from fullrank.reproduction.workspace import Workspace

TRUTH, PREDICTED = ("A > B", "A > C", "B > C"), "ACB"  # Table 2.3
GRADES, PLACES = (5, 4, 3, 2), (2, 1, 3, 4)  # Table 2.4: of A to D, and where they are predicted


def run(workspace: Workspace) -> Findings:
    """Tables 2.3 and 2.4, measured."""
    better, worse = zip(*(pair.split(" > ") for pair in TRUTH), strict=True)
    likes = Preferences.of(["u"] * len(TRUTH), better, worse)
    score = -np.array([PREDICTED.index(name) for name in likes.items.names])
    loss = float(preference_loss(likes, score[likes.better], score[likes.worse])[0])
    case = Graded.of(session=[1] * 4, item=[*"ABCD"], grade=GRADES)
    first = np.argsort(PLACES)  # items as they are predicted
    ranks = Ranks(
        start=[0, 4], above=[0] * 4, tied=[0] * 4, pool=[0], relevant_above=np.arange(4), grade=np.array(GRADES)[first]
    )
    gain = float((2.0 ** np.array(GRADES) - 1) @ discounts.at(np.array(PLACES)))
    return Findings(
        (
            Number("Table 2.3", "pairwise loss", round(1 / 3, 3), loss),
            Number("Table 2.4", "DCG", 39.351, gain),
            Number("Table 2.4", "nDCG", 0.870, float(graded_ndcg(ranks)[0])),
            Number("Table 2.4", "AP correlation", round(1 / 3, 3), float(tau_ap(case, -np.array(PLACES))[0])),
        )
    )


EXHIBIT = Exhibit(
    "ackerman2012-chapter2", "Measures of order by hand", "Ackerman 2012, Tables 2.3 and 2.4, Eq. 2.9 and 2.11", run
)
