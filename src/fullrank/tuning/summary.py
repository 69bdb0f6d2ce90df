"""What a search tried, as plain as JSON has it: what reports and files hold of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Plain: TypeAlias = bool | int | float | str | None
State: TypeAlias = Literal["complete", "pruned", "failed"]


@dataclass(frozen=True)
class TuningPoint:
    """A setting that was tried, and its value on the validation part; None where the trial failed."""

    parameters: Mapping[str, Plain]
    value: float | None
    state: State


@dataclass(frozen=True)
class TuningSummary:
    """All settings that were tried, how many of them were stopped early, and the metric that judged them."""

    metric: str
    trials: int
    pruned: int
    points: tuple[TuningPoint, ...]

    def to_json(self) -> dict[str, Any]:
        """As it stands in results.json, without timings."""
        return {**asdict(self), "points": [asdict(point) for point in self.points]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TuningSummary:
        """What `to_json` wrote."""
        points = tuple(TuningPoint(**point) for point in content["points"])
        return cls(content["metric"], content["trials"], content["pruned"], points)
