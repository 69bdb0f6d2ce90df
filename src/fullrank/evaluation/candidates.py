"""Among which items the held-out ones are ranked."""

from __future__ import annotations

from dataclasses import dataclass

from fullrank.data.graded import Graded
from fullrank.errors import check_integer


@dataclass(frozen=True)
class Everything:
    """The whole catalogue: the ranking that users see, and the only one whose numbers need no correction."""

    def __str__(self) -> str:
        return "everything"


@dataclass(frozen=True)
class Sampled:
    """m irrelevant items drawn uniformly for every case, the same for every model.

    Numbers from samples mislead (S1): correct them, or rank among everything, which costs little.
    Drawn per case from (seed, user), so that blocks, threads and shards do not matter.
    """

    m: int
    seed: int = 0
    replace: bool = False

    def __post_init__(self) -> None:
        check_integer("m", self.m, 1)
        check_integer("seed", self.seed, 0, 2**63 - 1)

    def __str__(self) -> str:
        return f"{self.m} sampled"


@dataclass(frozen=True, eq=False)
class Offered:
    """What was offered: every session is ranked among its own items (S2)."""

    graded: Graded

    def __str__(self) -> str:
        return "offered"
