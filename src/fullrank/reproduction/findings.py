"""What a run of a table or figure gives: numbers, statements and figures; and all that is known of it afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, TypeVar

from fullrank.errors import DataError

FORMAT = 1  # of the JSON
Colour: TypeAlias = Literal["green", "amber", "red"]
Points: TypeAlias = Sequence[tuple[float | str, float]]
Value = TypeVar("Value")


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
    def judged(self) -> bool:
        """Whether it is held against a published number."""
        return self.published is not None and self.within is not None

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
    lines: Mapping[str, Points]
    log: str = ""  # the axes that are logarithmic: "", "x", "y" or "xy"


@dataclass(frozen=True)
class Findings:
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
class Reproduced:
    """A table or figure that was run again, or why it was not; everything that its page shows."""

    name: str
    title: str
    place: str
    why: str = ""
    stands_in: str = ""
    missing: tuple[str, ...] = ()  # data sets; then nothing was run
    how_to_get: Mapping[str, str] = field(default_factory=dict)  # what is missing, and the paper's own data
    findings: Findings = Findings()

    @property
    def colour(self) -> Colour | None:
        """How it went; None where it was not run."""
        return None if self.missing else self.findings.colour

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, with what follows from the numbers."""
        numbers, claims, figures = self.findings.numbers, self.findings.claims, self.findings.figures
        return {
            "format": FORMAT, "name": self.name, "title": self.title, "place": self.place, "why": self.why,
            "stands_in": self.stands_in, "missing": list(self.missing), "get": dict(self.how_to_get),
            "colour": self.colour,
            "numbers": [{**one.__dict__, "difference": one.difference, "holds": one.holds} for one in numbers],
            "claims": [dict(claim.__dict__) for claim in claims],
            "figures": [{**figure.__dict__, "lines": dict(figure.lines)} for figure in figures],
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Any) -> Reproduced:
        """What `to_json` gave; what is damaged, or of another format, is refused."""
        try:
            if content["format"] != FORMAT:
                raise DataError(f"format {content['format']!r} of a kept result is not {FORMAT}; run it again.")
            findings = Findings(
                tuple(_make(Number, number) for number in content["numbers"]),
                tuple(_make(Claim, claim) for claim in content["claims"]),
                tuple(_make(Figure, _with_points(figure)) for figure in content["figures"]),
            )
            about = {part: str(content[part]) for part in ("name", "title", "place", "why", "stands_in")}
            missing, how_to_get = tuple(content["missing"]), dict(content["get"])
            return cls(**about, missing=missing, how_to_get=how_to_get, findings=findings)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"a kept result is damaged ({error!r}); run it again.") from error


def _make(kind: type[Value], content: Mapping[str, Any]) -> Value:
    """A value from its fields; others, which follow from them, are left out."""
    return kind(**{part.name: content[part.name] for part in fields(kind)})  # type: ignore[arg-type]


def _with_points(figure: Mapping[str, Any]) -> dict[str, Any]:
    return {**figure, "lines": {name: [(x, y) for x, y in points] for name, points in figure["lines"].items()}}
