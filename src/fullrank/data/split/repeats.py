"""Splits of events: cut first, merged then, and what the person had before told apart from what is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank.arrays import Bools, Ints, frozen
from fullrank.data.events import Events
from fullrank.data.interactions import Interactions
from fullrank.data.split.parts import (
    HELD_OUT,
    TRAIN,
    VALID,
    AnyData,
    Labels,
    Repeats,
    Split,
    cut,
    many,
    new_users,
    sentence,
    sizes_of,
)
from fullrank.errors import DataError, check


def cut_and_merge(data: AnyData, label: Labels, clauses: Sequence[str], remedy: str, repeat: bool) -> Split[Any]:
    """Every row in the part its label names, events merged within their part."""
    check("repeat", repeat, isinstance(repeat, bool), "True or False")
    if isinstance(data, Events):
        return _cut_events(data, label, clauses, remedy, repeat)
    check("repeat", repeat, not repeat, f"False for {type(data).__name__}: only Events hold an item twice")
    return cut(data, label, clauses, remedy)


def _cut_events(
    events: Events, label: Labels, clauses: Sequence[str], remedy: str, repeat: bool
) -> Split[Interactions]:
    sizes = sizes_of(label, remedy)
    events = _count(events)
    train, learned = events.where(label == TRAIN), events.where(label != HELD_OUT)
    valid, told = None, ""
    if sizes[VALID]:
        later, counts = _judge(events.where(label == VALID), train, repeat)
        valid, told = later.merged(), _tell(counts, "validation")
    held_out, counts = _judge(events.where(label == HELD_OUT), learned, repeat)
    return Split(
        train.merged(), held_out.merged(), valid, how=sentence(*clauses, _tell(counts, "held-out"), told,
        new_users(events, label)), repeats=counts, train_events=learned,
    )  # fmt: skip


def _count(events: Events) -> Events:
    """The same, with one as the value of each where events repeat others: all parts are then merged to counts."""
    if events.value is not None or not events.repeats:
        return events
    return replace(events, value=frozen(np.ones(len(events), dtype=np.float32)))


def _judge(part: Events, before: Events, repeat: bool) -> tuple[Events, Repeats]:
    """The events that are held out, and how many repeat others."""
    again = _had(part, before)
    new = np.zeros(part.n_users, dtype=bool)
    new[part.user[~again]] = True
    only_repeats = len(np.unique(part.user[~new[part.user]]))
    counts = Repeats(len(part), int(again.sum()), only_repeats, repeat)
    if repeat or not counts.repeated:
        return part, counts
    if counts.repeated == counts.events:
        raise DataError(
            f"nothing new is held out: all {counts.events:,} events repeat what the person had before; keep them with "
            "repeat=True (--repeat), or hold out more."
        )
    return part.where(~again), counts


def _had(part: Events, before: Events) -> Bools:
    """Which events are of items that the user had before."""
    pairs, known = _pairs(part), np.sort(_pairs(before))
    place = np.minimum(np.searchsorted(known, pairs), max(len(known) - 1, 0))
    had: Bools = known[place] == pairs
    return had


def _pairs(events: Events) -> Ints:
    """User and item as one number."""
    pairs: Ints = events.user.astype(np.int64) * events.n_items + events.item
    return pairs


def _tell(counts: Repeats, part: str) -> str:
    """A clause on repeats, where there are any."""
    if not counts.repeated:
        return ""
    fate = "kept" if counts.kept else "left out"
    text = (
        f"{counts.repeated:,} of {many(counts.events, f'{part} events')} ({counts.share:.1%}) repeat what the person "
    )
    alone = f", and {many(counts.users, 'users')} with them" if counts.users and not counts.kept else ""
    return f"{text}had before, and are {fate}{alone}"
