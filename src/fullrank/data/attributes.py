"""What is known of items or users besides what people did: titles, genres, age groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from fullrank.data.ids import Ids
from fullrank.errors import DataError, did_you_mean

Texts: TypeAlias = tuple[str, ...]  # one for each id, "" where there is none
Labels: TypeAlias = tuple[tuple[str, ...], ...]  # several for each id, () where there is none


@dataclass(frozen=True, eq=False)
class Attributes:
    """Columns of text by name, in the order of `ids`; of some that may hold several values, tuples of them.

    Read them with `fullrank.read_attributes`. `title` is the column that says what an id is called.

    >>> about = Attributes(Ids([7, 8]), {"title": ("Tea", "Jam"), "kind": (("hot", "wet"), ())}, title="title")
    >>> about.titles_for(Ids([8, 9]))
    ('Jam', '')
    >>> about.column_for("kind", Ids([7, 9]))
    (('hot', 'wet'), ())
    """

    ids: Ids
    columns: Mapping[str, Texts | Labels] = field(default_factory=dict)
    title: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        for name, column in self.columns.items():
            if len(column) != len(self.ids):
                raise DataError(f"attribute '{name}' has {len(column):,} cells for {len(self):,} ids; give each one.")
        if self.title is not None and self.title not in self.columns:
            raise DataError(f"no attribute '{self.title}' for titles. {did_you_mean(self.title, list(self.columns))}")

    def column_for(self, name: str, ids: Ids) -> Texts | Labels:
        """An attribute of other ids, in their order; "" or () for those of which nothing is known."""
        if name not in self.columns:
            raise DataError(f"no attribute '{name}'. {did_you_mean(name, list(self.columns))}")
        column = self.columns[name]
        nothing = () if column and isinstance(column[0], tuple) else ""
        rows = self.ids.codes(ids.names, missing=-1).tolist()
        return tuple(column[row] if row >= 0 else nothing for row in rows)  # type: ignore[return-value]

    def titles_for(self, ids: Ids) -> Texts:
        """What these ids are called, in their order; "" where nothing says."""
        if self.title is None:
            return ("",) * len(ids)
        return tuple(str(title) for title in self.column_for(self.title, ids))

    def words_for(self, ids: Ids) -> Labels:
        """All that is said of these ids, titles aside, in their order: "column: value" for every value.

        >>> about = Attributes(Ids([7, 8]), {"title": ("Tea", "Jam"), "kind": (("hot", "wet"), ())}, title="title")
        >>> about.words_for(Ids([7, 8, 9]))
        (('kind: hot', 'kind: wet'), (), ())
        """
        columns = {name: self.column_for(name, ids) for name in self.columns if name != self.title}
        return tuple(
            tuple(f"{name}: {word}" for name, column in columns.items() for word in _several(column[row]))
            for row in range(len(ids))
        )

    def count_unknown(self, ids: Ids) -> int:
        """How many of these ids have no row."""
        return int((self.ids.codes(ids.names, missing=-1) < 0).sum()) if len(ids) else 0

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Attributes({len(self):,} ids: {', '.join(self.columns)})"


def _several(cell: str | tuple[str, ...]) -> tuple[str, ...]:
    """The values of a cell."""
    return cell if isinstance(cell, tuple) else (cell,) if cell else ()
