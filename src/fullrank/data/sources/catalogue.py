"""Titles and genres, put to the items they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from fullrank.data.ids import Ids, Name, is_canonical_integer
from fullrank.data.interactions import Interactions
from fullrank.data.sources.files import Files
from fullrank.data.sources.source import Dataset, Genres, Source

Value = TypeVar("Value")


@dataclass(frozen=True)
class Catalogue:
    """Items by name, with a title each, and genres where there are any."""

    names: Sequence[Name]
    titles: Sequence[str] = ()
    genres: Sequence[tuple[str, ...]] = ()

    def of(self, items: Ids) -> tuple[tuple[str, ...], Genres]:
        """Titles and genres by item code."""
        codes = items.codes(self.names, missing=-1).tolist()
        return _place(codes, self.titles, "", len(items)), _place(codes, self.genres, (), len(items))


def _place(codes: list[int], values: Sequence[Value], empty: Value, n: int) -> tuple[Value, ...]:
    if not values:
        return ()
    placed = [empty] * n
    for code, value in zip(codes, values, strict=True):
        if code >= 0:
            placed[code] = value
    return tuple(placed)


def as_ids(column: Sequence[str]) -> list[Name]:
    """Ids as `fullrank.read` takes them from text: integers if every one is printed so, else strings."""
    if all(map(is_canonical_integer, column)):
        return [int(name) for name in column]
    return list(column)


def genre_lists(column: Sequence[str], separator: str = "|") -> list[tuple[str, ...]]:
    """Genres cut apart; MovieLens writes "(no genres listed)" for none.

    >>> genre_lists(["Comedy|Drama", "(no genres listed)"])
    [('Comedy', 'Drama'), ()]
    """
    return [() if cell in ("", "(no genres listed)") else tuple(cell.split(separator)) for cell in column]


def described(
    dataset: Dataset, data: Interactions, known: Catalogue | None, *,
    name: str = "", whole: bool = False, notes: tuple[str, ...] = (), extra: Mapping[str, NDArray[Any]] | None = None,
) -> Source[Interactions]:  # fmt: skip
    """The data with its titles and genres; `whole` adds the items that nobody touched."""
    notes = (*notes, *dataset.differences(data, data.n_items))
    if whole and known is not None:
        data = data.catalogue(items=known.names)
    titles, genres = known.of(data.items) if known is not None else ((), ())
    untitled = titles.count("")
    if untitled:
        notes = (*notes, f"{untitled:,} of {len(titles):,} items have no title")
    return Source(name or dataset.title, data, titles, genres, notes, extra or {})


def titles_file(files: Files, names: tuple[str, ...], *, required: bool) -> Path | None:
    """The file of titles; without one there are none, unless the whole catalogue is wanted."""
    return files.file(*names) if required else files.find(*names)
