"""What a model may recommend, and to whom: rules resolved against its ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fullrank.arrays import Bools, Codes, Ints, frozen
from fullrank.data.ids import Ids, Name
from fullrank.data.interactions import Interactions
from fullrank.data.years import YEAR, add_years
from fullrank.errors import shown
from fullrank.models.kinds.model import Model
from fullrank.recommending.diversify import Diversify
from fullrank.recommending.rerank import Arranger, make_arranger
from fullrank.recommending.rules import Rules
from fullrank.recommending.where import choose

FEW = 3  # unknown ids that are named


@dataclass(frozen=True, eq=False)
class Candidates:
    """The items of a model that rules leave, for everybody and for some."""

    model: Model
    rules: Rules
    left: Bools  # (items,): those that may be recommended to anybody
    arranger: Arranger | None = None  # what picks lists from pools, where rules need that
    notes: tuple[str, ...] = ()

    @cached_property
    def keep(self) -> Codes | None:
        """The codes of the items that are left; None where all are."""
        return None if self.left.all() else frozen(np.flatnonzero(self.left).astype(np.int32))

    @cached_property
    def train(self) -> Interactions:
        """What people did with these items, and nothing else; codes of items are places in `keep`."""
        whole = self.model.train
        if self.keep is None:
            return whole
        place = np.cumsum(self.left, dtype=np.int32) - 1
        rows = whole.where(self.left[whole.item])
        return replace(rows, item=place[rows.item], items=Ids(whole.items.names[self.keep]), time=None)

    @property
    def calibrated(self) -> bool:
        """Whether lists follow what people had."""
        how = self.rules.diversify
        return isinstance(how, Diversify) and how.way == "calibrated"

    def pairs(self, which: str, users: Ids) -> tuple[Ints, Codes]:
        """The allowed or denied items of these people, start and codes (sorted), by their place among `users`."""
        table: Interactions | None = getattr(self.rules, which)
        if table is None or not len(users):
            return _nobody(len(users))
        user = users.codes(table.users.names, missing=-1)[table.user]
        item = self.model.train.items.codes(table.items.names, missing=-1)[table.item]
        known = (user >= 0) & (item >= 0)
        order = np.lexsort((item[known], user[known]))
        start = np.concatenate([[0], np.cumsum(np.bincount(user[known], minlength=len(users)))])
        return frozen(start.astype(np.int64)), frozen(item[known][order])

    def listed(self, users: Ids) -> Bools:
        """Who of these people has rows in `allow`, also if none of the items is known: they get nothing else."""
        table: Interactions | None = self.rules.allow
        who = np.zeros(len(users), dtype=bool)
        if table is not None and len(users):
            codes = users.codes(table.users.names, missing=-1)[table.user]
            who[codes[codes >= 0]] = True
        return who


def find_candidates(model: Model, rules: Rules) -> Candidates:
    """Resolve rules against the ids of a model; what is unknown is counted and told."""
    ids = model.train.items
    left, notes = np.ones(len(ids), dtype=bool), []
    if rules.items is not None and YEAR in rules.columns:
        notes.append(add_years(rules.items)[1])
    if rules.only is not None:
        codes, unknown = _resolve(rules.only, ids, "only", "items")
        left[:] = False
        left[codes] = True
        notes.append(unknown)
    if rules.exclude:
        codes, unknown = _resolve(rules.exclude, ids, "exclude", "items")
        left[codes] = False
        notes.append(unknown)
    if rules.where is not None and rules.items is not None:
        chosen = choose(rules.where, add_years(rules.items)[0], ids)
        left &= chosen.items
        lost = f"; {chosen.undecided:,} have no row or no value there, and are left out" if chosen.undecided else ""
        notes.append(f"where: {int(chosen.items.sum()):,} of {len(ids):,} items remain{lost}")
    notes += [told for which in ("allow", "deny") for told in _unknown_pairs(model, rules, which)]
    arranger = make_arranger(rules, model) if rules.arranged else None
    notes.append("" if arranger is None else arranger.told)
    return Candidates(model, rules, frozen(left), arranger, tuple(note for note in notes if note))


def _resolve(names: Any, ids: Ids, rule: str, what: str) -> tuple[Codes, str]:
    """The codes of what is known, and a sentence about what is not."""
    column = list(names)
    codes = ids.codes(column, missing=-1)
    return codes[codes >= 0], tell_unknown([name for name, code in zip(column, codes, strict=True) if code < 0], len(column), f"{rule}: ", what)  # fmt: skip # noqa: E501


def tell_unknown(unknown: Sequence[Name], of: int, before: str, what: str) -> str:
    """How many ids are unknown to the model, and the first few.

    >>> tell_unknown(["x", "y"], 5, "exclude: ", "items")
    "exclude: 2 of 5 items are unknown to the model: 'x', 'y'"
    """
    if not unknown:
        return ""
    few = ", ".join(shown(name) for name in unknown[:FEW]) + (", ..." if len(unknown) > FEW else "")
    return f"{before}{len(unknown):,} of {of:,} {what} are unknown to the model: {few}"


def _unknown_pairs(model: Model, rules: Rules, which: str) -> list[str]:
    table: Interactions | None = getattr(rules, which)
    if table is None:
        return []
    told = []
    for what, ids, own, codes in (
        ("people", model.train.users, table.users, table.user), ("items", model.train.items, table.items, table.item),
    ):  # fmt: skip
        names = own.names[np.unique(codes)].tolist()
        told.append(_resolve(names, ids, which, what)[1])
    return told


def _nobody(rows: int) -> tuple[Ints, Codes]:
    return frozen(np.zeros(rows + 1, dtype=np.int64)), frozen(np.zeros(0, dtype=np.int32))
