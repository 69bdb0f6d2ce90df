"""A table or figure of a paper, run again: published numbers beside ours, and statements that are checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fullrank.data import sources
from fullrank.data.atomic import write_bytes
from fullrank.errors import FullrankError, NoInputError
from fullrank.experiments.parts import as_json
from fullrank.models.manifest import this_version

Colour: TypeAlias = Literal["green", "amber", "red"]


@dataclass(frozen=True)
class Number:
    """A published number, ours, and how far apart they may be."""

    what: str
    published: float | None  # None where only the shape is known
    ours: float
    within: float = 0.0
    digits: int = 3

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        return None if self.published is None else self.ours - self.published

    @property
    def holds(self) -> bool:
        """Whether ours is near enough, to the last digit that is printed."""
        if self.published is None:
            return True
        return abs(round(self.ours, self.digits) - self.published) <= self.within + 10.0**-self.digits / 2


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, checked by the run: what was seen stands beside it."""

    text: str
    holds: bool
    seen: str = ""


@dataclass(frozen=True)
class Found:
    """What a run gave."""

    numbers: tuple[Number, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def colour(self) -> Colour:
        """Green: all holds. Amber: the shape does, a number does not. Red: otherwise."""
        if all(number.holds for number in self.numbers) and all(claim.holds for claim in self.claims):
            return "green"
        return "amber" if self.claims and all(claim.holds for claim in self.claims) else "red"


@dataclass(frozen=True)
class Exhibit:
    """What to run: `needs` are data sets by name, `stands_in` says what they stand in for, `why` what may differ."""

    name: str
    title: str
    place: str  # where the numbers were published
    run: Callable[[Bench], Found]
    needs: tuple[str, ...] = ()
    stands_in: str = ""
    why: str = ""


class Bench:
    """Where exhibits find their data and keep what is done, so that an interrupted one goes on."""

    def __init__(
        self, data: Path | None = None, kept: Path | None = None, told: Callable[[str], None] | None = None
    ) -> None:
        self.folder, self.kept, self.told = data, kept, told
        self._loaded: dict[str, Any] = {}

    def data(self, name: str, **settings: Any) -> Any:
        """A data set: in the folder, or wherever it is usually found."""
        key = f"{name} {sorted(settings.items())}"
        return self.once(key, lambda: sources.load(self.place(name), **settings).data)

    def once(self, key: str, run: Callable[[], Any]) -> Any:
        """What `run` gives, run once in the life of this bench."""
        if key not in self._loaded:
            self._loaded[key] = run()
        return self._loaded[key]

    def place(self, name: str) -> str:
        """The folder of a data set, or its name where it is not in the folder of the bench."""
        for folder in () if self.folder is None else (self.folder / name, self.folder):
            if folder.is_dir() and any(folder.iterdir()):
                return str(folder)
        return name

    def has(self, name: str) -> bool:
        """Whether the data set is there."""
        try:
            self.data(name)
        except FullrankError:
            return False
        return True

    def step(self, name: str, run: Callable[[], Any]) -> Any:
        """What `run` gives (plain JSON), kept under this name; not run again where it is there for this version."""
        path = None if self.kept is None else self.kept / f"{name}.json"
        if path is not None and path.exists():
            found = json.loads(path.read_text())
            if found["version"] == this_version():
                return found["value"]
        if self.told is not None:
            self.told(name)
        value = json.loads(as_json(run()))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, as_json({"version": this_version(), "value": value}), overwrite=True)
        return value


@dataclass(frozen=True)
class Shown:
    """An exhibit that was run, or why it was not."""

    exhibit: Exhibit
    found: Found | None = None
    missing: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Everything that a page shows."""
        exhibit, found = self.exhibit, self.found
        told: dict[str, Any] = {
            "name": exhibit.name, "title": exhibit.title, "place": exhibit.place, "stands_in": exhibit.stands_in,
            "why": exhibit.why, "missing": list(self.missing), "colour": None if found is None else found.colour,
        }  # fmt: skip
        numbers, claims = (found.numbers, found.claims) if found is not None else ((), ())
        told["numbers"] = [{**n.__dict__, "difference": n.difference, "holds": n.holds} for n in numbers]
        told["claims"] = [claim.__dict__ for claim in claims]
        return told


def reproduce(exhibit: Exhibit, bench: Bench) -> Shown:
    """Run one exhibit; where its data is missing, say which and how to get it."""
    missing = tuple(name for name in exhibit.needs if not bench.has(name))
    if missing:
        return Shown(exhibit, missing=missing)
    return Shown(exhibit, exhibit.run(bench))


def named(names: Iterable[str], known: dict[str, Exhibit]) -> list[Exhibit]:
    """The exhibits of these names; all that begin so where a name is none ("s1" is all of S1)."""
    from fullrank.errors import did_you_mean

    found: list[Exhibit] = []
    for name in names:
        chosen = [known[name]] if name in known else [one for one in known.values() if one.name.startswith(f"{name}-")]
        if not chosen:
            raise NoInputError(f"'{name}' is no table or figure here. {did_you_mean(name, list(known))}")
        found += chosen
    return found
