"""Tie groups: relevant items that share a score, with each other or with irrelevant candidates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Ints
from fullrank.data.canonical import sort_rows
from fullrank.ranks import Ranks


class Groups(NamedTuple):
    """Items of a case with one score: `relevant` of them relevant, `others` not, after `start` better ones.

    `relevant_above` of the better ones are relevant. Every order within a group is equally likely, so that the
    group fills positions start+1 .. start+relevant+others.
    """

    case: NDArray[np.intp]
    start: Ints
    relevant_above: Ints
    relevant: Ints
    others: Ints
    row: NDArray[np.intp]  # the group of every row


def tie_groups(ranks: Ranks) -> Groups:
    """Tie groups that hold a relevant item, in order of case and score."""
    rows = len(ranks.above)
    most = int(ranks.sizes.max(initial=1))
    order, (case, higher) = sort_rows((ranks.case, len(ranks)), (ranks.relevant_above, most))
    first = np.ones(rows, dtype=bool)
    first[1:] = (case[1:] != case[:-1]) | (higher[1:] != higher[:-1])
    starts = np.flatnonzero(first)
    lead = order[starts]
    row = np.empty(rows, dtype=np.intp)
    row[order] = np.cumsum(first) - 1
    relevant = np.diff(np.append(starts, rows))
    higher = ranks.relevant_above[lead]
    return Groups(ranks.case[lead], ranks.above[lead] + higher, higher, relevant, ranks.tied[lead], row)
