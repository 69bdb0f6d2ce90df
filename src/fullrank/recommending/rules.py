"""What lists may hold, and how they are put together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from fullrank.data.attributes import Attributes
from fullrank.data.ids import Name
from fullrank.data.interactions import Interactions
from fullrank.data.read import read
from fullrank.errors import ParameterError, check, check_integer
from fullrank.recommending.diversify import Diversify
from fullrank.recommending.where import words_of


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules for lists; all that are given hold together.

    Ids that the model does not know are counted and named in the notes of a result; they are no error.

    >>> from fullrank.data.ids import Ids
    >>> about = Attributes(Ids(["tea"]), {"kind": ("hot",)})
    >>> Rules(exclude=["tea"], most={"kind": 2}, diversify="mmr:0.3", items=about)
    Rules(exclude 1 items, most kind:2, mmr:0.3)
    """

    #: Items that nobody gets, on top of what each has seen.
    exclude: Iterable[Name] = ()
    #: Choose among these items; None: among all.
    only: Iterable[Name] | None = None
    #: Whether people may get what they have seen.
    repeat: bool = False
    #: A table with columns user and item (Interactions, or what `fullrank.read` takes): whoever is in it gets only
    #: their items there.
    allow: Any = None
    #: A table of the same form: what these people do not get.
    deny: Any = None
    #: An expression over the columns of `items`, "year >= 2000 and genre != 'News'": see `fullrank.recommending.where`.
    where: str | None = None
    #: At most so many items of a list with the same value of a column of `items`: {"genre": 3}.
    most: Mapping[str, int] = field(default_factory=dict)
    #: What is known of items (`fullrank.read_attributes`); years behind titles, "Toy Story (1995)", are a column year.
    items: Attributes | None = None
    #: "mmr:0.3" or "calibrated:0.5": how far lists are made diverse, or like what the person had, from 0 to 1
    #: (see `fullrank.recommending.diversify.Diversify`).
    diversify: str | Diversify | None = None
    #: Candidates that `diversify` picks from: the best of the catalogue; 10 n, and at least 100, unless given. Where
    #: quotas leave too few of them, there are more.
    pool: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "exclude", _ids("exclude", self.exclude))
        put(self, "only", None if self.only is None else _ids("only", self.only))
        check("repeat", self.repeat, isinstance(self.repeat, bool), "True or False")
        for name in ("allow", "deny"):
            table = getattr(self, name)
            if table is not None and not isinstance(table, Interactions):
                put(self, name, read(table))
        put(self, "most", MappingProxyType(dict(self.most)))
        for column, many in self.most.items():
            check_integer(f"most of {column}", many, 1)
        if isinstance(self.diversify, str):
            put(self, "diversify", Diversify.parse(self.diversify))
        if self.pool is not None:
            check_integer("pool", self.pool, 1)
        if self.items is None and (self.where is not None or self.most):
            what = "where" if self.where is not None else "most"
            raise ParameterError(f"{what}: nothing is known of items; give a file about them (items=, --items).")

    @property
    def arranged(self) -> bool:
        """Whether lists are picked from a pool, not simply the best."""
        return bool(self.most) or self.diversify is not None

    @property
    def columns(self) -> set[str]:
        """The columns of `items` that are named."""
        by = self.diversify.by if isinstance(self.diversify, Diversify) else None
        return {*self.most, *words_of(self.where or ""), *([] if by is None else [by])}

    def pool_for(self, n: int) -> int:
        """How many candidates a list of n is picked from; with quotas alone at first, since more change nothing."""
        if not self.arranged:
            return n
        return max(self.pool or (3 * n if self.diversify is None else max(10 * n, 100)), n)

    def digest(self) -> str:
        """The same for the same rules."""
        tables = [
            None if table is None else (table.users.names[table.user].tolist(), table.items.names[table.item].tolist())
            for table in (self.allow, self.deny)
        ]
        about = (
            None if self.items is None else (self.items.ids.names.tolist(), dict(self.items.columns), self.items.title)
        )
        said = (
            self.exclude,
            self.only,
            self.repeat,
            tables,
            self.where,
            dict(self.most),
            about,
            self.diversify,
            self.pool,
        )
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def __repr__(self) -> str:
        parts = [
            f"exclude {len(tuple(self.exclude)):,} items" if self.exclude else "",
            f"only {len(tuple(self.only)):,} items" if self.only is not None else "",
            "what was seen too" if self.repeat else "",
            f"allow {len(self.allow):,} pairs" if self.allow is not None else "",
            f"deny {len(self.deny):,} pairs" if self.deny is not None else "",
            f"where {self.where}" if self.where is not None else "",
            *(f"most {column}:{many}" for column, many in self.most.items()),
            str(self.diversify) if self.diversify is not None else "",
        ]
        return f"Rules({', '.join(part for part in parts if part)})"


def _ids(name: str, ids: Iterable[Name]) -> tuple[Name, ...]:
    if ids is None or isinstance(ids, str | int):
        raise ParameterError(
            f"The '{name}' parameter must be a list of items. Got {ids!r} instead; what people have seen is left out "
            "in any case, unless repeat=True."
        )
    return tuple(ids)
