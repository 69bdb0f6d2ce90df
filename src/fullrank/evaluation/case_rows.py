"""What ranking needs to know of cases: their rows, what kernels take, and what is told of the ranks."""

from __future__ import annotations

from typing import Any

from fullrank.evaluation.cases import Cases
from fullrank.evaluation.scoring import name_of
from fullrank.ranks import About


def rows_of(cases: Cases, some: slice) -> slice:
    """The rows of these cases."""
    return slice(int(cases.start[some.start]), int(cases.start[some.stop]))


def kernel_input(cases: Cases, some: slice) -> tuple[Any, ...]:
    """What kernels need to know of these cases."""
    rows = rows_of(cases, some)
    starts = cases.start[some.start : some.stop + 1] - rows.start
    return (cases.user[some], starts, cases.item[rows], *cases.seen, *cases.more)


def about_ranks(model: Any, cases: Cases, leaked: int) -> About:
    """How ranks of these cases came about; `leaked` held-out items were excluded too."""
    leak = (f"{leaked:,} held-out items are among the excluded ones too (leak)",) if leaked else ()
    return About(
        model=name_of(model),
        excluded=cases.excluded,
        relevant=cases.relevant,
        split=cases.split,
        skipped=cases.skipped,
        notes=(*cases.notes, *getattr(model, "notes", ()), *leak),
    )
