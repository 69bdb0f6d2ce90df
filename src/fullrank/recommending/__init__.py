"""Lists for people, and new feedback taken into fitted models."""

from fullrank.recommending.explain import Explained, Part, explain
from fullrank.recommending.export import Exported, export
from fullrank.recommending.recommend import recommend
from fullrank.recommending.similar import Similar, similar
from fullrank.recommending.update import update

__all__ = [
    "Explained",
    "Exported",
    "Part",
    "Similar",
    "explain",
    "export",
    "recommend",
    "similar",
    "update",
]
