"""Placements as sessions with relevance classes, ready to be compared and fitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC

import numpy as np

from fullrank.data.classes import relevance_classes
from fullrank.data.graded import Graded
from fullrank.data.intake import Intake
from fullrank.data.times import MICROSECONDS
from fullrank.errors import DataError
from fullrank.serving.placements import Participant, Placement

SPAN = 0.1  # of the line between the least and the most preferred offer of a session
WITHDRAWN, STRANGER = "of participants who withdrew", "of participants without consent"
UNPLACED, ALONE = "left unplaced", "placed alone in a session: nothing to compare with"


def to_sessions(
    placements: Iterable[Placement], participants: Iterable[Participant], *, span: float = SPAN, seed: int = 0
) -> Graded:
    """Every query of every participant as a session; the grade of an offer is its class (`relevance_classes`).

    Offers that were left unplaced have no grade and are left out, as is everything of people who withdrew or did not
    agree; `intake` counts both, and notes span and seed. A session is called "participant/query".
    """
    every = list(placements)
    kept, why = usable(every, participants)
    rows = []
    for one in kept:
        placed = {offer: at for offer, at in one.positions.items() if at is not None}
        alone = len(placed) == 1
        _count(why, UNPLACED, len(one.positions) - len(placed))
        _count(why, ALONE, int(alone))
        if len(placed) > 1:
            grades = relevance_classes(list(placed.values()), span, seed)
            name, then = f"{one.participant}/{one.query}", one.finished.astimezone(UTC).replace(tzinfo=None)
            rows += [(name, offer, g, one.participant, then) for offer, g in zip(placed, grades, strict=True)]
    if not rows:
        raise DataError("there are no sessions yet: nobody who agreed has placed two offers of a query.")
    session, item, grade, user, time = map(list, zip(*rows, strict=True))
    sessions = Graded.of(
        session, item, np.array(grade, dtype=np.float32), user=user, time=np.array(time, dtype=MICROSECONDS)
    )
    intake = Intake(sum(len(one.positions) for one in every), dropped=why)
    return replace(sessions, intake=intake.noting(f"classes by relevance_classes with span {span:g} and seed {seed}"))


def usable(
    placements: Sequence[Placement], participants: Iterable[Participant]
) -> tuple[list[Placement], dict[str, int]]:
    """Placements of people who agreed and did not withdraw, and how many offers of others there are, by reason.

    Of a query that somebody placed several times the last counts.
    """
    known = {one.participant: one for one in participants}
    why: dict[str, int] = {}
    last: dict[tuple[str, str], Placement] = {}
    for one in sorted(placements, key=lambda one: one.finished):
        person = known.get(one.participant)
        if person is None or person.consented > one.shown:
            _count(why, STRANGER, len(one.positions))
        elif person.withdrawn is not None:
            _count(why, WITHDRAWN, len(one.positions))
        else:
            before = last.get((one.participant, one.query))
            _count(why, "placed again later", 0 if before is None else len(before.positions))
            last[one.participant, one.query] = one
    return list(last.values()), why


def _count(why: dict[str, int], reason: str, n: int) -> None:
    if n:
        why[reason] = why.get(reason, 0) + n
