"""Recipes by the name users write: command line, configuration, model files."""

from __future__ import annotations

from fullrank.models.asymmetric.gaussian import GaussianRank
from fullrank.models.asymmetric.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives
from fullrank.models.least_squares.allrank import AllRank
from fullrank.models.least_squares.allrank_binary import AllRankBinary
from fullrank.models.least_squares.ials import IALS
from fullrank.models.least_squares.puresvd import PureSVD
from fullrank.models.neighbours.bestseller import Bestseller
from fullrank.models.neighbours.ease import EASE
from fullrank.models.neighbours.itemcf import ItemCF
from fullrank.models.neighbours.personal import PersonalFrequency
from fullrank.models.neighbours.recent import RecentItemCF
from fullrank.models.pairwise.bpr import BPR
from fullrank.models.pairwise.mfadg import MFADG, MFAUC
from fullrank.models.preferences.ccf import CCF
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.models.ratings.ordrec import OrdRec
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.ratings.svdpp import SVDpp

RECIPES: dict[str, type] = {
    "Bestseller": Bestseller,
    "PersonalFrequency": PersonalFrequency,
    "AllRank": AllRank,
    "AllRankBinary": AllRankBinary,
    "IALS": IALS,
    "ItemCF": ItemCF,
    "RecentItemCF": RecentItemCF,
    "EASE": EASE,
    "PureSVD": PureSVD,
    "BPR": BPR,
    "MFAUC": MFAUC,
    "MFADG": MFADG,
    "GaussianRank": GaussianRank,
    "HistoryBPR": HistoryBPR,
    "SoftmaxNegatives": SoftmaxNegatives,
    "SquaredNegatives": SquaredNegatives,
    "RSVD": RSVD,
    "SVDpp": SVDpp,
    "OrdRec": OrdRec,
    "OpportunityCost": OpportunityCost,
    "SessionCost": SessionCost,
    "CCF": CCF,
}
