"""What a comparison does where nobody said: recipes, metrics, split and threshold, by what the feedback is."""

from __future__ import annotations

from fullrank.comparison.naming import AnyRecipe
from fullrank.data.canonical import highest_reached
from fullrank.data.feedback import Feedback
from fullrank.data.interactions import Interactions
from fullrank.models.neighbours.bestseller import Bestseller

RELEVANT_SHARE = 0.15  # of the values are at or above the threshold, at least

METRICS = {
    "ratings": ("recall@10", "ndcg@10", "rr", "adg", "atop", "auc"),
    "events": ("recall@10", "ndcg@10", "rr", "adg", "atop", "auc"),
    "sessions": ("pairwise_loss", "graded_ndcg", "edrc", "kendall"),
    "preferences": ("pairwise_loss",),
}


RECIPES = {  # what is compared, by what the feedback is
    "ratings": ("Bestseller", "RSVD", "AllRank", "IALS", "ItemCF", "MFADG", "GaussianRank"),
    "events": ("Bestseller", "IALS", "ItemCF", "BPR", "MFADG", "GaussianRank"),
    "sessions": ("Bestseller", "RSVD", "OpportunityCost", "SessionCost", "CCF"),
    "preferences": ("Bestseller", "RSVD", "OpportunityCost"),
}


def recipes(kind: str) -> dict[str, str | AnyRecipe]:
    """The recipes that are compared, by name."""
    made: dict[str, str | AnyRecipe] = {name: name for name in RECIPES[kind]}
    if kind in ("sessions", "preferences"):
        made["Bestseller"] = Bestseller(by="mean")
    return made


def split(data: Feedback) -> str:
    """The last five of everybody where there are times, else a fifth at random."""
    return "leave-last:5" if isinstance(data, Interactions) and data.time is not None else "holdout:0.2"


def threshold(data: Feedback, kind: str) -> float | None:
    """The highest rating that 15% of all ratings reach; everything is relevant where there are no ratings."""
    if kind != "ratings" or not isinstance(data, Interactions) or data.value is None:
        return None
    return highest_reached(data.value, RELEVANT_SHARE)
