"""A few people, what they did, and what every model would recommend to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fullrank.arrays import Codes
from fullrank.comparison.results import Example, HeldOutItem, KnownItem, ListedItem
from fullrank.data.ids import Name
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.evaluation.cases import Cases
from fullrank.evaluation.top import TopN

PEOPLE, LIST, HISTORY = 10, 5, 8


def people(cases: Cases, train: Interactions, n: int = PEOPLE) -> Codes:
    """Some of the judged users, from those with a short history to those with a long one."""
    length = np.diff(train.starts)[cases.user]
    order = cases.user[np.lexsort((cases.user, length))]
    at = np.unique(np.linspace(0, len(order) - 1, min(n, len(order))).round().astype(int))
    return np.asarray(order[at])


def pick(lists: TopN, users: Codes) -> list[list[int]]:
    """The best items (codes) for each of these users, who are among those of the lists."""
    best = lists.item[np.searchsorted(lists.user, users), :LIST]
    return [[item for item in row if item >= 0] for row in best.tolist()]


def show(
    split: Split[Interactions], cases: Cases, users: Codes, best: Mapping[str, Sequence[Sequence[int]]],
    titles: Sequence[str],
) -> tuple[Example, ...]:  # fmt: skip
    """What a report shows of them."""
    train = split.train

    def named(item: int) -> tuple[Name, str | None]:
        return train.items.name(item), (titles[item] or None) if titles else None

    examples = []
    for place, user in enumerate(users.tolist()):
        case = int(np.searchsorted(cases.user, user))
        relevant = set(cases.item[cases.start[case] : cases.start[case + 1]].tolist())
        lists = {
            name: tuple(ListedItem(*named(item), hit=item in relevant) for item in rows[place])
            for name, rows in best.items()
        }
        history = tuple(KnownItem(*named(item), value) for item, value in _favourites(train, user))
        held_out = tuple(HeldOutItem(*named(item)) for item in sorted(relevant)[:HISTORY])
        examples.append(Example(train.users.name(user), history, held_out, lists))
    return tuple(examples)


def _favourites(train: Interactions, user: int) -> list[tuple[int, float | None]]:
    """What they liked best, of that the latest."""
    rows = np.arange(train.starts[user], train.starts[user + 1])
    keys: list[Any] = [train.item[rows]]
    if train.time is not None:
        keys.append(-train.time[rows].view(np.int64))
    if train.value is not None:
        keys.append(-train.value[rows])
    best = rows[np.lexsort(keys)][:HISTORY]
    return [(int(train.item[row]), None if train.value is None else float(train.value[row])) for row in best]
