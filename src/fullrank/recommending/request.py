"""Who gets lists, of what, and what each of them does not get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Bools, Codes, Ints, frozen, owned
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.evaluation.fallback import popular
from fullrank.models.kinds.item_scores import ItemScores
from fullrank.recommending.candidates import Candidates
from fullrank.recommending.restricted import Restricted

Rows: TypeAlias = tuple[Ints, Codes]  # items by row: where each starts, and codes


@dataclass(frozen=True, eq=False)
class Request:
    """Who gets lists, of what: people by name, in this order, and what each of them does not get."""

    candidates: Candidates
    names: Ids
    hidden: Interactions | None = None  # further pairs that are left out, over the ids of the model

    @cached_property
    def code(self) -> Codes:
        """The users of the model, -1 where it has none of that name."""
        users = self.candidates.model.train.users
        if self.names is users:
            return frozen(np.arange(len(users), dtype=np.int32))
        return frozen(users.codes(self.names.names, missing=-1))

    @cached_property
    def known(self) -> Bools:
        """Of whom the model can tell a taste; others are served what is popular."""
        known = self.code >= 0
        known[known] = self.candidates.model.knows(self.code[known])
        return frozen(known)

    @cached_property
    def seen(self) -> Rows:
        """What people have seen, where that is left out: by row, in the codes of what is left."""
        if self.candidates.rules.repeat:
            return rows_at(self.candidates.train, self.code[:0], len(self.names))
        return rows_at(self.candidates.train, self.code, len(self.names))

    @cached_property
    def denied(self) -> Rows:
        """What rules take out for some: by row, in the codes of what is left."""
        start, item = self.candidates.pairs("deny", self.names)
        if self.hidden is not None:
            start, item = _join((start, item), rows_at(self.hidden, self.code, len(self.names)))
        if self.candidates.keep is None:
            return start, item
        place = np.where(self.candidates.left, np.cumsum(self.candidates.left) - 1, -1)[item]
        kept = np.concatenate([[0], np.cumsum(place >= 0)])
        return frozen(kept[start]), frozen(place[place >= 0].astype(np.int32))

    @cached_property
    def allowed(self) -> Rows:
        """What some people choose from: by row, in the codes of the catalogue."""
        return self.candidates.pairs("allow", self.names)

    @cached_property
    def listed(self) -> Bools:
        """Who gets nothing but what is allowed."""
        return self.candidates.listed(self.names)

    def past(self, rows: NDArray[Any]) -> Rows:
        """What counts of what people had, where lists are calibrated by it; else nothing."""
        if self.candidates.calibrated:
            return rows_at(self.candidates.model.positives, self.code[rows], len(rows))
        return rows_at(self.candidates.train, self.code[:0], len(rows))

    @cached_property
    def scored(self) -> Any:
        """The model, over what is left of its catalogue."""
        left = self.candidates
        return left.model if left.keep is None else Restricted(left.model, left.keep, left.train)

    @cached_property
    def instead(self) -> Any:
        """What people get of whom nothing is known."""
        return self.scored if isinstance(self.candidates.model, ItemScores) else popular(self.candidates.train)

    def __len__(self) -> int:
        return len(self.names)


def rows_at(data: Interactions, code: Codes, rows: int) -> Rows:
    """The items of these users (codes, -1: nobody), by row; nothing for rows beyond them."""
    if len(code) == data.n_users == rows and (code == np.arange(rows)).all():
        return owned(data.starts, np.int64), data.item
    sizes = np.zeros(rows, dtype=np.int64)
    sizes[: len(code)] = np.where(code >= 0, np.append(np.diff(data.starts), 0)[code], 0)
    start = np.concatenate([[0], np.cumsum(sizes)])
    first = np.repeat(np.append(data.starts, 0)[code].astype(np.int64) - start[: len(code)], sizes[: len(code)])
    return frozen(start), frozen(data.item[first + np.arange(start[-1])])


def _join(one: Rows, other: Rows) -> Rows:
    """Items of both, by row."""
    size, more = np.diff(one[0]), np.diff(other[0])
    row = np.concatenate([np.repeat(np.arange(len(size)), size), np.repeat(np.arange(len(more)), more)])
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(size + more)])
    return frozen(start), frozen(np.concatenate([one[1], other[1]])[order])
