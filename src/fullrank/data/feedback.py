"""Any feedback: what kind it is, and one kind as another."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from fullrank.arrays import Floats, repeats
from fullrank.data.canonical import sort_rows
from fullrank.data.events import Events
from fullrank.data.graded import Graded
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions, Meaning, canonical
from fullrank.data.preferences import Preferences

Feedback: TypeAlias = Interactions | Graded | Preferences  # what recipes learn from
Kind: TypeAlias = Literal["ratings", "events", "sessions", "preferences"]

MOST_GRADES = 25
CHUNK = 1 << 18  # values looked at together


def kind_of(data: Feedback | Events) -> Kind:
    """What people gave: "ratings", "events" (no values, one, or counts; `Events` always), "sessions", or "preferences".

    Values are what the data says they are (`Interactions.kind`); where it does not, two to 25 different ones are
    ratings.
    """
    if isinstance(data, Events):
        return "events"
    if not isinstance(data, Interactions):
        return "sessions" if isinstance(data, Graded) else "preferences"
    return what_values_are(data.value, data.kind)


def what_values_are(values: Floats | None, said: Meaning | None) -> Meaning:
    """ "events" where there are no values or one; else what is said of them; else "ratings" where they are few."""
    different = 0 if values is None else count_different(values, MOST_GRADES + 1)
    if different < 2:
        return "events"
    return said or ("ratings" if different <= MOST_GRADES else "events")


def count_different(values: Floats, enough: int) -> int:
    """How many different values there are, or about `enough` where there are so many: it looks no further then.

    >>> count_different(np.array([3, 1, 3, 2], dtype=np.float32), 26), count_different(np.arange(99.0), 26) >= 26
    (3, True)
    """
    known = np.unique(values[:CHUNK])
    for first in range(CHUNK, len(values), CHUNK):
        if len(known) >= enough:
            break
        chunk = values[first : first + CHUNK]
        place = np.searchsorted(known, chunk).clip(max=len(known) - 1)
        known = np.union1d(known, chunk[known[place] != chunk])
    return len(known)


def seen(feedback: Feedback) -> Interactions:
    """Who met what: the items a model leaves out for a user, and its ids."""
    if isinstance(feedback, Interactions):
        return feedback
    if isinstance(feedback, Preferences):
        user, item = np.tile(feedback.user, 2), np.concatenate([feedback.better, feedback.worse])
    else:
        user, item = feedback.user[feedback.case], feedback.item
    _, (user, item) = sort_rows((user, len(feedback.users)), (item, len(feedback.items)))
    once = ~repeats(user, item)
    return Interactions(user[once], item[once], None, None, feedback.users, feedback.items)


def as_interactions(feedback: Feedback | Events) -> Interactions:
    """Any feedback as ratings: events added up; of an item offered to a user several times the mean grade; of a
    preferred one the share of its comparisons that it won.

    >>> likes = Preferences.of(user=[1, 1], better=["tea", "milk"], worse=["milk", "jam"])
    >>> likes.items.names.tolist(), as_interactions(likes).value
    (['jam', 'milk', 'tea'], array([0. , 0.5, 1. ], dtype=float32))
    """
    if isinstance(feedback, Interactions):
        return feedback
    if isinstance(feedback, Events):
        return feedback.merged()
    if isinstance(feedback, Graded):
        columns = {"user": feedback.user[feedback.case], "item": feedback.item, "value": feedback.grade}
    else:
        won = np.repeat(np.array([1, 0], dtype=np.float32), len(feedback))
        item = np.concatenate([feedback.better, feedback.worse])
        columns = {"user": np.tile(feedback.user, 2), "item": item, "value": won}
    return canonical(columns, feedback.users, feedback.items, "mean", Intake())


def as_graded(feedback: Feedback | Events) -> Graded:
    """Any feedback as cases of items with grades: a history is one case, and so is every preference, a case of two.

    >>> cases = as_graded(Preferences.of(user=[1, 1], better=["tea", "milk"], worse=["milk", "jam"]))
    >>> cases.count_pairs()
    array([1, 1])
    """
    if isinstance(feedback, Graded):
        return feedback
    if isinstance(feedback, Interactions | Events):
        return as_interactions(feedback).graded()
    last = feedback.better > feedback.worse
    better, worse = feedback.better[:, None], feedback.worse[:, None]
    return Graded(
        start=2 * np.arange(len(feedback) + 1),
        item=np.where(np.column_stack([last, ~last]), worse, better).reshape(-1),
        grade=np.column_stack([~last, last]).reshape(-1).astype(np.float32),
        user=feedback.user,
        users=feedback.users,
        items=feedback.items,
    )
