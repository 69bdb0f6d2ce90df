"""Among which items the held-out ones are ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullrank.data.graded import Graded
from fullrank.errors import check, check_integer


@dataclass(frozen=True)
class Everything:
    """The whole catalogue: the ranking that users see, and the only one whose numbers need no correction."""

    def __str__(self) -> str:
        return "everything"


@dataclass(frozen=True)
class Sampled:
    """m items drawn uniformly, the same for every model.

    Numbers from samples mislead (Krichene and Rendle 2020): correct them, or rank among everything, which costs little.
    AUC, ATOP, mean rank and mean percentile are estimated without bias. Drawn from (seed, user), or (seed, user, item)
    for pairs, so that blocks, threads and shards do not matter. Where there are no more than m, without replacement,
    all are taken and the case is exact.
    """

    #: how many: a case, or pair, with fewer candidates is ranked among all it has
    m: int
    #: of the draw: other seeds, other items
    seed: int = 0
    #: with replacement, as Krichene and Rendle 2020 draw; then no number of draws is the whole ranking
    replace: bool = False
    #: "case": irrelevant items, once for all relevant items of a case (Krichene and Rendle 2020). "pair": for every
    #: relevant item by itself, other items whether relevant or not (Steck 2010, with m = 100 for ATOP and 1000 for
    #: TOPK); each is then a case of its own
    per: Literal["case", "pair"] = "case"

    def __post_init__(self) -> None:
        check_integer("m", self.m, 1, 2**31 - 1)
        check_integer("seed", self.seed, 0, 2**63 - 1)
        check("per", self.per, self.per in ("case", "pair"), "'case' or 'pair'")

    def __str__(self) -> str:
        return f"{self.m} sampled" + (" per pair" if self.per == "pair" else "")


@dataclass(frozen=True, eq=False)
class Offered:
    """What was offered: every session is ranked among its own items (Ackerman 2012)."""

    graded: Graded

    def __str__(self) -> str:
        return "offered"
