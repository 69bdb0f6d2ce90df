"""What a study says so far: progress, and how far people agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import Any

import numpy as np

from fullrank.arrays import Doubles
from fullrank.comparison.results import as_plain
from fullrank.serving.placements import Participant, Placement
from fullrank.serving.study import Study
from fullrank.serving.study_sessions import usable


@dataclass(frozen=True)
class Progress:
    """How many agreed, withdrew, placed something and finished every query; of queries how many people placed them.

    `unplaced` is the share of offers that were left unplaced, `moves` and `seconds` are medians over placements.
    """

    agreed: int
    withdrew: int
    began: int
    finished: int
    queries: Mapping[str, int]
    unplaced: float | None
    moves: float | None
    seconds: float | None
    modes: Mapping[str, int]  # moves by mouse, touch, pen, keyboard
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and strings."""
        plain: dict[str, Any] = as_plain(self)
        return plain

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between every two people on the offers of a query that both placed, as a mean over pairs.

    1: all have one order; 0: no more alike than by chance; `queries` has None where no two people can be compared.
    """

    mean: float | None
    pairs: int
    queries: Mapping[str, float | None]
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """As plain dicts, lists, numbers and strings."""
        plain: dict[str, Any] = as_plain(self)
        return plain

    def __str__(self) -> str:
        return self.sentence


def progress(study: Study, placements: Iterable[Placement], participants: Iterable[Participant]) -> Progress:
    """Who took part so far; withdrawn people are counted and nothing else of theirs."""
    people = {one.participant: one for one in participants}
    kept, _ = usable(list(placements), people.values())
    done = {query.id: sum(one.query == query.id for one in kept) for query in study.query}
    each = [sum(one.participant == person for one in kept) for person in {one.participant for one in kept}]
    finished, withdrew = each.count(len(study.query)), sum(one.withdrawn is not None for one in people.values())
    places = [at for one in kept for at in one.positions.values()]
    modes = [move.mode for one in kept for move in one.moves]
    sentence = (
        f"{finished:,} of {len(people):,} people who agreed placed all {len(study.query)} queries; "
        f"{len(each) - finished:,} are on their way, {withdrew:,} withdrew."
    )
    return Progress(
        len(people), withdrew, len(each), finished, done,
        places.count(None) / len(places) if places else None,
        median(len(one.moves) for one in kept) if kept else None,
        median((one.finished - one.shown).total_seconds() for one in kept) if kept else None,
        {mode: modes.count(mode) for mode in sorted(set(modes))}, sentence,
    )  # fmt: skip


def agreement(study: Study, placements: Iterable[Placement], participants: Iterable[Participant]) -> Agreement:
    """How alike people order the offers of a query: mean pairwise tau-b of positions, by query and over all."""
    kept, _ = usable(list(placements), participants)
    taus = {
        query.id: taus_of(np.array([
            [_number(one.positions[offer.id]) for offer in query.offers] for one in kept if one.query == query.id
        ]).reshape(-1, len(query.offers)))
        for query in study.query
    }  # fmt: skip
    every = [tau for values in taus.values() for tau in values.tolist()]
    means = {query: fsum(values.tolist()) / len(values) if len(values) else None for query, values in taus.items()}
    mean = fsum(every) / len(every) if every else None
    return Agreement(mean, len(every), means, _sentence(mean, means))


def taus_of(positions: Doubles) -> Doubles:
    """Kendall's tau-b of every two rows (people, offers) on the columns that both have (not NaN), where it is defined.

    With s the signs of a row's differences, tau = Σ s_a s_b / √(Σ s_a² Σ s_b²), sums over pairs that both placed.

    >>> taus_of(np.array([[0.1, 0.5, 0.9], [0.2, 0.3, 0.4], [0.9, 0.5, 0.5]]))
    array([ 1.        , -0.81649658, -0.81649658])
    """
    one, two = np.triu_indices(positions.shape[1], 1)
    signs = np.sign(positions[:, one] - positions[:, two])  # (people, pairs of offers)
    there = (~np.isnan(signs)).astype(np.float64)
    signs = np.nan_to_num(signs)
    ordered = np.abs(signs) @ there.T  # of the row's pairs that the column's person placed too
    size = np.sqrt(ordered * ordered.T)
    both = np.triu(size > 0, 1)
    taus: Doubles = (signs @ signs.T)[both] / size[both]
    return taus


def _number(position: float | None) -> float:
    return float("nan") if position is None else position


def _sentence(mean: float | None, means: Mapping[str, float | None]) -> str:
    if mean is None:
        return "No two people placed the same offers yet."
    known = {query: value for query, value in means.items() if value is not None}
    most, least = max(known, key=lambda query: known[query]), min(known, key=lambda query: known[query])
    ends = f", most on {most} ({known[most]:+.2f}), least on {least} ({known[least]:+.2f})" if most != least else ""
    return f"Two people agree by {mean:+.2f} in the mean (Kendall's tau-b; 1 is one order, 0 chance){ends}."
