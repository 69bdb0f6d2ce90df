"""Lists for people, and new feedback taken into fitted models."""

from fullrank.recommending.diversify import Diversify
from fullrank.recommending.explain import Explained, Part, explain
from fullrank.recommending.export import Exported, export
from fullrank.recommending.one import Recommended
from fullrank.recommending.price import Price, price
from fullrank.recommending.recommend import recommend
from fullrank.recommending.recommendations import Recommendations
from fullrank.recommending.rules import Rules
from fullrank.recommending.similar import Similar, similar
from fullrank.recommending.update import update
from fullrank.recommending.writing import Written, write_recommendations

__all__ = [
    "Diversify",
    "Explained",
    "Exported",
    "Part",
    "Price",
    "Recommendations",
    "Recommended",
    "Rules",
    "Similar",
    "Written",
    "explain",
    "export",
    "price",
    "recommend",
    "similar",
    "update",
    "write_recommendations",
]
