"""Lists for people, and new feedback taken into fitted models."""

from fullrank.recommending.recommend import recommend
from fullrank.recommending.update import update

__all__ = [
    "recommend",
    "update",
]
