"""Splitting: what a model may see, and what it is judged on.

No split depends on the row order of its source. Chance comes from a seed and the codes of users and items,
so the same data and seed give the same split on every machine and with every version of NumPy.
"""

from fullrank.data.split.dense import core, densify
from fullrank.data.split.folds import folds, repetitions
from fullrank.data.split.parts import Data, Repeats, Split
from fullrank.data.split.rows import by_time, holdout, leave_last
from fullrank.data.split.users import held_out_users
from fullrank.data.split.validation import halved, with_valid

__all__ = [
    "Data",
    "Repeats",
    "Split",
    "by_time",
    "core",
    "densify",
    "folds",
    "halved",
    "held_out_users",
    "holdout",
    "leave_last",
    "repetitions",
    "with_valid",
]
