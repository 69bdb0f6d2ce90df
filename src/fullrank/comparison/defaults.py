"""What a comparison does where nobody said: recipes, metrics, split and threshold, by what the feedback is."""

from __future__ import annotations

from typing import Any

from fullrank.comparison.naming import AnyRecipe
from fullrank.data.canonical import highest_reached
from fullrank.data.events import Events
from fullrank.data.feedback import Feedback
from fullrank.data.interactions import Interactions
from fullrank.models.asymmetric.gaussian import GaussianRank
from fullrank.models.least_squares.allrank import AllRank
from fullrank.models.least_squares.ials import IALS
from fullrank.models.neighbours.bestseller import Bestseller
from fullrank.models.neighbours.itemcf import ItemCF
from fullrank.models.pairwise.bpr import BPR
from fullrank.models.pairwise.mfadg import MFADG
from fullrank.models.preferences.ccf import CCF
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.recipes import RECIPES

RELEVANT_SHARE = 0.15  # of the values are at or above the threshold, at least

METRICS = {
    "ratings": ("recall@10", "ndcg@10", "rr", "adg", "atop", "auc"),
    "events": ("recall@10", "ndcg@10", "rr", "adg", "atop", "auc"),
    "sessions": ("pairwise_loss", "graded_ndcg", "edrc", "kendall"),
    "preferences": ("pairwise_loss",),
}


def recipes(kind: str, relevant: float | None, repeat: bool = False) -> dict[str, AnyRecipe]:
    """The recipes that are compared, by name; where people may take an item again, also what they take most."""
    threshold: dict[str, Any] = {} if relevant is None else {"relevant": relevant}
    if kind == "ratings":
        return {
            "Bestseller": Bestseller(by="relevant", **threshold),
            "RSVD": RSVD(),  # what was observed, and nothing else
            "AllRank": AllRank(),
            "IALS": IALS(),
            "ItemCF": ItemCF(),
            "MFADG": MFADG(**threshold),
            "GaussianRank": GaussianRank(**threshold),
        }
    if kind == "events":
        return {
            "Bestseller": Bestseller(),
            "IALS": IALS(),
            "ItemCF": ItemCF(),
            "BPR": BPR(),
            "MFADG": MFADG(),
            "GaussianRank": GaussianRank(),
            **(_personal() if repeat else {}),
        }
    ordered: dict[str, AnyRecipe] = {
        "Bestseller": Bestseller(by="mean"),
        "RSVD": RSVD(),
        "OpportunityCost": OpportunityCost(),
    }
    return ordered if kind == "preferences" else ordered | {"SessionCost": SessionCost(), "CCF": CCF()}


def _personal() -> dict[str, AnyRecipe]:
    """What everybody took most, where the table of recipes has it."""
    name = "PersonalFrequency"
    recipe: Any = RECIPES.get(name)
    return {} if recipe is None else {name: recipe()}


def split(data: Feedback | Events) -> str:
    """The last five of everybody where there are times, else a fifth at random."""
    return "leave-last:5" if isinstance(data, Interactions | Events) and data.time is not None else "holdout:0.2"


def threshold(data: Feedback | Events, kind: str) -> float | None:
    """The highest rating that 15% of all ratings reach; everything is relevant where there are no ratings."""
    if kind != "ratings" or not isinstance(data, Interactions) or data.value is None:
        return None
    return highest_reached(data.value, RELEVANT_SHARE)
