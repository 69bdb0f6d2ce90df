"""Lists for many people as one result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fullrank.arrays import Bools, Codes, Doubles
from fullrank.data.ids import Ids, Name, as_names
from fullrank.data.write import names_of
from fullrank.errors import ParameterError
from fullrank.recommending.batch import Lists, make_lists
from fullrank.recommending.candidates import Candidates, tell_unknown
from fullrank.recommending.request import Request

if TYPE_CHECKING:
    import polars as pl

Users: TypeAlias = Iterable[Name] | Literal["all"]

PEOPLE = 1 << 13  # whose lists are made together
CELLS = 1 << 23  # items in all of their lists


@dataclass(frozen=True, eq=False, repr=False)
class Recommendations:
    """Lists for many people, in the order they were asked for; `notes` say what became of rules and unknown ids."""

    users: Ids
    items: Ids
    item: Codes  # (users, n), -1 where there are no more
    score: Doubles  # (users, n)
    popular: Bools  # (users,): who got what is popular, because nothing is known of them
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """A row for every user and rank (from 1): user, item, rank, score, fallback ("popular" or nothing)."""
        return Columns(self.users, self.items).frame(Lists(self.item, self.score, self.popular), 0)

    def __getitem__(self, user: Name) -> list[Name]:
        """The items of one user, best first."""
        row = self.item[self.users.code(user)]
        return [self.items.name(int(item)) for item in row if item >= 0]

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        return f"Recommendations({self.item.shape[1]} items for {len(self):,} users)"


@dataclass(frozen=True, eq=False)
class Columns:
    """What turns lists into tables with names; names are looked up once."""

    users: Ids
    items: Ids

    @cached_property
    def _items(self) -> pl.Series:
        return names_of(self.items, np.arange(len(self.items)))

    @cached_property
    def _users(self) -> pl.Series:
        return names_of(self.users, np.arange(len(self.users)))

    def frame(self, lists: Lists, first: int) -> pl.DataFrame:
        """Lists of users from the `first` on, a row for every item."""
        import polars as pl

        row, place = np.nonzero(lists.item >= 0)
        words = pl.Series(["", "popular"], dtype=pl.String)
        return pl.DataFrame({
            "user": _take(self._users, row + first), "item": _take(self._items, lists.item[row, place]),
            "rank": (place + 1).astype(np.int32), "score": lists.score[row, place],
            "fallback": _take(words, lists.popular[row].astype(np.int64)),
        })  # fmt: skip


def _take(names: pl.Series, places: NDArray[Any]) -> pl.Series:
    return names.gather(places) if len(places) else names.clear()


def recommend_many(candidates: Candidates, users: Users, n: int) -> Recommendations:
    """The lists of all of these people."""
    request, notes = ask(candidates, users)
    whole = Lists.empty(len(request), n)
    for rows in blocks(len(request), n):
        whole.put(rows, make_lists(request, rows, n))
    return Recommendations(request.names, candidates.model.train.items, *whole, notes=(*candidates.notes, *notes))


def blocks(people: int, n: int) -> Iterator[NDArray[np.int64]]:
    """The rows of a request, some at a time; fewer where their lists are long."""
    size = max(1, min(PEOPLE, CELLS // n))
    for first in range(0, max(people, 1), size):  # nobody is one block of nobody
        yield np.arange(first, min(first + size, people))


def ask(candidates: Candidates, users: Users) -> tuple[Request, tuple[str, ...]]:
    """A request for these people, each once, and what to tell of them."""
    known = candidates.model.train.users
    if isinstance(users, str):
        if users != "all":
            raise ParameterError(f"users must be 'all' or a list of names. Got {users!r} instead; give user= for one.")
        return Request(candidates, known), ()
    names = as_names(users).tolist()
    once = list(dict.fromkeys(names))
    request = Request(candidates, Ids(as_names(once)))
    unknown = [name for name, code in zip(once, request.code.tolist(), strict=True) if code < 0]
    twice = f"{len(names) - len(once):,} of {len(names):,} users were asked for twice" if len(once) < len(names) else ""
    told = tell_unknown(unknown, len(once), "", "users")
    return request, tuple(note for note in (twice, f"{told}; they get what is popular" if told else "") if note)
