"""What a data set is once it is read, and what is declared about it beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from numpy.typing import NDArray

from fullrank.data.events import Events
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.interactions import Interactions
from fullrank.data.split import Split
from fullrank.errors import DataError

Data_co = TypeVar("Data_co", bound=Interactions | Events | Graded | Split[Interactions], covariant=True)
Genres: TypeAlias = tuple[tuple[str, ...], ...]
Progress: TypeAlias = Callable[[int, int | None], object]  # bytes so far, and in all where that is known


@dataclass(frozen=True, eq=False)
class Source(Generic[Data_co]):
    """A public data set as read: the feedback, and what is known about its items.

    `titles` and `genres` stand by item code, "" and () where unknown; both are empty where the data set
    has none. `notes` says what anyone who reports a number should know. `extra` holds further arrays,
    such as Coat's propensities.
    """

    name: str
    data: Data_co
    titles: tuple[str, ...] = ()
    genres: Genres = ()
    notes: tuple[str, ...] = ()
    extra: Mapping[str, NDArray[Any]] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for what, column in (("titles", self.titles), ("genres", self.genres)):
            if column and len(column) != len(self.items):
                raise DataError(f"{self.name}: {len(column)} {what} for {len(self.items)} items; give one per item.")

    @property
    def items(self) -> Ids:
        """The items that codes, titles and genres are of."""
        return self.data.train.items if isinstance(self.data, Split) else self.data.items

    def title(self, item: int) -> str:
        """What to call the item with this code: its title, or its id where there is none."""
        return (self.titles[item] if self.titles else "") or str(self.items.name(item))

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {self.data!r}{''.join(f', {note!r}' for note in self.notes)})"


@dataclass(frozen=True)
class Download:
    """A file on the web. `checksum` ("md5:..." or "sha256:...") only where it is publicly known."""

    address: str
    checksum: str | None = None
    limit: int = 2 << 30  # bytes; more is refused


@dataclass(frozen=True)
class Dataset:
    """What is declared about a public data set.

    `marks`: a folder with all files of one of these groups is taken for this data set. `folders`: where
    it is also looked for. Counts are those published; what is read is compared with them.
    """

    name: str
    title: str
    page: str
    licence: str
    marks: tuple[tuple[str, ...], ...] = ()
    downloads: tuple[Download, ...] = ()
    folders: tuple[str, ...] = ()
    rows: int | None = None
    users: int | None = None
    items: int | None = None

    @property
    def how_to_get(self) -> str:
        """One clause for errors: where the data set is, and how to fetch it."""
        if not self.downloads:
            return f"get it from {self.page} and unpack it there"
        return (
            f"run `fullrank data {self.name} --download` (sources.download), which fetches {self.downloads[0].address}"
        )

    def differences(self, data: Interactions | Events, items: int) -> tuple[str, ...]:
        """A note where rows, users or items are not as published."""
        counts = {"rows": data.intake.rows, "users": data.n_users, "items": items}
        wrong = [
            f"{n:,} {what} ({getattr(self, what):,})"
            for what, n in counts.items()
            if getattr(self, what) not in (None, n)
        ]
        return (f"not as published (in brackets): {', '.join(wrong)}",) if wrong else ()


@dataclass(frozen=True)
class Downloaded:
    """Where a data set is now, and whether its checksum is the one published."""

    folder: Path
    files: int
    verified: bool
    licence: str

    def __str__(self) -> str:
        checked = "checksum verified" if self.verified else "not verified: no checksum is published for it"
        return f"{self.folder}: {self.files:,} files; {checked}; licence: {self.licence}."
