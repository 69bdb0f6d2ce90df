"""Parts of the data: what a model may see, and what it is judged on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from fullrank.data.graded import Graded
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.errors import DataError

Data = TypeVar("Data", Interactions, Graded, Preferences)


@dataclass(frozen=True)
class Split(Generic[Data]):
    """Training and held-out parts of one data set: disjoint, and together the whole.

    `valid` is a second held-out part, to choose hyper-parameters on. `visible` is what a model sees of
    users it was not trained on before it must rank for them (strong generalisation).
    """

    train: Data
    held_out: Data
    valid: Data | None = None
    visible: Data | None = None
    how: str = ""  # one sentence for the report

    @property
    def parts(self) -> tuple[Data, ...]:
        """All parts there are, train first."""
        return tuple(part for part in (self.train, self.visible, self.valid, self.held_out) if part is not None)

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.users != self.train.users or part.items != self.train.items:
                raise DataError("the parts of a split must share their users and items; split one data set.")
