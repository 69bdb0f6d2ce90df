"""Ackerman 2012, chapter 4: classes, errors, values in context and targets of the query "Tom Hanks actor"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullrank.arrays import Doubles
from fullrank.data.feedback import seen
from fullrank.kernels import sgd_sessions
from fullrank.models.kinds.cost_factors import CostFactors
from fullrank.models.preferences.comparisons import comparisons
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.reproduction.exhibit import Exhibit
from fullrank.reproduction.findings import Findings, Number
from fullrank.reproduction.papers.ackerman2012.chapter3 import ACTIONS, query
from fullrank.reproduction.workspace import Workspace

MOVIES = tuple(ACTIONS)
CLASSES = dict(zip(MOVIES, (1, 1, 2, 2, 3, 3), strict=True))  # Table 4.1
VALUES = (0.87, 0.96, 0.57, 0.32, 0.44, 0.31)  # Table 4.3
ERRORS = {"Catch Me If You Can": 1, "Toy Story": -1}  # Eq. 4.7 and below it
BENEFITS, ALPHA = (0.5, 0.4, 0.3, 0.3, 0.2, 0.1), 0.3  # Table 4.4
IN_CONTEXT = {"Forrest Gump": 0.578, "Saving Private Ryan": 0.202}  # Eq. 4.8 and 4.9
GAPS = {"1.5 and 1, as calculated": (1.5, 1.0), "1.15 and .95, as told": (1.15, 0.95)}  # below Eq. 4.10
TARGETS = dict(zip(MOVIES[::2], (1.0, 0.4, 0.0), strict=True))  # of a movie of each class
ITEM_CLASSES = (1, 2, 2, 1)  # Figure 4.2: i1; i2, i3; i4, i5; i6
ITEM_GAPS = (0.9, 0.8, 1.1, 0.7, 1.0, 0.9, 0.6, 0.9)  # Table 4.5, read as Eq. 4.16 does: 12 13, 24 25 34 35, 46 56


def run(workspace: Workspace) -> Findings:
    """Each by what training and ranking use themselves."""
    fifth = float(targets(ITEM_CLASSES, ITEM_GAPS, by_item=True)[4])
    return Findings(
        (
            *_classes(),
            *_errors(),
            *_values(),
            *_targets(),
            Number("i5", "1 less its target (Eq. 4.16)", 0.653, 1 - fifth),
            Number("i5", "target (Eq. 4.16)", 0.653, fifth, None),
        )
    )


def _classes() -> list[Number]:
    cases = query()
    parts = comparisons(cases)
    nest = parts.nest
    number = np.repeat(np.arange(len(nest.run_row) - 1), np.diff(nest.run_row)) + 1  # one case: runs are its classes
    ours = dict(zip(cases.items.names[parts.by_user.other[nest.row_entry]].tolist(), number.tolist(), strict=True))
    return [
        Number(movie, "class (Table 4.1)", published, ours[movie], digits=0) for movie, published in CLASSES.items()
    ]


def _errors() -> list[Number]:
    values, classes = np.array(VALUES, dtype=np.float32), np.array([0, 2, 4, 6])
    nothing, one = np.zeros((6, 1), dtype=np.float32), np.ones(1, dtype=np.float32)
    numbers = []
    for movie, published in ERRORS.items():
        place = MOVIES.index(movie)
        below, above = sgd_sessions._violations(place, np.arange(6), classes, nothing, 1.0, 0.0, values, one, 1.0)
        numbers.append(Number(movie, "error (Eq. 4.7)", published, below - above, digits=0))
    return numbers


def _values() -> list[Number]:
    cases = query()
    items = np.empty((6, 1), dtype=np.float32)
    items[cases.items.codes([*MOVIES]), 0] = BENEFITS
    alpha = np.array([ALPHA], dtype=np.float32)
    model = CostFactors(np.ones((1, 1), dtype=np.float32), items, alpha, seen(cases), SessionCost(factors=1))
    offer = model.rank_offers("query", MOVIES)
    ours = dict(zip(offer.items, offer.value, strict=True))
    return [Number(movie, "value (Eq. 4.8, 4.9)", published, ours[movie]) for movie, published in IN_CONTEXT.items()]


def _targets() -> list[Number]:
    numbers = []
    for name, gaps in GAPS.items():
        ours = targets((2, 2, 2), gaps, by_item=False)
        for movie, published in TARGETS.items():
            target = round(float(ours[MOVIES.index(movie)]), 9) + 0.0  # no -0
            within = None if "told" in name and 0 < published < 1 else 0.0
            numbers.append(Number(movie, f"target, gaps {name}", published, target, within))
    return numbers


def targets(classes: Sequence[int], gaps: Sequence[float], *, by_item: bool) -> Doubles:
    """The targets of a session from the sizes of its classes and its gaps, as the kernel of training has them."""
    starts, out = np.concatenate([[0], np.cumsum(classes)]), np.empty(sum(classes))
    pairs = np.multiply(classes[:-1], classes[1:])
    place = np.concatenate([[0], np.cumsum(pairs)]) if by_item else np.arange(len(classes))
    sgd_sessions._targets(starts, place, np.arange(pairs.sum()), np.log(gaps), by_item, out)
    return out


EXHIBIT = Exhibit(
    "ackerman2012-chapter4", "A session by hand", "Ackerman 2012, Tables 4.1 to 4.5, Eq. 4.7 to 4.16", run,
    why="The thesis tells gaps of 1.15 and .95 and calculates with 1.5 and 1: only these give .4. Eq. 4.16 prints what "
    "is to be taken from 1. Table 4.5 has the gaps from i2 and i3 to i4 in the column of i6.",
)  # fmt: skip
