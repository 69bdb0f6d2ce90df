"""The same lists by other libraries' definitions, and a sentence for every difference to ours."""

from fullrank.evaluation.conventions.convention import Convention, Measure, average, count_cases, view_of
from fullrank.evaluation.conventions.given import IRREGULARITIES, Given, irregularities
from fullrank.evaluation.conventions.table import CONVENTIONS, Counted, as_library

__all__ = [
    "CONVENTIONS",
    "IRREGULARITIES",
    "Convention",
    "Counted",
    "Given",
    "Measure",
    "as_library",
    "average",
    "count_cases",
    "irregularities",
    "view_of",
]
