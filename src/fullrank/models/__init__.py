"""Recipes that make models, by family; what models have in common, by kind; training and files."""

from fullrank.models.asymmetric.gaussian import GaussianRank
from fullrank.models.asymmetric.negatives import HistoryBPR, SoftmaxNegatives, SquaredNegatives
from fullrank.models.asymmetric.rank_loss import RankLoss
from fullrank.models.files import load, save
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
from fullrank.models.preferences.filters import PostFiltered, PreFiltered
from fullrank.models.preferences.opportunity import OpportunityCost
from fullrank.models.preferences.session_cost import SessionCost
from fullrank.models.protocols import IterativeRecipe, Model, Recipe
from fullrank.models.ratings.ordrec import OrdRec
from fullrank.models.ratings.rsvd import RSVD
from fullrank.models.ratings.svdpp import SVDpp
from fullrank.models.recipes import RECIPES

__all__ = [
    "BPR",
    "CCF",
    "EASE",
    "IALS",
    "MFADG",
    "MFAUC",
    "RECIPES",
    "RSVD",
    "AllRank",
    "AllRankBinary",
    "Bestseller",
    "GaussianRank",
    "HistoryBPR",
    "ItemCF",
    "IterativeRecipe",
    "Model",
    "OpportunityCost",
    "OrdRec",
    "PersonalFrequency",
    "PostFiltered",
    "PreFiltered",
    "PureSVD",
    "RankLoss",
    "RecentItemCF",
    "Recipe",
    "SVDpp",
    "SessionCost",
    "SoftmaxNegatives",
    "SquaredNegatives",
    "load",
    "save",
]
