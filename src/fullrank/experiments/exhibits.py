"""A table or figure of a paper, run again: published numbers beside ours, and statements that are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from fullrank.data.sources.known import KNOWN
from fullrank.errors import NoInputError, did_you_mean
from fullrank.experiments.bench import Bench

Colour: TypeAlias = Literal["green", "amber", "red"]


@dataclass(frozen=True)
class Number:
    """A published number, ours, and how far apart they may be; a cell of the table that the page shows."""

    row: str
    column: str
    published: float | None  # None where only the shape is known
    ours: float
    within: float | None = 0.0  # None: shown beside each other, not judged (other data, another machine)
    digits: int = 3

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        return None if self.published is None else self.ours - self.published

    @property
    def holds(self) -> bool:
        """Whether ours is near enough, to the last digit that is printed."""
        if self.published is None or self.within is None:
            return True
        return abs(round(self.ours, self.digits) - self.published) <= self.within + 10.0**-self.digits / 2


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, checked by the run: what was seen stands beside it.

    Where the paper's data is not to be had, a statement that other data may well contradict is not essential.
    """

    text: str
    holds: bool
    seen: str = ""
    essential: bool = True


@dataclass(frozen=True)
class Figure:
    """Lines by name, each a list of points; bars where x is a name."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float | str, float]]]
    log: str = ""  # the axes that are logarithmic: "", "x", "y" or "xy"


@dataclass(frozen=True)
class Found:
    """What a run gave."""

    numbers: tuple[Number, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def colour(self) -> Colour:
        """Green: all holds. Amber: all that is essential does, a number or another claim does not. Red: otherwise."""
        if all(number.holds for number in self.numbers) and all(claim.holds for claim in self.claims):
            return "green"
        essential = [claim.holds for claim in self.claims if claim.essential]
        return "amber" if essential and all(essential) else "red"


@dataclass(frozen=True)
class Exhibit:
    """What to run, and where it was published.

    `needs` are data sets by name; `better` is the one the paper used, taken where it is there; `stands_in` says what
    is used instead of it, and `why` a number may differ from the published one.
    """

    name: str
    title: str
    place: str
    run: Callable[[Bench], Found]
    needs: tuple[str, ...] = ()
    better: str = ""
    stands_in: str = ""
    why: str = ""


@dataclass(frozen=True)
class Shown:
    """An exhibit that was run, or why it was not."""

    exhibit: Exhibit
    found: Found | None = None
    missing: tuple[str, ...] = ()
    with_better: bool = False  # run on the data that the paper used

    def to_json(self) -> dict[str, Any]:
        """Everything that a page shows."""
        exhibit, found = self.exhibit, self.found
        told: dict[str, Any] = {
            "name": exhibit.name, "title": exhibit.title, "place": exhibit.place, "why": exhibit.why,
            "stands_in": "" if self.with_better else exhibit.stands_in, "missing": list(self.missing),
            "get": {name: KNOWN[name].dataset.how_to_get for name in self.missing},
            "colour": None if found is None else found.colour,
        }  # fmt: skip
        if exhibit.better and not self.with_better:
            told["get"][exhibit.better] = KNOWN[exhibit.better].dataset.how_to_get
        found = found or Found()
        told["numbers"] = [{**n.__dict__, "difference": n.difference, "holds": n.holds} for n in found.numbers]
        told["claims"] = [claim.__dict__ for claim in found.claims]
        told["figures"] = [{**figure.__dict__, "lines": dict(figure.lines)} for figure in found.figures]
        return told


def turns(curve: Sequence[float], noise: float = 0.0) -> int:
    """How often a curve changes between rising and falling; smaller steps than `noise` do not count.

    >>> turns([3, 2, 2, 1, 4]), turns([3.0, 2.9, 3.0, 1.0], noise=0.5)
    (1, 0)
    """
    rising = [later > before for before, later in pairwise(curve) if abs(later - before) > noise]
    return sum(one != other for one, other in pairwise(rising))


def reproduce(exhibit: Exhibit, bench: Bench) -> Shown:
    """Run one exhibit; where its data is missing, say which and how to get it."""
    better = bool(exhibit.better) and bench.has(exhibit.better)
    missing = () if better else tuple(name for name in exhibit.needs if not bench.has(name))
    if missing:
        return Shown(exhibit, missing=missing)
    return Shown(exhibit, exhibit.run(bench), with_better=better)


def named(names: Iterable[str], known: dict[str, Exhibit]) -> list[Exhibit]:
    """The exhibits of these names; all that begin so where a name is none ("s1" is all of S1)."""
    found: list[Exhibit] = []
    for name in names:
        chosen = [known[name]] if name in known else [one for one in known.values() if one.name.startswith(f"{name}-")]
        if not chosen:
            raise NoInputError(f"'{name}' is no table or figure here. {did_you_mean(name, list(known))}")
        found += chosen
    return found
