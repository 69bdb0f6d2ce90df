"""Habits that several libraries share, each a part of a sentence, and what libraries read lists as."""

from __future__ import annotations

from fullrank.evaluation.conventions.given import Given
from fullrank.evaluation.conventions.view import View, look

IN_ORDER = "equal scores stay as they were listed, where ours is the mean over their orders"
FALLING_ID = "equal scores are ordered by falling id (here number), where ours is the mean over their orders"
DROPPED = "a person without a list is left out of the mean, where ours counts 0"
TWICE = "an item that is listed twice takes two places and is hit twice"
TWO_PLACES = "an item that is listed twice takes two places"
OUTSIDE = "an item outside the catalogue takes a place"
SEEN = "an item of the training part takes a place"
AS_LISTED = {"tied": IN_ORDER, "duplicate": TWICE, "outside": OUTSIDE, "seen": SEEN}

BY_RELEVANT = "divides by all relevant items, ours by min({k}, relevant items)"


def as_listed(given: Given, k: int) -> View:
    """Lists as they were given, whatever is in them."""
    return look(given, given.item, k)
