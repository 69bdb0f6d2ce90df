"""What a comparison does where nobody said: recipes, metrics, split and threshold, by what the feedback is."""

from __future__ import annotations

from fullrank.comparison.naming import AnyRecipe
from fullrank.data.events import Events
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


RECIPES = {  # what is compared, by what the feedback is; chosen by benchmarks/defaults.py
    "ratings": ("Bestseller", "AllRank", "IALS", "ItemCF", "EASE", "SoftmaxNegatives", "GaussianRank"),
    "events": ("Bestseller", "IALS", "ItemCF", "EASE", "SoftmaxNegatives"),
    "sessions": ("Bestseller", "RSVD", "OpportunityCost", "SessionCost", "CCF"),
    "preferences": ("Bestseller", "RSVD", "OpportunityCost"),
}
IN_ORDER = ("RecentItemCF",)  # where everybody's last rows are held out; of baskets after a date it knows little
AGAIN = ("PersonalFrequency",)  # where seen items are candidates
LARGEST = 10_000  # users or items, whichever are fewer, for EASE, whose time grows with their cube


def recipes(kind: str, train: Feedback, cut: str = "", *, repeat: bool = False) -> dict[str, str | AnyRecipe]:
    """The recipes that are compared, by name: those for the kind of feedback, its size, its split (`cut`), and where
    people may take an item again also what each takes most.
    """
    names = list(RECIPES[kind])
    if kind in ("ratings", "events"):
        in_order = getattr(train, "time", None) is not None and cut.startswith("leave-last")
        names += [*(IN_ORDER if in_order else ()), *(AGAIN if repeat else ())]
        if min(len(train.users), len(train.items)) > LARGEST:
            names.remove("EASE")
    made: dict[str, str | AnyRecipe] = {name: name for name in names}
    if kind in ("sessions", "preferences"):
        made["Bestseller"] = Bestseller(by="mean")
    return made


def split(data: Feedback | Events) -> str:
    """The last fifth of all time of events that come back; else the last five of everybody, a fifth at random."""
    if not isinstance(data, Interactions | Events) or data.time is None:
        return "holdout:0.2"
    return "time:0.2" if isinstance(data, Events) else "leave-last:5"


def threshold(data: Feedback | Events, kind: str) -> float | None:
    """The highest rating that 15% of all ratings reach; everything is relevant where there are no ratings."""
    if kind != "ratings" or not isinstance(data, Interactions) or data.value is None:
        return None
    return data.reached_by(RELEVANT_SHARE)
