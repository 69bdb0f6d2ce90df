"""Parameters that do best on a validation part."""

from fullrank.tuning.summary import TuningPoint, TuningSummary
from fullrank.tuning.tune import Tuned, tune

__all__ = [
    "Tuned",
    "TuningPoint",
    "TuningSummary",
    "tune",
]
