"""Simulated participants of a study, whose truth is known: they place offers by what each is worth in context."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from fullrank.data import simulate
from fullrank.serving.placements import Participant, Placement, read_placement
from fullrank.serving.study import Study, initial_order

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODES = ("mouse", "touch", "keyboard")


def sent(study: Study, who: str, query: str, positions: Mapping[str, float | None], n: int = 0) -> dict[str, Any]:
    """What a browser would send: every offer is first put in the middle, then where it belongs."""
    moves = [
        {"offer": offer, "position": at, "milliseconds": 900 * place, "mode": MODES[n % 3]}
        for place, (offer, at) in enumerate(
            [(offer, 0.5) for offer, at in positions.items() if at is not None]
            + [(offer, at) for offer, at in positions.items() if at is not None]
        )
    ]
    shown = START + timedelta(minutes=n)
    return {
        "participant": who, "query": query, "seed": study.seed, "initial": initial_order(study, who)[query],
        "positions": dict(positions), "moves": moves, "shown": shown.isoformat(),
        "finished": (shown + timedelta(seconds=40)).isoformat(),
    }  # fmt: skip


def agreed(who: str, **more: Any) -> Participant:
    return Participant(participant=who, consented=START - timedelta(days=1), **more)


def everybody(
    study: Study, people: int = 100, seed: int = 0, turned: frozenset[int] = frozenset()
) -> tuple[list[Placement], list[Participant]]:
    """All queries of all people by Ackerman's opportunity cost (α < 1, so that context turns no order).

    Those in `turned` exchange Forrest Gump and Cast Away where the query is about the director.
    """
    ids = sorted({offer.id for query in study.query for offer in query.offers})
    world = simulate.sessions(users=people, items=len(ids), seed=seed)
    placements = []
    for person in range(people):
        for query in study.query:
            offers = study.offers(query.id)
            value = world.values(person, [ids.index(offer) for offer in offers])
            at: dict[str, float | None] = dict(zip(offers, _on_the_line(value), strict=True))
            if person in turned and query.id == "robert-zemeckis":
                at |= {"forrest-gump": at["cast-away"], "cast-away": at["forrest-gump"]}
            content = sent(study, f"p{person}", query.id, at, len(placements))
            placements.append(read_placement(study, content))
    return placements, [agreed(f"p{person}") for person in range(people)]


def _on_the_line(value: Any) -> list[float]:
    return np.round(0.05 + 0.9 * (value - value.min()) / (value.max() - value.min()), 6).tolist()  # type: ignore[no-any-return]
