"""Recipes by the name users write: command line, configuration, model files."""

from __future__ import annotations

from fullrank.models.allrank import AllRank
from fullrank.models.allrank_binary import AllRankBinary
from fullrank.models.bestseller import Bestseller
from fullrank.models.bpr import BPR
from fullrank.models.ccf import CCF
from fullrank.models.ease import EASE
from fullrank.models.gaussian import GaussianRank
from fullrank.models.ials import IALS
from fullrank.models.itemcf import ItemCF
from fullrank.models.mfadg import MFADG, MFAUC
from fullrank.models.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives
from fullrank.models.opportunity import OpportunityCost
from fullrank.models.ordrec import OrdRec
from fullrank.models.puresvd import PureSVD
from fullrank.models.rsvd import RSVD
from fullrank.models.session_cost import SessionCost
from fullrank.models.svdpp import SVDpp

RECIPES: dict[str, type] = {
    "Bestseller": Bestseller,
    "AllRank": AllRank,
    "AllRankBinary": AllRankBinary,
    "IALS": IALS,
    "ItemCF": ItemCF,
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
