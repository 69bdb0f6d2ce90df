"""Recommenders trained and judged on the full ranking, when most feedback is missing.

In reading order: what people did, reading it, cutting it into parts, worlds whose truth is known.
"""

from fullrank.data import simulate, sources
from fullrank.data.describe import describe
from fullrank.data.graded import Graded
from fullrank.data.ids import Ids
from fullrank.data.intake import Intake
from fullrank.data.interactions import Interactions
from fullrank.data.preferences import Preferences
from fullrank.data.read import read, read_preferences, read_sessions
from fullrank.data.split import (
    Split,
    by_time,
    densify,
    folds,
    halved,
    held_out_users,
    holdout,
    leave_last,
    repetitions,
)
from fullrank.data.write import write
from fullrank.errors import FullrankError

__version__ = "0.1.0"

__all__ = [
    "FullrankError",
    "Graded",
    "Ids",
    "Intake",
    "Interactions",
    "Preferences",
    "Split",
    "by_time",
    "densify",
    "describe",
    "folds",
    "halved",
    "held_out_users",
    "holdout",
    "leave_last",
    "read",
    "read_preferences",
    "read_sessions",
    "repetitions",
    "simulate",
    "sources",
    "write",
]
